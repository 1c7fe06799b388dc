# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes a site of the Markdown pages: `./dcflab docs` calls it, at the root of the checkout.

The pages stay what a forge shows: plain Markdown, whose links are paths of the checkout. What the site has besides is
made here: the navigation from the lists of docs/index.md (`navigation`), pages of notebooks (`notebooks`), a page for
each file of the checkout that is linked to (`tree`), and an index.html above all. Nothing of it asks the network,
neither when it is built nor when it is read: Furo brings its scripts and styles, and takes the fonts of the machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers import JsonLexer
from sphinx.highlighting import lexers

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

project = "dcflab"
root_doc = "docs/index"
include_patterns = ["docs/**.md", "docs/**.ipynb", "labs/**.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
ANSWERS = "labs/instructor.md"  # to the labs, which students find on the site; a link to it is an error
exclude_patterns = ["docs/site", ".*", "runs", "cache", ANSWERS]
extensions = ["myst_parser", "sphinx.ext.autodoc", "navigation", "notebooks", "tree"]

myst_heading_anchors = 4  # called as a forge calls them
myst_linkify_fuzzy_links = False
highlight_language = "none"
lexers["jsonc"] = JsonLexer()  # which knows comments
default_role = "code"  # of docstrings, which are Markdown's more than anybody's

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
suppress_warnings = ["ref.python"]  # of types that are called alike
MODULES = re.compile(r"~(\w+\.)+")  # from which types in signatures are
CHECKED = re.compile(r"Annotated\[(.+?), BeforeValidator\(.*?\)\]")
ARRAY = "ndarray[tuple[Any, ...], dtype[Any]]"  # how it shows that nothing was said of an array

# A page from a file may load no other, of which a result would show some lines.
FROM_A_FILE = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'

html_theme = "furo"
html_title = "dcflab"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sphinx = html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


def setup(app: Any) -> None:
    """What Sphinx calls."""

    def shorten(app: Any, what: str, name: str, thing: Any, options: Any, takes: Any, returns: Any) -> tuple[Any, ...]:
        said = (MODULES.sub("", each or "").replace(ARRAY, "ndarray") for each in (takes, returns))
        return tuple(CHECKED.sub(r"\1", each) or None for each in said)

    app.connect("autodoc-process-signature", shorten)
    app.add_js_file(None, body=FROM_A_FILE)
