# SPDX-License-Identifier: BSD-3-Clause
"""The route of each flow, from the kernels' routes of its nodes.

It serves protocols that do not report changes of routes. Every INTERVAL_NS it looks up the source's next hop for the
destination, then that node's next hop, and so on.

In a virtual lane, looking takes no time and sends nothing, so it does not change a run.
"""

from __future__ import annotations

import json
import time

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from traffic.loop import Loop

FILE = "routes.jsonl"
INTERVAL_NS = 500_000_000


class Recorder(recorders.Recorder):
    """Writes a line of JSON when a route changes: time (ns), the flow's name, and the names of the nodes on the route.

    The list begins with the source. It ends with the destination, or with the last node that is known.
    """

    def there(self) -> bool:
        return bool(self.net.routing and self.net.plan["applications"])

    def start(self, loop: Loop) -> None:
        self.loop, self.last_routes = loop, dict[str, list[str]]()
        self.file = open(f"{self.net.folder}/{FILE}", "w")  # noqa: SIM115
        self.record_changes()

    def record_changes(self) -> None:
        now = time.monotonic_ns()
        for flow in self.net.plan["applications"]:
            route = self.route(flow["source"], flow["destination"])
            if route != self.last_routes.get(flow["name"]):
                self.last_routes[flow["name"]] = route
                self.file.write(json.dumps([now, flow["name"], route]) + "\n")
        self.loop.at(now + INTERVAL_NS, self.record_changes)

    def route(self, source: str, destination: str) -> list[str]:
        assert self.net.routing
        nodes, route = self.net.nodes, [source]
        while route[-1] != destination:
            next_hop = self.net.routing.via(nodes[route[-1]], nodes[destination])
            if not next_hop or next_hop.name in route:  # a loop
                break
            route.append(next_hop.name)
        return route

    def stop(self) -> None:
        self.file.close()
