# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins: what has a kind is carried out by the file of that name, in the folder for its like.

There is nothing to register. A folder of the user's own that mirrors these (links/, routing/, applications/,
recorders/) is searched, too, once `extend` has been told of it.
"""

from __future__ import annotations

import importlib
import os
import pkgutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

POINTS = ("emulation.lane.links", "emulation.lane.routing", "emulation.lane.recorders", "traffic.applications")


def find(point: str, kind: str) -> ModuleType:
    """The module that carries out a kind, at one of POINTS. Raises ValueError, with those there are, if none does."""
    try:
        return importlib.import_module(f"{point}.{kind}")
    except ModuleNotFoundError as error:
        if error.name != f"{point}.{kind}":
            raise
    what = point.rpartition(".")[2].removesuffix("s")
    raise ValueError(f"there is no {what} {kind!r}; there are: {', '.join(kinds(point))}")


def kinds(point: str) -> list[str]:
    """The kinds there are at one of POINTS."""
    return sorted(module.name for module in pkgutil.iter_modules(importlib.import_module(point).__path__))


def extend(folders: Iterable[str]) -> None:
    """Search these folders, too."""
    for folder in folders:
        for point in POINTS:
            path, own = importlib.import_module(point).__path__, os.path.join(folder, point.rpartition(".")[2])
            if own not in path:
                path.append(own)
