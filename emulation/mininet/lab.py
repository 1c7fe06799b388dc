# SPDX-License-Identifier: BSD-3-Clause
"""The network of `emulation.net` that a script's calls amount to, under Mininet's names and addresses.

`Lab` is asked for nodes, links and motion as any script asks; `revised` then gives the plan, which is plain JSON,
Mininet's names of interfaces, its addresses and its access points' own networks. So the rest of the lab knows nothing
of Mininet.
From `begin_session` to `stop` all that happens is kept as a run is.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import topologies
from emulation.lane.links.infrastructure import Security
from emulation.lane.motion import Way
from emulation.mininet import wlan
from emulation.mininet.interface import WIntf, freq_of
from emulation.mininet.words import Unsupported
from emulation.net import Net
from emulation.plan.motion import stops
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.mininet.net import Mininet
    from emulation.mininet.node import Node
    from traffic.loop import Loop

SECURITY = {"": "open", "open": "open", "wpa2": "wpa2", "wpa3": "wpa3"}
MOVING_S, STEPPING_S = 100_000.0, 600.0  # how long motion is planned ahead; and where the air must be told each step
REACHED = {"net.ipv4.ip_forward": "0"}  # Mininet's nodes are hosts


class Lab(Net):
    """The network of a script of Mininet's. Raises PlanError where it cannot be."""

    def __init__(self, net: Mininet) -> None:
        self.mininet = net
        medium = net.medium.options()
        long_s = STEPPING_S if "shadowing" in medium else MOVING_S
        routing = net.routing or "none"
        super().__init__(**{**medium, "routing": routing, "unreachable": True, "seconds": long_s, **net.options})
        self.waypoints: dict[str, list[Waypoint]] = {}
        self.sessions = contextlib.ExitStack()
        for node in net.all_nodes():
            self.take(node)
        self.join()

    def take(self, node: Node) -> None:
        """One node. Raises PlanError."""
        adders: dict[str, Callable[..., Any]] = {
            "station": self.addStation, "ap": self.addAccessPoint, "host": self.addHost, "switch": self.addSwitch
        }  # fmt: skip
        settings: dict[str, Any] = {}
        if node.kind in ("station", "ap"):
            settings = {"position": node.position, "tx_power_dbm": self.mininet.medium.power_of(node.wintf())}
        adders[node.kind](node.name, **settings)

    def join(self) -> None:
        """The links of radios, one for each cell, mesh and channel; that of all access points; and the wires."""
        cells: dict[tuple[str, str, int], list[str]] = {}
        infrastructure, idle = list[str](), list[str]()
        for intf in self.mininet.medium.radios():
            if intf.role in ("adhoc", "mesh", "ocb"):
                freq = freq_of(intf.name, intf.mode, intf.channel)
                cells.setdefault((intf.role, intf.ssid, freq), []).append(intf.node.name)
            elif self.mininet.aps:
                infrastructure.append(intf.node.name)
            else:
                idle.append(intf.node.name)
        for (role, ssid, freq), names in cells.items():
            self.addLink(*map(self.__getitem__, names), cls=role, freq=freq, **({"ssid": ssid} if ssid else {}))
        if infrastructure:
            self.addLink(*map(self.__getitem__, infrastructure), cls=wlan.Link)
        if idle:
            self.addLink(*map(self.__getitem__, idle), cls=wlan.Idle)
        for link in self.mininet.wires():
            assert link.intf2
            self.addLink(self[link.intf1.node.name], self[link.intf2.node.name], cls="wired", **link.settings)

    def network(self) -> topologies.Network:
        motion = {name: tuple(way) for name, way in self.waypoints.items()}
        return topologies.Network.model_validate({**dict(super().network()), "motion": motion})

    def revised(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Mininet's names and addresses instead of the plan's own."""
        by_name = {node.name: node for node in self.mininet.all_nodes()}
        now = {}  # addresses, by those that were planned
        for planned in plan["nodes"]:
            node = by_name[planned["name"]]
            planned["sysctl"].update(REACHED if self.mininet.routing is None else {})
            if self.mininet.uses_ip6:
                planned["sysctl"].update({name: "0" for name in planned["sysctl"] if name.endswith("disable_ipv6")})
            intfs = [*node.wintfs.values(), *(each for each in node.intfList() if each not in node.wintfs.values())]
            for intf, interface in zip(intfs, planned["interfaces"], strict=True):
                before = str(interface["ip"] or "").partition("/")[0]
                interface["name"] = intf.name
                interface["address"] = intf.mac or interface["address"]
                interface["ip"] = f"{intf.ip}/{intf.prefixLen}" if intf.ip and not planned["bridge"] else None
                if before and before not in now:
                    now[before] = intf.ip or before, interface["address"]
        for planned in plan["nodes"]:
            for interface in planned["interfaces"]:
                there = [now.get(ip, (ip, address)) for ip, address in interface["neighbours"].items()]
                interface["neighbours"] = dict(there)
        self.give_access(plan, by_name)
        return plan

    def give_access(self, plan: dict[str, Any], by_name: dict[str, Node]) -> None:
        """Say of each radio of an access point's, and of stations that may come to one, which network it is."""
        of_link = {link["name"]: link for link in plan["links"]}
        radios = {interface["name"]: interface for node in plan["nodes"] for interface in node["interfaces"]}
        aps = {}
        for ap in self.mininet.aps:
            for intf in ap.wintfs.values():
                aps[intf.name] = radios[intf.name]["wlan"] = access(intf)
        for node in by_name.values():
            for intf in node.wintfs.values():
                interface = radios[intf.name]
                if node.kind == "station" and "aps" in interface:
                    common = of_link[interface["link"]]
                    interface["wlan"] = self.client(intf, aps, interface["aps"], float(common["roam_dbm"]))

    def client(self, intf: WIntf, aps: dict[str, dict[str, Any]], near: list[str], roam_dbm: float) -> dict[str, Any]:
        """A station's `wlan`: what it may come to, first that to which the script has linked it."""
        linked = intf.link.intf1.name if intf.link and intf.link.intf1 is not intf else None
        linked = linked or (intf.link.intf2.name if intf.link and intf.link.intf2 else None)
        moving = bool(self.waypoints) or self.mininet.mobile
        there = dict(aps)
        if linked in aps and not moving:
            there = {linked: aps[linked]}
        elif not linked and intf.ssid:
            there = {name: one for name, one in aps.items() if one["ssid"] == intf.ssid} or there
        nearest = min(there, key=lambda name: intf.node.get_distance_to(self.mininet[name.rpartition("-")[0]]))
        first = linked if linked in there else nearest
        order = [there[first], *(one for name, one in there.items() if name != first)]
        networks: dict[str, dict[str, Any]] = {}
        for one in order:
            mine = own_key(intf, one)
            mine = networks.setdefault(one["ssid"], {**wlan.plan_of(mine), "freqs": [], "roams": False})
            mine["roams"] = bool(mine["freqs"])
            mine["freqs"] = list(dict.fromkeys([*mine["freqs"], one["freq"]]))
        alone = len(there) == 1 and order[0]["security"] == "open" and not moving
        begin = networks[order[0]["ssid"]]
        return {**wlan.plan_of(begin), "roams": begin["roams"], "roam_dbm": roam_dbm,
                "client": "kernel" if alone else "wpa_supplicant", "networks": list(networks.values())}  # fmt: skip

    def in_session(self) -> dict[str, Any] | None:
        motion: dict[str, Any] | None = self.plan["motion"]
        return motion

    def begin(self, loop: Loop) -> None:
        super().begin(loop)
        self.mininet.begin(loop, self.began_ns)

    def go(self, ways: dict[str, list[Waypoint]]) -> None:
        """Let nodes go along these waypoints from now on. Raises PlanError, OSError."""
        table, now = self.table(self.network()), time.monotonic_ns()
        if not self.motion.known:
            self.motion.by_distance(table.planned)
        for name, way in ways.items():
            self.motion.steer(self.nodes[name], Way(stops(name, way), now))

    def begin_session(self) -> None:
        """From now on all is kept."""
        self.sessions.enter_context(self.session())

    def stop(self) -> None:
        self.sessions.close()
        super().stop()

    @contextlib.contextmanager
    def halted(self) -> Any:
        """While nothing is read in the background."""
        with self.recording[1].halted() if self.recording else contextlib.nullcontext():
            yield


def access(intf: WIntf) -> dict[str, Any]:
    """What network an access point's interface is. Raises Unsupported."""
    security = SECURITY.get(intf.encrypt or "")
    if security is None:
        there = ", ".join(word for word in SECURITY if word)
        raise Unsupported(f"{intf.name}: encrypt={intf.encrypt!r}: there are: {there}")
    if (security != Security.OPEN) != bool(intf.passwd):
        raise Unsupported(f"{intf.name}: encrypt and passwd belong together: encrypt='wpa2', passwd='…'")
    ssid = intf.ssid or f"{intf.node.name}-ssid"
    freq = freq_of(intf.name, intf.mode, intf.channel)
    return {"ssid": ssid, "freq": freq, "security": security, "passphrase": intf.passwd}


def own_key(intf: WIntf, ap: dict[str, Any]) -> dict[str, Any]:
    """An access point's network as a station knows it: with its own passphrase, if it was given one."""
    if ap["security"] == "open" or not intf.passwd:
        return ap
    return {**ap, "passphrase": intf.passwd}
