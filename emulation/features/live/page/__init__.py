# SPDX-License-Identifier: BSD-3-Clause
"""The page of `./dcflab live`: its own files, and those that it shares with reports and films. They are served as they
are; nothing is built."""

from pathlib import Path

from analysis.pages.shared import file_of, framed

HERE = Path(__file__).parent
ORDER = ("uplot/uPlot.min.css", "base.css", "window.css", "style.css", "uplot/uPlot.iife.min.js", "theme.js",
         "times.js", "pen.js", "gestures.js", "scale.js", "bars.js", "air.js", "server.js", "map.js", "strip.js",
         "curves.js", "panels.js", "input.js", "main.js")  # fmt: skip
FILES = {file.name: file for file in (file_of(HERE, name) for name in ORDER)}
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}  # all are UTF-8
LOADS = {".css": '<link rel="stylesheet" href="page/{}">\n', ".js": '<script defer src="page/{}"></script>\n'}
START = "index.html"


def found(name: str) -> tuple[str, bytes] | None:
    """Return the type and content of a file of the page; None if it has no such file."""
    if name not in (START, *FILES):
        return None
    body = _start() if name == START else FILES[name].read_bytes()
    return f"{TYPES[Path(name).suffix]}; charset=utf-8", body


def _start() -> bytes:
    head = "".join(LOADS[file.suffix].format(file.name) for file in FILES.values())
    return framed(HERE, "dcflab live", head).encode()
