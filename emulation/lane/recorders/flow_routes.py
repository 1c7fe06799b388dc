# SPDX-License-Identifier: BSD-3-Clause
"""The route of each flow, from the kernels' routes of its nodes.

It serves protocols that do not report changes of routes. Every EVERY_NS it looks up the source's next hop for the
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
EVERY_NS = 500_000_000


class Recorder(recorders.Recorder):
    """Writes a line of JSON when a route changes: time (ns), the flow's name, and the names of the nodes on the route.

    The list begins with the source. It ends with the destination, or with the last node that is known.
    """

    def there(self) -> bool:
        return bool(self.net.routing and self.net.plan["applications"])

    def start(self, loop: Loop) -> None:
        self.loop, self.known = loop, dict[str, list[str]]()
        self.file = open(f"{self.net.folder}/{FILE}", "w")  # noqa: SIM115
        self.look()

    def look(self) -> None:
        now = time.monotonic_ns()
        for flow in self.net.plan["applications"]:
            way = self.way(flow["source"], flow["destination"])
            if way != self.known.get(flow["name"]):
                self.known[flow["name"]] = way
                self.file.write(json.dumps([now, flow["name"], way]) + "\n")
        self.loop.at(now + EVERY_NS, self.look)

    def way(self, source: str, destination: str) -> list[str]:
        assert self.net.routing
        nodes, way = self.net.nodes, [source]
        while way[-1] != destination:
            following = self.net.routing.via(nodes[way[-1]], nodes[destination])
            if not following or following.name in way:  # a loop
                break
            way.append(following.name)
        return way

    def stop(self) -> None:
        self.file.close()
