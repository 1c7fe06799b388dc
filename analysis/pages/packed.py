# SPDX-License-Identifier: BSD-3-Clause
"""Build a page as one file: HTML, style, programs, and one block of data. The page loads nothing else: its
Content-Security-Policy forbids that.

The data is a JSON object followed by columns of numbers; its `columns` say where each column is. It is compressed and
written as text. `shared/packed.js` reads it in the page, `unpack` in Python.
"""

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.shared import file_of, framed
from analysis.traces.trace import Array
from emulation.files import LARGEST, compressed
from emulation.files.foreign import parsed

ALL = ("base.css", "packed.js", "theme.js")  # files of every page
POLICY = (
    """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; """
    """style-src 'unsafe-inline'; img-src data:">\n"""
)
DATA = re.compile(r'<script id="data" type="text/plain">([^<]*)</script>')
LENGTH = 4  # bytes before the JSON that hold its length
ALIGNED = 8  # alignment of a column, bytes
GZIP = zlib.MAX_WBITS | 16


def page(folder: Path, title: str, files: Sequence[str], data: bytes, head: str = "") -> str:
    """Return the file. Its body is the folder's `page.html`. `files` are programs and styles, which are included in
    order, from the folder or else from `analysis.pages.shared`. `head` is added to the HTML head. `data` comes from
    `pack`."""
    style, program = (
        "".join(file_of(folder, name).read_text() for name in (*ALL, *files) if name.endswith(kind))
        for kind in (".css", ".js")
    )
    end = f'<script id="data" type="text/plain">{base64.b64encode(data).decode()}</script>\n'
    return framed(folder, title, f"{POLICY}{head}<style>{style}</style>\n", f"{end}<script>{program}</script>\n")


def pack(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    """Return the data: a JSON object and columns of numbers (u1, u2, u4, i4, f4, f8)."""
    places, body = {}, bytearray()
    for name, column in columns.items():
        places[name] = [column.dtype.str[1:], len(body), int(column.size)]
        body += column.tobytes() + bytes(-column.nbytes % ALIGNED)
    text = json.dumps({**head, "columns": places}).encode()
    text += b" " * (-(LENGTH + len(text)) % ALIGNED)
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
