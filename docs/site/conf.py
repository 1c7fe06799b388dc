# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes a site of the Markdown pages: `./dcflab docs` calls it, at the root of the checkout.

The pages are plain Markdown, as a forge shows them; their links are paths of the checkout. The site adds the navigation
from the lists of docs/index.md (`navigation`), pages for notebooks (`notebooks`), a page for each file of the checkout
that is linked to (`tree`), and an index.html at the top. Neither building nor reading the site needs the network: Furo
contains its scripts and styles, and uses the fonts of the machine.
"""

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
ANSWERS = "labs/instructor.md"  # of the labs; students read the site, so a link to this page is an error
exclude_patterns = ["docs/site", ".*", "runs", "cache", ANSWERS]
extensions = ["myst_parser", "sphinx.ext.autodoc", "navigation", "notebooks", "tree"]

myst_heading_anchors = 4  # with the names that a forge gives them
myst_linkify_fuzzy_links = False
highlight_language = "none"
lexers["jsonc"] = JsonLexer()  # it accepts comments
default_role = "code"  # docstrings are nearly Markdown

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
suppress_warnings = ["ref.python"]  # types with equal names
MODULES = re.compile(r"~(\w+\.)+")  # the modules of types in signatures
CHECKED = re.compile(r"Annotated\[(.+?), BeforeValidator\(.*?\)\]")
ARRAY = "ndarray[tuple[Any, ...], dtype[Any]]"  # how autodoc writes an array without a dtype

# A page that is opened as a file cannot load another page, whose lines a search result would show.
FROM_A_FILE = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'

html_theme = "furo"
html_title = "dcflab"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sphinx = html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


def setup(app: Any) -> None:
    """Connect to Sphinx, which calls this."""

    def shorten(app: Any, what: str, name: str, thing: Any, options: Any, takes: Any, returns: Any) -> tuple[Any, ...]:
        said = (MODULES.sub("", each or "").replace(ARRAY, "ndarray") for each in (takes, returns))
        return tuple(CHECKED.sub(r"\1", each) or None for each in said)

    app.connect("autodoc-process-signature", shorten)
    app.add_js_file(None, body=FROM_A_FILE)
