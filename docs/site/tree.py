# SPDX-License-Identifier: BSD-3-Clause
"""Files of the checkout on the site. If a page links to a file that is not a page, the site shows the file with syntax
highlighting; for a folder, it lists the files. A forge does the same with these links. This module also makes the
site's start page, index.html."""

import html
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.addnodes import download_reference, pending_xref

Page = tuple[str, dict[str, Any], str]
LARGEST = 1 << 20  # bytes; of a larger file only the beginning is shown
START = '<meta http-equiv="refresh" content="0; url={there}"><p><a href="{there}">{there}</a></p>'


def shown(file: Path) -> str:
    """Return a file as HTML."""
    text = file.read_bytes()[:LARGEST].decode(errors="replace")
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    return str(highlight(text, lexer, HtmlFormatter(cssclass="highlight")))


def listed(folder: Path) -> str:
    """Return a folder as HTML."""
    names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir())
    rows = (f"<li><code>{html.escape(name)}</code></li>" for name in names if not name.startswith((".", "__pycache__")))
    return f"<ul>{''.join(rows)}</ul>"


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this."""
    root = Path(app.srcdir)
    wanted: set[str] = set()

    def lead(app: Any, doctree: nodes.document) -> None:
        """Let links lead to the pages made below, not to copies of the files."""
        here = app.env.docname
        for node in [*doctree.findall(download_reference), *doctree.findall(pending_xref)]:  # files; folders and others
            path = Path(os.path.normpath(root / Path(here).parent / node["reftarget"]))
            if path.is_relative_to(root) and (path.is_file() or path.is_dir()):
                name = path.relative_to(root).as_posix()
                wanted.add(name)
                uri = app.builder.get_relative_uri(here, name)
                node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))

    def pages(app: Any) -> Iterator[Page]:
        """Yield a page for each linked file and folder, and the start page."""
        for name in sorted(wanted):
            body = shown(root / name) if (root / name).is_file() else listed(root / name)
            yield name, {"title": name, "body": f"<h1>{html.escape(name)}</h1>{body}"}, "page.html"
        there = app.builder.get_relative_uri("index", app.config.root_doc)
        yield "index", {"title": "dcflab", "body": START.format(there=there)}, "page.html"

    app.connect("doctree-read", lead)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False}
