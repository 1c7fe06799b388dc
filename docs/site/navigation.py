# SPDX-License-Identifier: BSD-3-Clause
"""The site's navigation, from docs/index.md: a list of links to pages under each heading; an indented page belongs to
the page above it. Sphinx needs toctrees, so these are added when the pages are read.

Two changes make pages easier to read on a site. A link whose text is a file name, such as `medium.md`, gets the page's
title. A number stays on one line with its unit."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

HEADING = re.compile(r"## (?P<caption>.+)")
TOGETHER = re.compile(r"(?<=[\d)]) (?=[%±])|(?<=±) (?=\d)")
ENTRY = re.compile(r"(?P<indent> *)- \[(?P<title>[^]]+)\]\((?P<page>[^)#]+)\.(md|ipynb)\)")


def toctrees(index: Path, root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the toctrees by the page to which they are added, and the title of each page."""
    above = index.relative_to(root).with_suffix("").as_posix()
    trees: dict[tuple[str, str], list[str]] = {}
    titles: dict[str, str] = {}
    caption, last = "", above
    for line in index.read_text().splitlines():
        if found := HEADING.match(line):
            caption = found["caption"]
        elif found := ENTRY.match(line):
            page = (index.parent / found["page"]).resolve().relative_to(root).as_posix()
            place = (last, "") if found["indent"] else (above, caption)
            titles[page] = found["title"].replace("`", "")
            trees.setdefault(place, []).append(f"{titles[page]} </{page}>")
            last = last if found["indent"] else page
    made: dict[str, str] = {}
    for (page, caption), entries in trees.items():
        head = ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
        made[page] = made.get(page, "") + "\n".join([*head, *entries, "```", ""])
    return made, titles


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this."""
    root = Path(app.srcdir)
    made, titles = toctrees(root / f"{app.config.root_doc}.md", root)

    def add(app: Any, page: str, source: list[str]) -> None:
        source[0] += made.get(page, "")

    def call(app: Any, doctree: nodes.document) -> None:
        for link in doctree.findall(pending_xref):
            page = str(link["reftarget"])
            if page in titles and link.astext().endswith(".md"):
                title = titles[page]
                before = "".join(each.astext() for each in link.parent.children[: link.parent.index(link)])
                if before.rstrip()[-1:] not in ("", ".", "?", ":") and not title[1].isupper():
                    title = title[0].lower() + title[1:]
                link.children = [nodes.inline("", title)]
        for text in list(doctree.findall(nodes.Text)):
            if TOGETHER.search(text) and not isinstance(text.parent, nodes.literal | nodes.literal_block):
                text.parent.replace(text, nodes.Text(TOGETHER.sub("\N{NO-BREAK SPACE}", text)))

    app.connect("source-read", add)
    app.connect("doctree-read", call)
    return {"parallel_read_safe": True}
