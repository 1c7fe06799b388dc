# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry: write numbers of nodes to files in the run folder, a line for each second of the lane's time.

Each node has its file, as in Mininet-WiFi: `position-sta1-mn-telemetry.txt` has `x,y`; others, as
`rssi-sta1-mn-telemetry.txt`, have `time,value`, counters since the line before. The files of further radios have their
names: `rssi-sta1-wlan1-mn-telemetry.txt`. Nothing is drawn.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TextIO

from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.node import Node
from emulation.features.mininet.refusals import check
from emulation.lane.errors import Misuse
from traffic.loop import Loop

STATISTICS = ("tx_packets", "rx_packets", "tx_bytes", "rx_bytes", "tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
KINDS = (*STATISTICS, "rssi", "position")
EVERY_NS = 1_000_000_000
NAME = "{}-{}-mn-telemetry.txt"
TAKEN = ("nodes", "data_type", "single", "tool")
NOTHING_DRAWN = dict.fromkeys(
    ("title", "min_x", "max_x", "min_y", "max_y", "min_z", "max_z", "fig", "icon", "icon_width", "icon_height", "cols"),
    "files are written, and nothing is drawn",
)


class Telemetry:
    """The telemetry of these nodes."""

    def __init__(self, nodes: Any = (), data_type: str = "tx_packets", single: bool = False, **said: Any) -> None:
        check("telemetry", said, TAKEN, NOTHING_DRAWN)
        if data_type not in KINDS:
            raise Misuse(f"telemetry: there is no data_type {data_type!r}; there are: {', '.join(KINDS)}")
        self.nodes: list[Node] = list(nodes)
        if not self.nodes or not all(isinstance(node, Node) for node in self.nodes):
            raise Misuse(f"telemetry: nodes={nodes!r}: write nodes=[sta1, sta2]")
        self.kind = data_type
        self.counted: dict[WIntf, float] = {}
        self.files: dict[str, TextIO] = {}

    def begin(self, loop: Loop, began_ns: int, at_s: int = 1) -> None:
        """Write after so many seconds, and then each second, in the network's loop."""
        loop.at(began_ns + at_s * EVERY_NS, partial(self.again, loop, began_ns, at_s))

    def again(self, loop: Loop, began_ns: int, at_s: int) -> None:
        for node in self.nodes:
            if node.lane:
                self.write(node, at_s)
        self.begin(loop, began_ns, at_s + 1)

    def write(self, node: Node, at_s: int) -> None:
        if self.kind == "position":
            x, y, _ = node.position
            self.line(node.name, f"{x:.3f},{y:.3f}")
            return
        for number, intf in node.wintfs.items():
            self.line(intf.name if number else node.name, f"{at_s:g},{self.value(node, intf):g}")

    def value(self, node: Node, intf: WIntf) -> float:
        if self.kind == "rssi":
            return intf.rssi
        assert node.lane
        with node.lane, open("/proc/thread-self/net/dev") as table:
            row = next(line.partition(":")[2].split() for line in table if line.lstrip().startswith(f"{intf.name}:"))
        direction, _, what = self.kind.partition("_")
        column = ("bytes", "packets", "errors", "dropped").index(what) + (8 if direction == "tx" else 0)
        before, self.counted[intf] = self.counted.get(intf), float(row[column])
        return 0.0 if before is None else self.counted[intf] - before

    def line(self, name: str, text: str) -> None:
        if name not in self.files:
            self.files[name] = open(NAME.format(self.kind, name), "w", buffering=1)  # noqa: SIM115 (as long as the network)
        self.files[name].write(text + "\n")

    def close(self) -> None:
        while self.files:
            self.files.popitem()[1].close()


def telemetry(nodes: Any = (), **said: Any) -> None:
    made = Telemetry(nodes, **said)
    made.nodes[0].net.watch(made)
