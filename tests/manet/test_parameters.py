# SPDX-License-Identifier: BSD-3-Clause
"""docs/routing/parameters.md has the numbers of the cores and the meanings of parameters.yaml. After a change:

./dcflab python tests/manet/test_parameters.py > docs/routing/parameters.md
"""

from pathlib import Path

import yaml
from world import parameters

ROOT = Path(__file__).parents[2]
PAGE, MEANINGS = ROOT / "docs/routing/parameters.md", ROOT / "emulation/manet/parameters.yaml"
PROTOCOLS = {"aodv": "AODV", "dsr": "DSR", "olsr": "OLSR", "dsdv": "DSDV"}
TOP = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Parameters of the routing protocols

All parameters of `manet.ko`, from its tables in `emulation/manet/core/` and from `emulation/manet/parameters.yaml`:

    ./dcflab python tests/manet/test_parameters.py > docs/routing/parameters.md

`--routing aodv,preset=thesis,ttl_start=1` sets one. The presets are those of the protocols' pages.
In the last column, plain numbers are sections of the protocol's RFC; tables are of [paper 003](../words.md).
N is ns-2's own agent, DU is DSR-UU.
A parameter with the values 0 and 1 is off or on.
"""


def meanings(protocol: str) -> dict[str, str]:
    found = yaml.safe_load(MEANINGS.read_text())
    return {**found["all"], **found[protocol]}


def page() -> str:
    lines = [TOP]
    for protocol, title in PROTOCOLS.items():
        lines += [f"## {title}\n", f"[{title}]({protocol}.md) explains the presets and the events.\n"]
        lines += ["| parameter | least | most | rfc | thesis | cmu | meaning |", "|---|---|---|---|---|---|---|"]
        meaning = meanings(protocol)
        for name, row in parameters(protocol).items():
            values = " | ".join(map(str, (row.least, row.most, *row.preset)))
            lines.append(f"| `{name}` | {values} | {meaning[name]} |")
        lines.append("")
    return "\n".join(lines)


def test_each_parameter_has_a_meaning() -> None:
    assert {of: list(meanings(of)) for of in PROTOCOLS} == {of: list(parameters(of)) for of in PROTOCOLS}


def test_the_page_says_what_can_be_set() -> None:
    assert PAGE.read_text() == page()


if __name__ == "__main__":
    print(page(), end="")
