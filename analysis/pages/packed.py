# SPDX-License-Identifier: BSD-3-Clause
"""One file that a browser shows: a page, its style and its programs, and what it shows as one block of data. It asks
nobody for anything: its Content-Security-Policy forbids it to.

The data is an object of JSON, whose `columns` say where in what follows it each column of numbers is; compressed, as
text. `look/packed.js` reads it in the page, `unpack` in Python.
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.look import LOOK
from analysis.traces.trace import Array
from emulation.files import compressed

ALL = ("packed.js", "theme.js")  # programs of all pages
DATA = re.compile(r'<script id="data" type="text/plain">([^<]*)</script>')
PART = re.compile(r"\{\{(\w+)\}\}")
LENGTH = 4  # bytes before the JSON that say how long it is
ALIGNED = 8  # of a column's beginning


def page(folder: Path, title: str, programs: Sequence[str], data: bytes, head: str = "") -> str:
    """The file: a folder's `page.html`, which is its body, and `style.css`; its `programs` in their order, or those of
    what all pages have in common (`analysis.pages.look`), as its frame is; more of its `head`; and `pack`ed data."""
    body = (folder / "page.html").read_text().partition("\n")[2]  # without its license
    files = (file if (file := folder / name).exists() else LOOK / name for name in (*ALL, *programs))
    parts = {
        "title": html.escape(title), "style": (LOOK / "base.css").read_text() + (folder / "style.css").read_text(),
        "program": "".join(file.read_text() for file in files),
        "data": base64.b64encode(data).decode(), "head": head,
    }  # fmt: skip
    frame = (LOOK / "frame.html").read_text().replace("{{body}}", body)
    return PART.sub(lambda found: parts[found[1]], frame)


def pack(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    """The data: what JSON says, and columns of numbers (u1, u2, u4, i4, f4, f8)."""
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
    """The data of a page again: what its JSON says, and its columns."""
    found = DATA.search(page_)
    assert found
    data = gzip.decompress(base64.b64decode(found[1]))
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    head = json.loads(data[LENGTH:begin])
    columns = {
        name: np.frombuffer(data, np.dtype(kind), size, begin + at)
        for name, (kind, at, size) in head["columns"].items()
    }
    return head, columns
