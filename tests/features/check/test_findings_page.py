# SPDX-License-Identifier: BSD-3-Clause
"""docs/findings.md has each stage of a check and each name of a finding. After a change of one:

./dcflab python tests/features/check/test_findings_page.py
"""

from __future__ import annotations

import ast
import inspect
from enum import StrEnum
from pathlib import Path

from emulation.features.check.inside import Name, Stage

PAGE = Path(__file__).parents[3] / "docs/findings.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Stages and findings of a check

What [`module check`](module-check.md) does with a kernel module, and what it finds.
Made from `emulation/features/check/inside`:

    ./dcflab python tests/features/check/test_findings_page.py
"""


def table(enum: type[StrEnum]) -> str:
    [declared] = ast.parse(inspect.getsource(enum)).body
    assert isinstance(declared, ast.ClassDef)
    texts = [ast.literal_eval(line.value) for line in declared.body[1:] if isinstance(line, ast.Expr)]
    return "".join(f"| {name} | {' '.join(text.split())} |\n" for name, text in zip(enum, texts, strict=True))


def page() -> str:
    stages = f"## Stages\n\n| stage | what happens |\n|---|---|\n{table(Stage)}"
    return f"{HEAD}\n{stages}\n## Findings\n\n| finding | meaning, and where to look |\n|---|---|\n{table(Name)}"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


if __name__ == "__main__":
    PAGE.write_text(page())
