# SPDX-License-Identifier: BSD-3-Clause
"""docs/kinds.md has the settings of each kind as the program has them: defaults, limits and words.

`./dcflab python tests/test_kinds_page.py` makes it again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import annotated_types
from pydantic import BaseModel

import topologies
from emulation.lane.ackthin import PARAMETERS
from emulation.specification.propagation import MODELS
from topologies import mobility
from traffic import applications
from traffic.settings import setting

PAGE = Path(__file__).resolve().parents[1] / "docs/kinds.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Settings of kinds

Options such as `--routing KIND,NAME=VALUE` choose a kind and its settings. This page is made from the program:

    ./dcflab python tests/test_kinds_page.py

An empty default means that it depends on other options, or that there is none.
"""
ROUTINGS = {"batman_adv": "batman-adv", "babel": "babel", "hwmp": "hwmp", "etx_frozen": "etx-frozen"}
APPLICATIONS = ("iperf3", "udp", "voice", "request", "web")
Row = tuple[str, str, str, str]


def number(value: Any) -> str:
    return (
        "" if value is None else f"{value:{'g' if value < 1e6 else '.15g'}}" if isinstance(value, float) else str(value)
    )


def limits(least: Any, most: Any) -> str:
    return " to ".join(number(float(each)) for each in (least, most)) if None not in (least, most) else ""


def routings() -> Iterator[Row]:
    for name, kind in ROUTINGS.items():
        module = importlib.import_module(f"emulation.lane.routing.{name}")
        if words := getattr(module, "ALGORITHMS", ()):
            yield kind, "algorithm", words[0], ", ".join(words)
        for option, (default, least, most) in module.OPTIONS.items():
            yield kind, option, number(default), limits(least, most)


def flows() -> Iterator[Row]:
    for kind in APPLICATIONS:
        for name, of in applications.find(kind).settings.items():
            one = setting(of)
            yield kind, name, number(one.default), ", ".join(one.words) or limits(one.least, one.most)


def propagation() -> Iterator[Row]:
    for kind, model in sorted(MODELS.items()):
        for field in fields(model):
            yield kind, field.name, number(plain(field.default)), ""


def plain(default: Any) -> Any:
    return default if isinstance(default, int | float | str) else None


def modelled(kind: str, model: type[BaseModel]) -> Iterator[Row]:
    for name, field in model.model_fields.items():
        found = {type(each): each for each in field.metadata}
        least, most = found.get(annotated_types.Ge), found.get(annotated_types.Le)
        within = limits(least and least.ge, most and most.le)
        words = ", ".join(str(each) for each in get_args(field.annotation) if isinstance(each, str))
        said = "; ".join(filter(None, (words or within, field.description)))
        yield kind, name, number(plain(field.default)), said


def thinning() -> Iterator[Row]:
    for name, (_, kind, default, least, most) in PARAMETERS.items():
        if kind != "word":
            yield "ackthin", name, number(default), limits(least, most)


def page() -> str:
    tables: Mapping[str, Iterator[Row]] = {
        "Topologies": (row for name in topologies.names() for row in modelled(name, topologies.find(name).Parameters)),
        "Traffic: `--traffic`, `--application`": flows(),
        "Routing: `--routing`": routings(),
        "Propagation: `--propagation`": propagation(),
        "Motion: `--motion`": (
            row for name in mobility.names() for row in modelled(name, mobility.find(name).Parameters)
        ),
        "ACK thinning: `--ackthin`": thinning(),
    }
    parts = [HEAD]
    for title, rows in tables.items():
        lines = ["| kind | setting | default | |", "|---|---|---|---|"]
        lines += [f"| `{kind}` | `{name}` | {default} | {said} |" for kind, name, default, said in rows]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


if __name__ == "__main__":
    PAGE.write_text(page())
