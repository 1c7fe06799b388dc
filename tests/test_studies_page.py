# SPDX-License-Identifier: BSD-3-Clause
"""docs/all-studies.md lists all studies. After a change of one:

./dcflab python tests/test_studies_page.py > docs/all-studies.md
"""

from pathlib import Path

import experiments
from emulation.cli.command import Seeds
from emulation.cli.study import cost

PAGE = Path(__file__).parents[1] / "docs/all-studies.md"
TOP = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# All studies

`./dcflab run NAME` runs one; [studies](studies.md) says how. *Runs* are those of its own cases, variants and seeds.
The time is that of one idle core, as far as it was measured. Made from `experiments/`:

    ./dcflab python tests/test_studies_page.py > docs/all-studies.md

| study | what it is about | network | runs | time |
|---|---|---|---|---|
"""


def page() -> str:
    rows = []
    for study in map(experiments.find, experiments.names()):
        runs = len(study.cases) * len(study.variants) * len(Seeds().convert(study.seeds, None, None))
        time = cost(study).partition("about ")[2].partition(" of one core")[0]
        rows.append(f"| `{study.name}` | {study.title} | {study.topology} | {runs:,} | {time} |\n")
    return TOP + "".join(rows)


def test_the_page_lists_the_studies() -> None:
    assert PAGE.read_text() == page()


if __name__ == "__main__":
    print(page(), end="")
