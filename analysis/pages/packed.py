# SPDX-License-Identifier: BSD-3-Clause
"""Build a page as one file: HTML, style, programs, and one block of data. The page loads nothing else: its
Content-Security-Policy forbids that.

The data is a JSON object followed by columns of numbers; its `columns` say where each column is. It is compressed and
written as text. `shared/packed.js` reads it in the page, `unpack` in Python.
"""

import base64
import html
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.shared import SHARED
from analysis.traces.trace import Array
from emulation.files import LARGEST, compressed
from emulation.files.foreign import parsed

ALL = ("packed.js", "theme.js")  # programs of every page
DATA = re.compile(r'<script id="data" type="text/plain">([^<]*)</script>')
PART = re.compile(r"\{\{(\w+)\}\}")
LENGTH = 4  # bytes before the JSON that hold its length
ALIGNED = 8  # alignment of a column, bytes
GZIP = zlib.MAX_WBITS | 16


def page(folder: Path, title: str, programs: Sequence[str], data: bytes, head: str = "") -> str:
    """Return the file. Its body is the folder's `page.html`, its style the folder's `style.css`. `programs` are
    included in order, from the folder or else from `analysis.pages.shared`, as is the frame. `head` is added
    to the HTML head. `data` comes from `pack`."""
    body = (folder / "page.html").read_text().partition("\n")[2]  # without its licence line
    files = (file if (file := folder / name).exists() else SHARED / name for name in (*ALL, *programs))
    parts = {
        "title": html.escape(title), "style": (SHARED / "base.css").read_text() + (folder / "style.css").read_text(),
        "program": "".join(file.read_text() for file in files),
        "data": base64.b64encode(data).decode(), "head": head,
    }  # fmt: skip
    frame = (SHARED / "frame.html").read_text().replace("{{body}}", body)
    return PART.sub(lambda found: parts[found[1]], frame)


def pack(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    """Return the data: a JSON object and columns of numbers (u1, u2, u4, i4, f4, f8)."""
    places, at = {}, 0
    for name, column in columns.items():
        places[name] = [column.dtype.str[1:], at, int(column.size)]
        at += -(-column.nbytes // ALIGNED) * ALIGNED
    text = json.dumps({**head, "columns": places}).encode()
    text += b" " * (-(LENGTH + len(text)) % ALIGNED)
    body = b"".join(
        column.tobytes().ljust(-(-column.nbytes // ALIGNED) * ALIGNED, b"\0") for column in columns.values()
    )
    return compressed.at_once(len(text).to_bytes(LENGTH, "little") + text + body)


def unpack(page_: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the data of a page: its JSON object and its columns. Raises ValueError if it is not a page."""
    found = DATA.search(page_)
    if not found:
        raise ValueError("it is not a page of dcflab")
    try:
        data = zlib.decompressobj(GZIP).decompress(base64.b64decode(found[1]), LARGEST)
        begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
        head = parsed(data[LENGTH:begin])
        columns = {
            name: np.frombuffer(data, np.dtype(kind), size, begin + at)
            for name, (kind, at, size) in head["columns"].items()
        }
    except (zlib.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"its data is malformed: {error}") from None
    return head, columns


def changed(page_: str, data: bytes) -> str:
    begin, end = found.span(1) if (found := DATA.search(page_)) else (len(page_), len(page_))
    return page_[:begin] + base64.b64encode(data).decode() + page_[end:]
