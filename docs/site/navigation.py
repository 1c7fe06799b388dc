# SPDX-License-Identifier: BSD-3-Clause
"""The site's navigation, which is what docs/index.md says: under each heading, a list of links to pages; what is
indented lies below the page before. Sphinx wants it as toctrees, so these are added as the pages are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HEADING = re.compile(r"## (?P<caption>.+)")
ENTRY = re.compile(r"(?P<indent> *)- \[(?P<title>[^]]+)\]\((?P<page>[^)#]+)\.md\)")


def toctrees(index: Path, root: Path) -> dict[str, str]:
    """By the page to which they are added, the toctrees."""
    above = index.relative_to(root).with_suffix("").as_posix()
    trees: dict[tuple[str, str], list[str]] = {}
    caption, last = "", above
    for line in index.read_text().splitlines():
        if found := HEADING.match(line):
            caption = found["caption"]
        elif found := ENTRY.match(line):
            page = (index.parent / found["page"]).resolve().relative_to(root).as_posix()
            place = (last, "") if found["indent"] else (above, caption)
            trees.setdefault(place, []).append(f"{found['title'].replace('`', '')} </{page}>")
            last = last if found["indent"] else page
    made: dict[str, str] = {}
    for (page, caption), entries in trees.items():
        head = ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
        made[page] = made.get(page, "") + "\n".join([*head, *entries, "```", ""])
    return made


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    root = Path(app.srcdir)
    made = toctrees(root / f"{app.config.root_doc}.md", root)

    def add(app: Any, page: str, source: list[str]) -> None:
        source[0] += made.get(page, "")

    app.connect("source-read", add)
    return {"parallel_read_safe": True}
