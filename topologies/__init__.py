# SPDX-License-Identifier: BSD-3-Clause
"""Topologies: positions of nodes, their motion, and flows.

A topology is a module of this folder, or a user's file, named by its path. The first line of its docstring describes
it. Its pydantic model `Parameters` has the user's choices. Its function `layout(Parameters)` returns a `Layout`, the
short form for stations with flows, or a whole `Network`. An optional function `usual(Parameters)` returns defaults for
other options (`propagation`, `routing` …). Nothing else has to be registered: docs/topologies.md has an example.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from topologies.files import ask, is_a, is_function, is_model, load, own_mistakes
from topologies.network import NAME, WIRED, Application, Link, Motion, Network, Node, Span, Waypoint

__all__ = [
    "NAME", "WIRED", "Application", "Layout", "Link", "Motion", "Network", "Node", "Span", "Topology", "Waypoint",
    "find", "names",
]  # fmt: skip

Position = tuple[float, float, float]
NO_TOPOLOGY = ("area", "errors", "files", "links", "mobility", "motion", "network")  # modules of this folder


@dataclass(frozen=True)
class Layout:
    """Stations in order, by name, with their positions in metres; and flows as (source, destination).

    Raises ValueError for an invalid layout.
    """

    stations: dict[str, Position]
    flows: list[tuple[str, str]]

    def __post_init__(self) -> None:
        self.network()

    def network(self) -> Network:
        return Network(
            nodes={name: Node(position=position) for name, position in self.stations.items()},
            applications=tuple(Application(source=source, destination=to) for source, to in self.flows),
        )


@dataclass(frozen=True)
class Topology:
    """A topology by its name: its description, its parameters, and its layout."""

    name: str
    summary: str
    Parameters: type[BaseModel]
    layout: Callable[[Any], Layout | Network]
    usual: Callable[[Any], Mapping[str, Any]] = lambda parameters: {}

    def network(self, parameters: dict[str, Any]) -> Network:
        """Return the network with these parameters. Raises ValueError, as pydantic does, if they are invalid."""
        with own_mistakes(Path(self.name)):
            made: Layout | Network = ask(self.layout, is_a(Layout, Network), self.Parameters(**parameters))
            return made.network() if isinstance(made, Layout) else made


@cache  # reading the folder takes longer than everything else
def names() -> list[str]:
    """Return the names of all topologies."""
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.name not in NO_TOPOLOGY)
    return sorted(name.replace("_", "-") for name in found)


def is_file(name: str) -> bool:
    """Return whether this is the path of a user's topology."""
    return name.endswith(".py")


def find(name: str) -> Topology:
    """Return the topology with this name, or in this file (a path that ends in .py).

    Raises ValueError, which lists the names, if there is none, or if the file defines none.
    """
    if is_file(name):
        words = {"Parameters": is_model, "layout": is_function}
        module = load(name, "topology", words, {"usual": is_function})
        return _topology(str(Path(name).resolve()), module)
    if name not in names():
        raise ValueError(f"there is no topology {name!r}; there are: {', '.join(names())}")
    return _topology(name, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))


def _topology(name: str, module: ModuleType) -> Topology:
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    return Topology(name, summary, module.Parameters, module.layout, getattr(module, "usual", Topology.usual))
