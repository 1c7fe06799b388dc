# SPDX-License-Identifier: BSD-3-Clause
"""A network's own traffic: ping and iperf, as Mininet's networks have them, by the lab's own senders. So no program has
to be there; iperfs are flows of the run that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.log import output
from emulation.features.mininet.words import Unsupported, refuse
from emulation.features.prompt.inside import traffic as prompt_traffic
from traffic.ping import ping

if TYPE_CHECKING:
    from emulation.features.mininet.lab import Lab
    from emulation.features.mininet.node import Node

PING_S = 1.0  # how long to wait for an answer
UNITS = {"K": ("Kbits", 1e3), "M": ("Mbits", 1e6), "G": ("Gbits", 1e9), None: ("", 0.0)}


class Traffic:
    """What a network can be told to try."""

    hosts: list[Node]
    stations: list[Node]
    cars: list[Node]
    lab: Lab | None

    def ends(self, hosts: Sequence[Any] | None, call: str) -> list[Node]:
        """Between whom: by default all that have an address. Raises Unsupported."""
        if not self.lab:
            raise Unsupported(f"{call}: the network is not there yet: write it after net.build() or net.start()")
        chosen = list(hosts) if hosts else [*self.hosts, *self.stations, *self.cars]
        found: list[Node] = [self[one] if isinstance(one, str) else one for one in chosen]  # type: ignore[index]
        return [node for node in found if node.IP()] if not hosts else found

    def times(self, a: Node, b: Node, count: int, timeout_s: float) -> list[float]:
        """Round trips that came, in ms."""
        assert a.lane
        try:
            return [rtt * 1e3 for _, _, rtt in ping(a.lane, str(b.IP()), count, timeout_s=timeout_s) if rtt is not None]
        except OSError:  # no route to it
            return []

    def ping(self, hosts: Any = None, timeout: Any = None, **_: Any) -> float:
        """Between all pairs, once each way; returns how many percent were lost."""
        output("*** Ping: testing ping reachability\n")
        nodes, sent, came = self.ends(hosts, "ping"), 0, 0
        for a in nodes:
            output(f"{a.name} -> ")
            for b in nodes:
                if a is not b:
                    there = self.times(a, b, 1, float(timeout or PING_S))
                    sent, came = sent + 1, came + bool(there)
                    output(f"{b.name if there else 'X'} ")
            output("\n")
        lost = 100.0 * (sent - came) / sent if sent else 0.0
        output(f"*** Results: {lost:.0f}% dropped ({came}/{sent} received)\n")
        return lost

    def pingAll(self, timeout: Any = None, **_: Any) -> float:
        return self.ping(timeout=timeout)

    def pingPair(self) -> float:
        """The first two."""
        return self.ping(self.ends(None, "pingPair")[:2])

    def pingFull(self, hosts: Any = None, timeout: Any = None) -> list[Any]:
        """With times; returns (from, to, (sent, received, min, avg, max, mean deviation in ms)) of each pair."""
        output("*** Ping: testing ping reachability\n")
        nodes, found = self.ends(hosts, "pingFull"), []
        for a in nodes:
            for b in nodes:
                if a is not b:
                    there = self.times(a, b, 1, float(timeout or PING_S))
                    rtt = there[0] if there else 0.0
                    found.append((a, b, (1, len(there), rtt, rtt, rtt, 0.0)))
        output("*** Results: \n")
        for a, b, (sent, came, least, mean, most, deviation) in found:
            output(f" {a.name}->{b.name}: {sent}/{came}, ")
            output(f"rtt min/avg/max/mdev {least:.3f}/{mean:.3f}/{most:.3f}/{deviation:.3f} ms\n")
        return found

    def pingAllFull(self) -> list[Any]:
        return self.pingFull()

    def pingPairFull(self) -> list[Any]:
        return self.pingFull(self.ends(None, "pingPairFull")[:2])

    def iperf(self, hosts: Any = None, l4Type: str = "TCP", udpBw: str = "10M", fmt: str | None = None,
              seconds: float = 5, port: int | None = None) -> list[str]:  # fmt: skip
        """How fast the first sends to the second; returns the rates of server and client, of UDP before them what was
        offered. Raises Unsupported."""
        nodes = self.ends(hosts, "iperf")
        if len(nodes) < 2:
            raise Unsupported("iperf: between which two?")
        client, server = (nodes[0], nodes[-1]) if not hosts else nodes[:2]
        if l4Type not in ("TCP", "UDP"):
            raise Unsupported(f"iperf: l4Type {l4Type!r}: there are TCP and UDP")
        assert self.lab
        output(f"*** Iperf: testing {l4Type} bandwidth between {client.name} and {server.name} \n")
        kind = f"udp,rate_kbps={bits(udpBw) / 1e3:g}" if l4Type == "UDP" else None
        flow = self.lab.flow_between(client.name, server.name, kind)
        (report,) = prompt_traffic.play(self.lab, [flow], float(seconds))
        if report["why"]:
            output(f"*** {report['outcome']}: {report['why']}\n")
        found = [said(8 * report["delivered_bytes"] / seconds, fmt)] * 2
        if l4Type == "UDP":
            found = [udpBw, found[0], said(bits(udpBw), fmt)]
        output(f"*** Results: {found}\n")
        return found

    def runCpuLimitTest(self, *_: Any, **__: Any) -> None:
        refuse("runCpuLimitTest", "computing takes no time in a lane")


def bits(rate: str) -> float:
    """10M, 500k, as bits a second. Raises Unsupported."""
    number, unit = (rate[:-1], rate[-1:].upper()) if rate[-1:].isalpha() else (rate, None)
    try:
        return float(number) * (UNITS[unit][1] or 1.0)
    except (KeyError, ValueError):
        raise Unsupported(f"iperf: {rate!r} is no rate, as 10M or 500K") from None


def said(bps: float, fmt: str | None) -> str:
    """A rate as iperf writes it."""
    unit = (fmt or ("G" if bps >= 1e9 else "M" if bps >= 1e6 else "K")).upper()
    word, per = UNITS.get(unit, UNITS["M"])
    value = bps / per
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {word}/sec"
