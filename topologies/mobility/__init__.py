# SPDX-License-Identifier: BSD-3-Clause
"""Mobility models: which nodes move, and how.

A model is a module of this folder, or a user's file, named by its path. Its pydantic model `Parameters` has the user's
choices. Its function `move(parameters, network, seconds, random)` returns the waypoints of each moving node, or a
`Motion`, which also says when nodes are present. `random` is a stream of the seed from which nothing else draws, so
another TCP meets the same motion. docs/mobility.md has the models, docs/plugins.md an example.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from topologies.files import (
    USER,
    Trust,
    ask,
    is_a,
    is_function,
    is_model,
    load,
    own_mistakes,
    place_of_function,
    prefix_errors,
    run_by,
)
from topologies.motion import settle, settle_spans
from topologies.network import Motion, Network


def names() -> list[str]:
    """Return the names of all models."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> ModuleType:
    """Return the model with this name, or in this file. Raises ValueError, which lists the names, if there is none."""
    if name.endswith(".py"):
        return load(name, "mobility model", {"Parameters": is_model, "move": is_function})
    if name not in names():
        raise ValueError(f"there is no mobility model {name!r}; there are: {', '.join(names())}, a file in .py")
    return importlib.import_module(f"{__name__}.{name}")


def move(chosen: Mapping[str, Any], network: Network, seconds: float, seed: int) -> Network:
    """Return the network in motion; `chosen` is a model and its parameters, from `check`. Raises ValueError."""
    parameters = dict(chosen)
    name = parameters.pop("model")
    model, own = find(name), name.endswith(".py")
    with own_mistakes(Path(name).resolve()):
        random = Random(f"motion {seed}")
        found = ask(model.move, _is_motion, model.Parameters(**parameters), network, seconds, random)
    with prefix_errors(place_of_function(model.move)) if own else nullcontext():
        ways, presence = found if isinstance(found, Motion) else Motion(found)
        return settled(network, Motion({**network.motion, **ways}, {**network.presence, **presence}), seconds)


def _is_motion(found: Any) -> str:
    parts = found if isinstance(found, Motion) else [found]
    return next(filter(None, map(is_a(Mapping), parts)), "")


def settled(network: Network, motion: Motion, seconds: float) -> Network:
    """Return the network in this motion, for this duration. Before the start, a moving node stands where its motion
    begins. Raises ValueError if the motion is invalid."""
    moved = {name: settle(way, seconds) for name, way in motion.waypoints.items()}
    nodes = {
        name: node.model_copy(update={"position": moved[name][0].position}) if moved.get(name) else node
        for name, node in network.nodes.items()
    }
    there = {name: settle_spans(spans, seconds) for name, spans in motion.presence.items()}
    return Network.model_validate({**dict(network), "nodes": nodes, "motion": moved, "presence": there})


def check(chosen: Any, trust: Trust = USER) -> dict[str, Any]:
    """Complete a model's name, or an object with `model` and parameters. Raises ValueError, as pydantic does, if it is
    invalid, or names a file that may not be run."""
    parameters = dict(chosen) if isinstance(chosen, Mapping) else {"model": chosen}
    name = parameters.pop("model", None)
    if not isinstance(name, str):
        raise ValueError(f"there is no mobility model {name!r}; there are: {', '.join(names())}")
    if name.endswith(".py"):
        name = str(Path(run_by(name, trust)).resolve())  # an absolute path
    model = find(name).Parameters
    if strange := next((parameter for parameter in parameters if parameter not in model.model_fields), None):
        raise ValueError(f"{name}: there is no parameter {strange!r}; there are: {', '.join(model.model_fields)}")
    with own_mistakes(Path(name)):
        complete: dict[str, Any] = model.model_validate(parameters).model_dump(mode="json")
    return {"model": name, **complete}
