# SPDX-License-Identifier: BSD-3-Clause
"""The page of `./dcflab live`: its own files, and those that it shares with reports and films. They are served as they
are; nothing is built."""

from pathlib import Path

from analysis.pages.shared import SHARED

HERE = Path(__file__).parent
FROM_SHARED = ("base.css", "theme.js", "times.js", "pen.js", "uplot/uPlot.min.css", "uplot/uPlot.iife.min.js")
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}  # all are UTF-8
FILES = {
    file.name: file
    for file in (*(each for each in HERE.iterdir() if each.suffix in TYPES), *(SHARED / name for name in FROM_SHARED))
}


def found(name: str) -> tuple[str, bytes] | None:
    """Return the type and content of a file of the page; None if it has no such file."""
    file = FILES.get(name)
    return (f"{TYPES[file.suffix]}; charset=utf-8", file.read_bytes()) if file else None
