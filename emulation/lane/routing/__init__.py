# SPDX-License-Identifier: BSD-3-Clause
"""Routing: how packets find their way. Each file here is one, with both its halves.

`plan(reach, ips, demands, unreachable)` is pure and is called on the host, when the plan is made; `start(net)` and
`stop()` are called in the lane, before the links are joined by traffic and when the network is taken down.
"""

from __future__ import annotations

from typing import NamedTuple

from emulation.lane import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    Reach = list[list[int]]  # by node: those that it can exchange frames with, rising; symmetric


class Demand(NamedTuple):
    """A flow from one node to another, by their indices. `prompt`: the receiver acknowledges each segment at once."""

    source: int
    destination: int
    prompt: bool


class Planned(NamedTuple):
    """One node's part: what its `start` needs, as JSON; and whom it must know before the network has started."""

    node: dict[str, Any]
    neighbours: list[int]


class Unreachable(ValueError):
    """There is no path from the node `at` to the node `to`."""

    def __init__(self, at: int, to: int) -> None:
        super().__init__(f"no path from node {at} to node {to}")
        self.at, self.to = at, to


def find(kind: str) -> ModuleType:
    """The routing of this kind. Raises ValueError, with those there are, if there is none."""
    return plugins.find(__name__, kind)
