# SPDX-License-Identifier: BSD-3-Clause
"""docs/routing/parameters.md is what the cores say of their parameters. After a change of one:

./dcflab python tests/manet/test_parameters.py > docs/routing/parameters.md
"""

from pathlib import Path

from world import parameters

PAGE = Path(__file__).parents[2] / "docs/routing/parameters.md"
PROTOCOLS = {"aodv": "AODV", "dsr": "DSR", "olsr": "OLSR", "dsdv": "DSDV"}
TOP = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Parameters of the routing protocols

All parameters of `manet.ko`, made from its tables in `emulation/manet/core/`:

    ./dcflab python tests/manet/test_parameters.py > docs/routing/parameters.md

`--routing aodv,preset=thesis,ttl_start=1` sets one. The presets are those of the protocols' pages.
In the last column, numbers with a point are sections of the protocol's RFC; tables are of [paper 003](../words.md).
N is ns-2's own agent, DU is DSR-UU.
"""


def page() -> str:
    lines = [TOP]
    for protocol, title in PROTOCOLS.items():
        lines += [f"## {title}\n", f"[{title}]({protocol}.md) says what the presets are, and what is done when.\n"]
        lines += ["| parameter | least | most | rfc | thesis | cmu | meaning |", "|---|---|---|---|---|---|---|"]
        for name, row in parameters(protocol).items():
            values = " | ".join(map(str, (row.least, row.most, *row.preset)))
            lines.append(f"| `{name}` | {values} | {row.what.decode().replace('|', '/')} |")
        lines.append("")
    return "\n".join(lines)


def test_the_page_says_what_can_be_set() -> None:
    assert PAGE.read_text() == page()


if __name__ == "__main__":
    print(page(), end="")
