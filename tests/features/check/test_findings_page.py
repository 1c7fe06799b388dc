# SPDX-License-Identifier: BSD-3-Clause
"""docs/findings.md has each name of a finding, and what it means. After a change of one:

./dcflab python tests/features/check/test_findings_page.py
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from emulation.features.check.inside import Name

PAGE = Path(__file__).parents[3] / "docs/findings.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Findings of a check

What [`module check`](module-check.md) finds in a kernel module.
Made from `emulation/features/check/inside`:

    ./dcflab python tests/features/check/test_findings_page.py

| finding | meaning, and where to look |
|---|---|
"""


def page() -> str:
    [declared] = ast.parse(inspect.getsource(Name)).body
    assert isinstance(declared, ast.ClassDef)
    texts = [ast.literal_eval(line.value) for line in declared.body[1:] if isinstance(line, ast.Expr)]
    rows = (f"| {name} | {' '.join(text.split())} |\n" for name, text in zip(Name, texts, strict=True))
    return HEAD + "".join(rows)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


if __name__ == "__main__":
    PAGE.write_text(page())
