# SPDX-License-Identifier: BSD-3-Clause
"""docs/kinds.md has each kind as the program has it: what it is, and its settings with defaults, limits and words.

`./dcflab python tests/test_kinds_page.py` makes it again.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args

import annotated_types
import pytest
from pydantic import BaseModel

import topologies
from emulation import lanes
from emulation.lane.ackthin import PARAMETERS
from emulation.plan import fading, shadowing
from emulation.specification import channel
from emulation.specification.network import Chosen
from emulation.specification.propagation import MODELS
from topologies import mobility
from traffic import applications
from traffic.settings import setting

PAGE = Path(__file__).resolve().parents[1] / "docs/kinds.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Kinds and their settings

Options such as `--routing KIND,NAME=VALUE` choose a kind and its settings.
This page is made from the docstrings and settings of the program:

    ./dcflab python tests/test_kinds_page.py

An empty default means that it depends on other options, or that there is none.
"""
ROUTINGS = (
    "static",
    "none",
    "etx_frozen",
    "aodv",
    "dsr",
    "olsr",
    "dsdv",
    "manet_static",
    "batman_adv",
    "babel",
    "hwmp",
)
LINKS = ("adhoc", "mesh", "ocb", "infrastructure", "wlan", "wired")
APPLICATIONS = ("bulk", "iperf3", "udp", "voice", "request", "web")


class Row(NamedTuple):
    """A setting: its default, and its limits, words or meaning."""

    name: str
    default: str
    said: str


class Kind(NamedTuple):
    name: str
    text: str | None
    rows: list[Row]


def number(value: Any) -> str:
    return (
        "" if value is None else f"{value:{'g' if value < 1e6 else '.15g'}}" if isinstance(value, float) else str(value)
    )


def limits(least: Any, most: Any) -> str:
    return " to ".join(number(float(each)) for each in (least, most)) if None not in (least, most) else ""


def routings() -> Iterator[Kind]:
    for name in ROUTINGS:
        module = importlib.import_module(f"emulation.lane.routing.{name}")
        words = getattr(module, "ALGORITHMS", ())
        rows = [Row("algorithm", words[0], ", ".join(words))] if words else []
        for option, (default, least, most) in getattr(module, "OPTIONS", {}).items():
            rows.append(Row(option, number(default), limits(least, most)))
        yield Kind(name if name in ("manet_static",) else name.replace("_", "-"), module.__doc__, rows)


def flows() -> Iterator[Kind]:
    for name in APPLICATIONS:
        given = {option: setting(of) for option, of in applications.find(name).settings.items()}
        rows = [Row(option, number(one.default), ", ".join(one.words) or limits(one.least, one.most))
                for option, one in given.items()]  # fmt: skip
        yield Kind(name, importlib.import_module(f"traffic.applications.{name}").__doc__, rows)


def propagation() -> Iterator[Kind]:
    for name, model in sorted(MODELS.items()):
        yield Kind(name, model.__doc__, [Row(each.name, number(plain(each.default)), "") for each in fields(model)])


def joined() -> Iterator[Kind]:
    for name in LINKS:
        yield Kind(name, importlib.import_module(f"emulation.lane.links.{name}").__doc__, [])


def plain(default: Any) -> Any:
    return default if isinstance(default, int | float | str) else None


def topology_file(name: str) -> ModuleType:
    return importlib.import_module(f"topologies.{name.replace('-', '_')}")


def modelled(name: str, module: ModuleType, model: type[BaseModel] | None = None) -> Kind:
    rows = []
    for parameter, field in (model or module.Parameters).model_fields.items():
        found = {type(each): each for each in field.metadata}
        least, most = found.get(annotated_types.Ge), found.get(annotated_types.Le)
        within = limits(least and least.ge, most and most.le)
        words = ", ".join(str(each) for each in get_args(field.annotation) if isinstance(each, str))
        said = "; ".join(filter(None, (words or within, field.description)))
        rows.append(Row(parameter, number(plain(field.default)), said))
    return Kind(name, module.__doc__, rows)


def thinning() -> Kind:
    rows = [Row(name, number(default), limits(least, most))
            for name, (_, kind, default, least, most) in PARAMETERS.items() if kind != "word"]  # fmt: skip
    return Kind("ackthin", "The qdisc `ackthin` ([ack-thinning.md](ack-thinning.md)).", rows)


def part(kind: Kind) -> str:
    """A kind's text and table."""
    lines = ["| setting | default | |", "|---|---|---|"] if kind.rows else []
    lines += [f"| `{row.name}` | {row.default} | {row.said} |" for row in kind.rows]
    table = "\n".join([*lines, ""]) if lines else ""
    return "\n".join(filter(None, [f"### {kind.name}\n", f"{inspect.cleandoc(kind.text or '')}\n", table]))


def page() -> str:
    kinds: Mapping[str, Iterable[Kind]] = {
        "Topologies": (modelled(name, topology_file(name)) for name in topologies.names()),
        "Traffic: `--traffic`, `--application`": flows(),
        "Links: `--link`": joined(),
        "Routing: `--routing`": routings(),
        "Propagation: `--propagation`": propagation(),
        "Shadowing and fading": [
            modelled("--shadowing", shadowing, channel.Shadowing),
            modelled("--fading", fading, channel.Fading),
        ],
        "Motion: `--motion`": (modelled(name, mobility.find(name)) for name in mobility.names()),
        "Lanes: `--lane`": [
            Kind(name, importlib.import_module(f"emulation.lanes.{name}").__doc__, []) for name in lanes.names()
        ],
        "ACK thinning: `--ackthin`": [thinning()],
    }
    parts = [HEAD]
    for title, each in kinds.items():
        parts += [f"## {title}\n", *map(part, each)]
    return "\n".join(parts)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


@pytest.mark.parametrize(
    ("names", "folder"),
    [(ROUTINGS, "emulation/lane/routing"), (LINKS, "emulation/lane/links"), (APPLICATIONS, "traffic/applications")],
)
def test_the_page_has_each_kind(names: tuple[str, ...], folder: str) -> None:
    assert {*names} == {file.stem for file in (PAGE.parents[1] / folder).glob("[a-z]*.py")}


def test_the_help_has_each_link_of_stations_alone() -> None:
    kinds = {name: importlib.import_module(f"emulation.lane.links.{name}").Link for name in LINKS}
    alone = [name for name, link in kinds.items() if link.interface == "radio" and not link.over_ap]
    assert (Chosen.model_fields["link"].description or "").endswith(f": {'|'.join(alone)}")


if __name__ == "__main__":
    PAGE.write_text(page())
