# SPDX-License-Identifier: BSD-3-Clause
"""No routes: a node reaches its neighbours, by ARP; the rest is left to a script, or to a protocol of your own."""

from __future__ import annotations

from emulation.lane import routing
from emulation.lane.routing import Demand, Planned, Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANY_LINK = True


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Nothing for any node, which knows all that it can hear once the network has started."""
    if options:
        raise ValueError(f"routing none has no option {', '.join(options)}")
    if told := sorted({name for one in demands for name in one.there}):
        raise ValueError(f"routing none has no routes that could tell TCP {', '.join(told)}")
    return [Planned({}, list(near)) for near in reach]


class Routing(routing.Routing):
    """Nobody is entered."""
