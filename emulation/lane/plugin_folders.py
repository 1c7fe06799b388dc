# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins of the user: folders that mirror this tree, with links/, routing/, recorders/ and applications/.

A file there is a kind like those of this tree (`traffic.plugins`), on the host, where plans are made, and in the lane.
"""

from __future__ import annotations

import os
from importlib import import_module

from traffic.plugins import find, kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["POINTS", "extend", "find", "kinds", "own"]

POINTS = ("emulation.lane.links", "emulation.lane.routing", "emulation.lane.recorders", "traffic.applications")


def extend(folders: Iterable[str]) -> None:
    """Also search these folders. If two files have the same name, the package's own is used."""
    for folder in folders:
        for point in POINTS:
            path, own = import_module(point).__path__, os.path.join(folder, point.rpartition(".")[2])
            if own not in path:
                path.append(own)


def own() -> list[str]:
    """Return the folders that `extend` added."""
    return [folder for point in POINTS for folder in import_module(point).__path__[1:]]
