# SPDX-License-Identifier: BSD-3-Clause
"""What all pages share: their head, and files for the report, the timeline, the film and the live network."""

import html
import re
from pathlib import Path

SHARED = Path(__file__).parent
PART = re.compile(r"\{\{(\w+)\}\}")


def file_of(folder: Path, name: str) -> Path:
    """Return a file of a page: its folder's own, or else the one that all pages share."""
    return own if (own := folder / name).exists() else SHARED / name


def framed(folder: Path, title: str, head: str, end: str = "") -> str:
    """Return a page whose body is the folder's `page.html`, followed by `end`. `head` is added to the HTML head."""
    body = (folder / "page.html").read_text().partition("\n")[2]  # without its licence line
    parts = {"title": html.escape(title), "head": head, "end": end}
    frame = (SHARED / "frame.html").read_text().replace("{{body}}", body + "{{end}}")
    return PART.sub(lambda found: parts[found[1]], frame)
