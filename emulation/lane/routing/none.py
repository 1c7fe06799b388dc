# SPDX-License-Identifier: BSD-3-Clause
"""No routes: a node reaches its neighbours by ARP. A script, or a protocol of your own, does the rest."""

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
    """Return an empty plan for each node, with its neighbours. Raises ValueError if there is any option."""
    if options:
        raise ValueError(f"routing none has no option {', '.join(options)}")
    if names := sorted({name for one in demands for name in one.there}):
        raise ValueError(f"routing none has no routes, so they cannot set TCP's {', '.join(names)}")
    return [Planned({}, list(near)) for near in reach]


class Routing(routing.Routing):
    """Installs nothing."""
