# SPDX-License-Identifier: BSD-3-Clause
"""Mobility models: who moves how.

A model is one module of this folder, or a file of the user's own, named by its path. Its pydantic model `Parameters`
holds what a user may choose; its function `move(parameters, network, seconds, random)` gives each node that moves its
waypoints, or a `Motion`, which also says when they are there. `random` is a stream of the seed's that nothing else
draws from: another TCP meets the same movement. docs/mobility.md has the models, docs/plugins/mobility.md an example.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from topologies.files import FUNCTION, MODEL, USER, Trust, load, own_mistakes, run_by
from topologies.motion import settle, settle_spans
from topologies.network import Motion, Network


def names() -> list[str]:
    """The models there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> ModuleType:
    """The model of this name, or in this file. Raises ValueError, with the names there are, if it is none of them."""
    if name.endswith(".py"):
        return load(name, "mobility model", {"Parameters": MODEL, "move": FUNCTION})
    if name not in names():
        raise ValueError(f"there is no mobility model {name!r}; there are: {', '.join(names())}, a file in .py")
    return importlib.import_module(f"{__name__}.{name}")


def move(chosen: Mapping[str, Any], network: Network, seconds: float, seed: int) -> Network:
    """The network, in motion: `chosen` is a model and its parameters, as `check` has it. Raises ValueError."""
    parameters = dict(chosen)
    name = parameters.pop("model")
    model = find(name)
    with own_mistakes(Path(name).resolve()):
        found = model.move(model.Parameters(**parameters), network, seconds, Random(f"motion {seed}"))
    ways, presence = found if isinstance(found, Motion) else Motion(found)
    return settled(network, Motion({**network.motion, **ways}, {**network.presence, **presence}), seconds)


def settled(network: Network, motion: Motion, seconds: float) -> Network:
    """The network in this motion, for so long. A node that moves stands, before the start, where its motion begins.
    Raises ValueError."""
    moved = {name: settle(way, seconds) for name, way in motion.waypoints.items()}
    nodes = {
        name: node.model_copy(update={"position": moved[name][0].position}) if moved.get(name) else node
        for name, node in network.nodes.items()
    }
    there = {name: settle_spans(spans, seconds) for name, spans in motion.presence.items()}
    return Network.model_validate({**dict(network), "nodes": nodes, "motion": moved, "presence": there})


def check(chosen: Any, trust: Trust = USER) -> dict[str, Any]:
    """A model's name, or an object of `model` and its parameters, complete. Raises ValueError, as pydantic does, and
    for a file that is not to be run."""
    parameters = dict(chosen) if isinstance(chosen, Mapping) else {"model": chosen}
    name = parameters.pop("model", None)
    if not isinstance(name, str):
        raise ValueError(f"there is no mobility model {name!r}; there are: {', '.join(names())}")
    if name.endswith(".py"):
        name = str(Path(run_by(name, trust)).resolve())  # which holds wherever one goes on
    model = find(name).Parameters
    if strange := next((parameter for parameter in parameters if parameter not in model.model_fields), None):
        raise ValueError(f"{name}: there is no parameter {strange!r}; there are: {', '.join(model.model_fields)}")
    complete: dict[str, Any] = model.model_validate(parameters).model_dump(mode="json")
    return {"model": name, **complete}
