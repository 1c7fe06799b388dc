# SPDX-License-Identifier: BSD-3-Clause
"""Replayed measurements: positions, signals, rates, losses and delays, from lists that the script gives each station.

Positions are in `p`, and a station moves between them at its speed, by default 1 m/s. Of the others, `time` has the
seconds at which the values of the same index hold."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.mobility import apart
from emulation.features.mininet.node import Node, place
from emulation.features.mininet.refusals import check
from emulation.lane.errors import Misuse
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.wifi import Mininet_wifi
    from traffic.loop import Loop

USUAL_MPS = 1.0
LATER_S = 5.0  # before network conditions begin, as in Mininet-WiFi


class ReplayingMobility:
    """Move stations along their positions from the start of the session, or at once if it has started."""

    def __init__(self, net: Mininet_wifi, nodes: Any = None, **said: Any) -> None:
        check("ReplayingMobility", said, ())
        there: list[Node] = list(nodes) if nodes else [*net.stations, *net.cars]
        paths = {node.name: path_of(node) for node in there if positions(node)}
        if not paths:
            raise Misuse("ReplayingMobility: no node has positions: fill sta1.p or sta1.coord first")
        for node in there:
            node.replayed = None
        net.replay(paths)


def positions(node: Node) -> list[Any]:
    return list(node.replayed or getattr(node, "p", None) or node.coord)


def path_of(node: Node) -> list[Waypoint]:
    """Return waypoints from position to position at the node's speed."""
    speed = float(node.params.get("speed") or USUAL_MPS)
    points = [place(f"{node.name}.p", each) for each in positions(node)]
    at, path = 0.0, [Waypoint(0.0, points[0])]
    for before, where in pairwise(points):
        at += math.dist(before, where) / speed
        path.append(Waypoint(at, where))
    return apart(path)


def rows(call: str, net: Mininet_wifi, columns: tuple[str, ...]) -> dict[Node, list[tuple[float, ...]]]:
    """Return time and values of each station that has them. Raises Misuse if there is none."""
    found = {
        sta: list(zip(sta.time, *(getattr(sta, column) for column in columns), strict=False))
        for sta in (*net.stations, *net.cars)
        if all(hasattr(sta, column) for column in ("time", *columns))
    }
    if not found:
        raise Misuse(f"{call}: no station has lists {', '.join(('time', *columns))}: fill sta1.time … first")
    return found


class ReplayingBandwidth:
    """Limit what stations send to their `throughput`, in Mb/s. The air then carries it, if it can."""

    columns: tuple[str, ...] = ("throughput",)
    after_s = 0.0

    def __init__(self, net: Mininet_wifi, **said: Any) -> None:
        check(type(self).__name__, said, ())
        self.rows = rows(type(self).__name__, net, self.columns)
        net.watch(self)

    @classmethod
    def addNode(cls, node: Node) -> None:
        """No effect: all stations with these lists are replayed."""

    def begin(self, loop: Loop, began_ns: int) -> None:
        for sta, there in self.rows.items():
            for at_s, *values in there:
                said = dict(zip(self.columns, values, strict=True))
                loop.at(began_ns + round((self.after_s + at_s) * 1e9), partial(self.limit, sta, said))

    def limit(self, sta: Node, said: dict[str, float]) -> None:
        """Give a station's radio these limits."""
        if not sta.lane:
            return
        rate, lost = said.get("bw", said.get("throughput", 0.0)), said.get("loss", 0.0)
        words = [f"rate {rate:f}mbit"] * (rate > 0) + [f"loss {lost:f}%"] * (lost > 0)
        words.append(f"delay {said.get('latency', 0.0):f}ms")
        sta.lane.cmd(f"tc qdisc replace dev {sta.wintf()} root netem {' '.join(words)}")

    def close(self) -> None: ...


class ReplayingNetworkConditions(ReplayingBandwidth):
    """Limit what stations send to `bw` (Mb/s), lose a share `loss` (percent), and delay the rest by `latency` (ms)."""

    columns = ("bw", "loss", "latency")
    after_s = LATER_S


class ReplayingRSSI:
    """Move stations, away from their access point or towards it, to where they receive it with `rssi` (dBm)."""

    def __init__(self, net: Mininet_wifi, ppm: str = "", n: float = 0, **said: Any) -> None:
        printed = dict.fromkeys(("print_bw", "print_loss", "print_latency", "print_distance"), "telemetry() writes")
        check("ReplayingRSSI", said, (), printed)
        paths: dict[str, list[Waypoint]] = {}
        for sta, there in rows("ReplayingRSSI", net, ("rssi",)).items():
            ap = sta.wintf().associatedTo
            if not isinstance(ap, WIntf):
                raise Misuse(f"ReplayingRSSI: {sta.name} has no access point: call it when the network has started")
            (x, y, z), (i, j, _) = ap.node.position, sta.position
            turn, path = math.atan2(j - y, i - x), [Waypoint(0.0, sta.position)]
            for at_s, dbm in there:
                apart_m = net.medium.distance_of(ap.node, sta, dbm)
                path += [Waypoint(at_s, path[-1].position)] * (at_s > path[-1].at_s)
                path.append(Waypoint(at_s, (x + apart_m * math.cos(turn), y + apart_m * math.sin(turn), z)))
            paths[sta.name] = apart(path)
        net.replay(paths)
