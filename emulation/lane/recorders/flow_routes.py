# SPDX-License-Identifier: BSD-3-Clause
"""By which way each flow's packets would go, as the kernels along it have it: for protocols that tell nobody when a
route changes. Every EVERY_NS the source is asked to whom it hands what is for the destination, then that node, and so
on.

To ask takes no time in a virtual lane and sends nothing, so a run is the same with this and without.
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
    """A line of JSON whenever a way is another than before: when (ns), the flow's name, and the names of the nodes from
    its source on, up to its destination, or as far as the way is known."""

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
            if not following or following.name in way:  # a circle leads nowhere
                break
            way.append(following.name)
        return way

    def stop(self) -> None:
        self.file.close()
