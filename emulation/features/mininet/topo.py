# SPDX-License-Identifier: BSD-3-Clause
"""Topologies as classes: a script's `Topo` adds nodes and links in `build`; and Mininet's own topologies."""

from __future__ import annotations

from typing import Any


class Topo:
    """A list of nodes with their kinds, and of links."""

    def __init__(self, *args: Any, **params: Any) -> None:
        self.hopts, self.sopts, self.lopts = params.pop("hopts", {}), params.pop("sopts", {}), params.pop("lopts", {})
        self.noted: dict[str, tuple[str, dict[str, Any]]] = {}
        self.joined: list[tuple[str, str | None, dict[str, Any]]] = []
        self.build(*args, **params)

    def build(self, *args: Any, **params: Any) -> None:
        """Add nodes and links; a script overrides it."""

    def note(self, kind: str, name: str, usual: dict[str, Any], opts: dict[str, Any]) -> str:
        self.noted[name] = kind, {**usual, **opts}
        return name

    def addHost(self, name: str, **opts: Any) -> str:
        return self.note("addHost", name, self.hopts, opts)

    addNode = addHost

    def addSwitch(self, name: str, **opts: Any) -> str:
        return self.note("addSwitch", name, self.sopts, opts)

    def addStation(self, name: str, **opts: Any) -> str:
        return self.note("addStation", name, self.hopts, opts)

    def addCar(self, name: str, **opts: Any) -> str:
        return self.note("addCar", name, self.hopts, opts)

    def addAccessPoint(self, name: str, **opts: Any) -> str:
        return self.note("addAccessPoint", name, self.sopts, opts)

    def addLink(self, node1: str, node2: str | None = None, port1: int | None = None, port2: int | None = None,
                key: Any = None, **opts: Any) -> int:  # fmt: skip
        ports = {name: port for name, port in (("port1", port1), ("port2", port2)) if port is not None}
        self.joined.append((node1, node2, {**self.lopts, **ports, **opts}))
        return len(self.joined) - 1

    def nodes(self, sort: bool = True) -> list[str]:
        return sorted(self.noted) if sort else list(self.noted)

    def isSwitch(self, name: str) -> bool:
        return self.noted[name][0] in ("addSwitch", "addAccessPoint")

    def hosts(self, sort: bool = True) -> list[str]:
        return [name for name in self.nodes(sort) if self.noted[name][0] == "addHost"]

    def stations(self, sort: bool = True) -> list[str]:
        return [name for name in self.nodes(sort) if self.noted[name][0] in ("addStation", "addCar")]

    def switches(self, sort: bool = True) -> list[str]:
        return [name for name in self.nodes(sort) if self.noted[name][0] == "addSwitch"]

    def aps(self, sort: bool = True) -> list[str]:
        return [name for name in self.nodes(sort) if self.noted[name][0] == "addAccessPoint"]

    def links(self, sort: bool = False, withKeys: bool = False, withInfo: bool = False) -> list[Any]:
        return [(a, b, info) if withInfo else (a, b) for a, b, info in self.joined]

    def nodeInfo(self, name: str) -> dict[str, Any]:
        return self.noted[name][1]


class SingleSwitchTopo(Topo):
    """k hosts at one switch."""

    def build(self, k: int = 2, **_: Any) -> None:
        s1 = self.addSwitch("s1")
        for number in range(1, k + 1):
            self.addLink(self.addHost(f"h{number}"), s1)


class SingleSwitchReversedTopo(Topo):
    """k hosts at one switch, with the ports in reverse order."""

    def build(self, k: int = 2, **_: Any) -> None:
        s1 = self.addSwitch("s1")
        for number in range(1, k + 1):
            self.addLink(self.addHost(f"h{number}"), s1, port1=0, port2=k - number + 1)


class MinimalTopo(SingleSwitchTopo):
    """Two hosts at one switch."""

    def build(self, k: int = 2, **_: Any) -> None:
        super().build(k=2)


class LinearTopo(Topo):
    """k switches in a row, with n hosts each."""

    def build(self, k: int = 2, n: int = 1, **_: Any) -> None:
        last = None
        for number in range(1, k + 1):
            switch = self.addSwitch(f"s{number}")
            for each in range(1, n + 1):
                self.addLink(self.addHost(f"h{number}" if n == 1 else f"h{each}s{number}"), switch)
            if last:
                self.addLink(switch, last)
            last = switch


class TreeTopo(Topo):
    """A tree of switches with hosts as leaves."""

    def build(self, depth: int = 1, fanout: int = 2, **_: Any) -> None:
        self.hosts_so_far, self.switches_so_far = 0, 0
        self.grow(depth, fanout)

    def grow(self, depth: int, fanout: int) -> str:
        if not depth:
            self.hosts_so_far += 1
            return self.addHost(f"h{self.hosts_so_far}")
        self.switches_so_far += 1
        root = self.addSwitch(f"s{self.switches_so_far}")
        for _ in range(fanout):
            self.addLink(root, self.grow(depth - 1, fanout))
        return root


class TorusTopo(Topo):
    """x by y switches in rows and columns that are rings, with n hosts each. It needs stp=True, or a controller."""

    def build(self, x: int = 3, y: int = 3, n: int = 1, **_: Any) -> None:
        there = {}
        for i in range(x):
            for j in range(y):
                place = f"{i + 1}x{j + 1}"
                switch = there[i, j] = self.addSwitch(f"s{place}", dpid=f"{i + 1:x}{j + 1:x}")
                for each in range(1, n + 1):
                    self.addLink(self.addHost(f"h{place}" if n == 1 else f"h{place}x{each}"), switch)
        for (i, j), switch in there.items():
            self.addLink(switch, there[i, (j + 1) % y])
            self.addLink(switch, there[(i + 1) % x, j])


class SingleAPTopo(Topo):
    """k stations around one access point."""

    def build(self, k: int = 2, **_: Any) -> None:
        ap1 = self.addAccessPoint("ap1", ssid="my-ssid", mode="g", channel=1)
        for number in range(1, k + 1):
            self.addLink(self.addStation(f"sta{number}"), ap1)


class LinearWirelessTopo(Topo):
    """k access points in a row, wired, with n stations each."""

    def build(self, k: int = 2, n: int = 1, **_: Any) -> None:
        last = None
        for number in range(1, k + 1):
            ap = self.addAccessPoint(f"ap{number}", ssid=f"ssid-ap{number}", mode="g", channel=1,
                                     position=f"{50 * number},50,0")  # fmt: skip
            for each in range(1, n + 1):
                name = f"sta{number}" if n == 1 else f"sta{each}ap{number}"
                self.addLink(self.addStation(name, position=f"{50 * number},{40 + each},0"), ap)
            if last:
                self.addLink(ap, last)
            last = ap


class MinimalWirelessTopo(SingleAPTopo):
    """Two stations and an access point."""

    def build(self, k: int = 2, **_: Any) -> None:
        super().build(k=2)
