# SPDX-License-Identifier: BSD-3-Clause
"""The network of `emulation.net` for a script's calls, with Mininet's names and addresses.

`Lab` gets nodes, links and motion as from any script. `revised` then puts Mininet's names of interfaces, its addresses
and its access points' networks into the plan, which is plain JSON. So the rest of the lab does not depend on Mininet.
What happens from `Mininet.build` to `stop` is kept like a run."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import topologies
from emulation.features.mininet import shaping
from emulation.features.mininet.access import MASTER, give
from emulation.features.mininet.interface import Intf, WIntf
from emulation.features.mininet.modes import freq_of
from emulation.features.mininet.roles import Bridge
from emulation.lane.errors import Misuse
from emulation.lane.links import wlan
from emulation.lane.motion import Trajectory
from emulation.net import Net
from emulation.plan.motion import stops
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet
    from emulation.features.mininet.node import Node
    from traffic.loop import Loop

MOVING_S, STEPPING_S = 100_000.0, 600.0  # how far ahead motion is planned; and if the air needs steps
BUFFERS = {"send_buffer": "auto", "receive_buffer": "auto"}  # between wires, as a machine's iperf has them
FORWARD = "net.ipv4.ip_forward"
RESERVE = 16  # places for radios that are added while the network runs
LONGEST_SSID = 32  # bytes: IEEE 802.11-2020, 9.4.2.2
OF_HWSIM = "02:00:00:{:02x}:{:02x}:00"  # in the order of stations, cars and access points
OTHERS = "02:00:02"  # begins addresses of interfaces whose planned ones the script gave to others
REACHED = {FORWARD: "0"}  # Mininet's nodes do not forward


class Lab(Net):
    """The network of a Mininet script. Methods raise Misuse."""

    def __init__(self, net: Mininet) -> None:
        self.mininet = net
        self.mode, medium = net.medium.mode(), net.medium.options()
        self.bands = net.medium.bands() or {2}
        long_s = STEPPING_S if net.medium.stepped() else MOVING_S
        routing = net.routing or "none"
        own = {"routing": routing, "unreachable": True, "seconds": long_s, **({} if net.medium.radios() else BUFFERS)}
        super().__init__(**{**medium, **own, **net.options})
        self.waypoints: dict[str, list[Waypoint]] = {}
        self.sessions = contextlib.ExitStack()
        self.order: dict[str, list[Intf]] = {}  # of interfaces in the plan, by node
        nodes = net.all_nodes()
        planned = [node for node in nodes if node.intfs or node.kind in ("station", "ap")]
        for node in planned or nodes:  # others are made when the network runs
            self.take(node)
        self.join()

    def take(self, node: Node) -> None:
        """Add a node. Raises Misuse."""
        position, settings = (0.0, 0.0, 0.0), dict[str, Any]()
        if node.kind in ("station", "ap"):
            medium = self.mininet.medium
            position, settings = node.position, {**medium.settings_of(node.wintf()), **medium.mode_of(node)}
        if isinstance(node, Bridge):
            settings |= node.bridge()
        made = self.add(node.kind, node.name, position, settings)
        if early := node.early:  # it has a namespace already
            for name in ("apart", "namespace", "original_namespace", "route", "cleanup"):
                setattr(made, name, getattr(early, name))

    def join(self) -> None:
        """Make the links: one for each cell, mesh and channel, one for access points, and the wires."""
        cells: dict[tuple[str, str, int, int], list[Intf]] = {}
        served, idle = list[Intf](), list[Intf]()
        radios = self.mininet.medium.radios()
        masters = any(intf.role == MASTER for intf in radios)
        for intf in radios:
            if len(intf.ssid.encode()) > LONGEST_SSID:
                raise Misuse(f"{intf.name}: ssid={intf.ssid!r}: a name has {LONGEST_SSID} bytes at most")
            if intf.role in ("adhoc", "mesh", "ocb"):
                freq = freq_of(intf.name, intf.mode, intf.channel)
                cell, turn = (intf.role, intf.ssid, freq), 0
                while any(each.node is intf.node for each in cells.get((*cell, turn), ())):
                    turn += 1  # a further radio of a node in the same cell is on a link of its own
                cells.setdefault((*cell, turn), []).append(intf)
            else:
                (served if masters else idle).append(intf)
        for (role, ssid, freq, _), members in cells.items():
            wide = {"width": max(intf.width for intf in members)} if self.mininet.medium.is_later() else {}
            self.put(members, role, freq=freq, **wide, **({"ssid": ssid} if ssid else {}))
        if served:
            self.put(served, "wlan")
        if idle:
            self.put(idle, wlan.Idle)
        for link in self.mininet.wires():
            spare = {"spare": True} if link in self.mininet.spare else {}
            self.put([link.intf1, *([link.intf2] if link.intf2 else [])], shaping.Link, **link.settings, **spare)

    def put(self, members: list[Any], cls: Any, **settings: Any) -> None:
        """Put interfaces on a link. The plan has a node's interfaces in the order of its links."""
        for intf in members:
            self.order.setdefault(intf.node.name, []).append(intf)
        self.addLink(*(self[intf.node.name] for intf in members), cls=cls, **settings)

    def network(self) -> topologies.Network:
        motion = {name: tuple(path) for name, path in self.waypoints.items()}
        return topologies.Network.model_validate({**dict(super().network()), "motion": motion})

    def revised(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Replace the plan's names and addresses by Mininet's."""
        by_name = {node.name: node for node in self.mininet.all_nodes()}
        now: dict[str, str] = {}  # the new IP and hardware addresses, by the planned ones
        said = {intf.mac for there in self.order.values() for intf in there}
        wireless = [*self.mininet.stations, *self.mininet.cars, *self.mininet.aps]
        radios = sorted(self.mininet.medium.radios(), key=lambda intf: wireless.index(intf.node))
        usual: dict[Intf, str] = {intf: OF_HWSIM.format(*divmod(at, 256)) for at, intf in enumerate(radios)}
        for planned in plan["nodes"]:
            node = by_name[planned["name"]]
            planned["sysctl"].update(REACHED if self.mininet.routing is None else {})
            if node.early:
                del planned["sysctl"][FORWARD]  # the script decides
            if self.mininet.uses_ip6:
                planned["sysctl"].update({name: "0" for name in planned["sysctl"] if name.endswith("disable_ipv6")})
            if planned["bridge"]:
                planned["bridge"] = node.planned()
            order = sorted(self.order[node.name], key=lambda intf: not isinstance(intf, WIntf))  # radios come first
            for intf, interface in zip(order, planned["interfaces"], strict=True):
                before = str(interface["ip"] or "").partition("/")[0]
                interface["name"] = intf.name
                free = usual.get(intf, interface["address"])
                free = OTHERS + free[len(OTHERS) :] if free in said else free
                address = intf.mac or free
                now[interface["address"]], interface["address"] = address, address
                interface["ip"] = f"{intf.ip}/{intf.prefixLen}" if intf.ip and not planned["bridge"] else None
                now.setdefault(before, intf.ip or before)
        for planned in plan["nodes"]:
            for interface in planned["interfaces"]:
                known = interface["neighbours"].items()
                interface["neighbours"] = {now.get(ip, ip): now.get(address, address) for ip, address in known}
        plan["air"]["reserve"] = RESERVE
        medium = self.mininet.medium
        give(plan, {intf.name: intf for intf in medium.radios()}, medium, bool(self.waypoints) or self.mininet.mobile)
        return plan

    def begin(self, loop: Loop) -> None:
        super().begin(loop)
        self.mininet.begin(loop, self.began_ns)

    def go(self, paths: dict[str, list[Waypoint]]) -> None:
        """Move nodes along these waypoints from now on. Raises Misuse or OSError."""
        table, now = self.table(self.network()), time.monotonic_ns()
        if not self.motion.air_has_trajectories:
            self.motion.use_distances(self.radio_table(table))
        for name, path in paths.items():
            self.motion.set_trajectory(self.nodes[name], Trajectory(stops(name, path), now))

    def stop(self) -> None:
        self.sessions.close()
        super(Net, self).stop()  # without the prompt of `emulation.net`

    @contextlib.contextmanager
    def halted(self) -> Any:
        """Stop reading in the background for this block, and yield the loop that reads."""
        if not self.recording:
            raise ValueError("nothing is recorded")
        with self.recording[1].paused():
            yield self.recording[1].loop
