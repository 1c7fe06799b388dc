# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks as pages: their text, their code, and the outputs stored in them. Nothing is run here; a test runs them.
Sphinx reads them as Markdown."""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STYLES = "<style"  # pandas writes its own styles


def text(said: str | list[str]) -> str:
    """Return a text that a notebook may store as lines."""
    return "".join(said)


def raw(found: str) -> str:
    """Return HTML that can stand in Markdown, where an empty line would end it; without styles."""
    before, style, after = found.partition(STYLES)
    if style:
        found = before + after.partition("</style>")[2]
    return "\n".join(line for line in found.splitlines() if line.strip())


def shown(output: dict[str, Any]) -> str:
    """Return an output of a cell, in the richest stored form."""
    data = output.get("data", {})
    if picture := data.get("image/png"):
        return f'<img alt="what the cell draws" src="data:image/png;base64,{text(picture).replace(chr(10), "")}">'
    if table := data.get("text/html"):
        return f'<div class="table-wrapper">{raw(text(table))}</div>'
    return f"<pre>{html.escape(text(output.get('text') or data.get('text/plain', '')))}</pre>"


def parts(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        source = text(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", []):
            yield f'<div class="output">{raw(shown(output))}</div>'


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this."""

    def convert(app: Any, page: str, source: list[str]) -> None:
        if Path(app.env.doc2path(page)).suffix == ".ipynb":
            source[0] = "\n\n".join(parts(json.loads(source[0])))

    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", convert, priority=400)  # before others add to it
    return {"parallel_read_safe": True}
