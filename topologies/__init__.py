# SPDX-License-Identifier: BSD-3-Clause
"""Topologies: where stations stand and who talks to whom.

A topology is one module of this folder. Its docstring says what it is; its pydantic model `Parameters` holds what a
user may choose; its function `layout(Parameters) -> Layout` does the rest. To put the file here is all it takes to add
one: docs/topologies.md has a complete example.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

MAX_STATIONS = 250  # one /24 holds them; the air has room for 256
FARTHEST = 1e6

Position = tuple[float, float, float]


@dataclass(frozen=True)
class Layout:
    """Stations by name with their positions in metres, in order; and flows as (source, destination).

    Raises ValueError for a layout that makes no sense.
    """

    stations: dict[str, Position]
    flows: list[tuple[str, str]]

    def __post_init__(self) -> None:
        if not 1 <= len(self.stations) <= MAX_STATIONS:
            raise ValueError(f"a layout has 1 to {MAX_STATIONS} stations, not {len(self.stations)}")
        for name, position in self.stations.items():
            if len(position) != 3 or not all(abs(value) <= FARTHEST for value in position):
                raise ValueError(f"{name}: a position is three numbers, in metres, none beyond {FARTHEST:g}")
        for source, destination in self.flows:
            for name in (source, destination):
                if name not in self.stations:
                    raise ValueError(f"flow {source} -> {destination}: there is no station {name}")
            if source == destination:
                raise ValueError(f"flow {source} -> {destination}: its ends are the same station")


@dataclass(frozen=True)
class Topology:
    """A topology by its name: what it is, what may be chosen, and how it is laid out."""

    name: str
    summary: str
    Parameters: type[BaseModel]
    layout: Callable[[Any], Layout]


def names() -> list[str]:
    """The topologies there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Topology:
    """The topology of this name. Raises ValueError, with the names there are, if it is none of them."""
    if name not in names():
        raise ValueError(f"there is no topology {name!r}; there are: {', '.join(names())}")
    module = importlib.import_module(f"{__name__}.{name}")
    return Topology(name, (module.__doc__ or "").strip().partition("\n")[0], module.Parameters, module.layout)
