# SPDX-License-Identifier: BSD-3-Clause
"""Topologies: who stands where, who moves how, who talks to whom.

A topology is one module of this folder, or a file of the user's own, named by its path. Its docstring says what it is;
its pydantic model `Parameters` holds what a user may choose; its function `layout(Parameters)` makes a `Layout`, the
short form for stations that talk, or a whole `Network`. Its function `usual(Parameters)`, if it has one, gives the
options that it is meant with (`propagation`, `routing` …), where a user says nothing else. To write the file is all it
takes: docs/topologies.md has an example.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from topologies.files import FUNCTION, MODEL, load, own_mistakes
from topologies.network import NAME, Application, Link, Motion, Network, Node, Span, Waypoint

__all__ = [
    "NAME",
    "Application",
    "Layout",
    "Link",
    "Motion",
    "Network",
    "Node",
    "Span",
    "Topology",
    "Waypoint",
    "find",
    "names",
]

Position = tuple[float, float, float]
NO_TOPOLOGY = ("area", "files", "links", "mobility", "motion", "network")  # modules of this folder


@dataclass(frozen=True)
class Layout:
    """Stations by name with their positions in metres, in order; and flows as (source, destination).

    Raises ValueError for a layout that makes no sense.
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
    """A topology by its name: what it is, what may be chosen, and how it is laid out."""

    name: str
    summary: str
    Parameters: type[BaseModel]
    layout: Callable[[Any], Layout | Network]
    usual: Callable[[Any], Mapping[str, Any]] = lambda parameters: {}

    def network(self, parameters: dict[str, Any]) -> Network:
        """The network that these parameters make. Raises ValueError, as pydantic does."""
        chosen = self.Parameters(**parameters)
        with own_mistakes(Path(self.name)):
            made = self.layout(chosen)
        if isinstance(made, Layout):
            return made.network()
        if not isinstance(made, Network):
            raise ValueError(f"{Path(self.name).name}: its layout returns {made!r}, no Layout and no Network")
        return made


@cache  # to look into the folder takes longer than all else
def names() -> list[str]:
    """The topologies there are."""
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.name not in NO_TOPOLOGY)
    return sorted(name.replace("_", "-") for name in found)


def is_file(name: str) -> bool:
    """Whether this is the path of a topology of the user's own."""
    return name.endswith(".py")


def find(name: str) -> Topology:
    """The topology of this name, or in this file (a path that ends in .py).

    Raises ValueError, with the names there are, if it is none of them, or the file holds none.
    """
    if is_file(name):
        module = load(name, "topology", {"Parameters": MODEL, "layout": FUNCTION})
        return _topology(str(Path(name).resolve()), module)
    if name not in names():
        raise ValueError(f"there is no topology {name!r}; there are: {', '.join(names())}")
    return _topology(name, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))


def _topology(name: str, module: ModuleType) -> Topology:
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    return Topology(name, summary, module.Parameters, module.layout, getattr(module, "usual", Topology.usual))
