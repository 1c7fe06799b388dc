# SPDX-License-Identifier: BSD-3-Clause
"""Routing interfaces: the lane's interface to manet.ko.

A node's radio gives its address to an interface `manet0` above it, which routes. The protocols are in
`emulation/manet/`, their control in `manet.yaml`, and its names in `manet_protocol`. `Routing` is the base class of the
kinds in `emulation.lane.routing` that use manet.ko.
"""

from __future__ import annotations

import json
import struct
import time
from socket import inet_aton, inet_ntoa

from emulation.lane import routing
from emulation.lane.manet_parameters import PARAMETERS
from emulation.lane.manet_protocol import ENTRY_KINDS, EVENTS, FAMILY, KINDS, REASONS, Command
from emulation.lane.manet_protocol import Attribute as A
from emulation.lane.netlink import DUMP, Generic, number, numbers, text
from emulation.lane.routing import Demand, Planned, Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from emulation.lane.interfaces.radio import Interface as Radio
    from emulation.lane.netlink import Attributes, Value
    from emulation.lane.network import Live, Network
    from emulation.lane.node import Node

NAME, MONITOR_NAME, MODULE = "manet0", "monitor0", "manet"
# Constants of each kind of routing that uses manet.ko.
MODULES, RECORDERS, PUNCTUAL = (MODULE,), ("manet_trace",), True
OVERHEAD = 96  # added to the radio's MTU, for source routes: MANET_HEADROOM
MTU = 1500
PROTOCOL, PRESET, SEED, MONITOR = 2, 3, 4, 5  # MANET_LINK_*: emulation/manet/link.h
PRESETS = ("rfc", "thesis", "cmu")
FARTHEST = {"aodv": "net_diameter", "dsr": "hops_most"}
FOREVER = 2**64 - 1


class Control(Generic):
    """A socket for the routing interface of the current namespace. Methods raise NetlinkError."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def _ask(self, command: int, *values: tuple[int, Any], flags: int = 0, what: str) -> list[Attributes]:
        return self.command(FAMILY, command, [(A.IFINDEX, self.index), *values], flags, f"{NAME}: {what}")

    def set(self, parameter: str, value: int) -> None:
        self._ask(Command.SET, (A.PARAMETER, parameter), (A.VALUE, value), what=f"{parameter} = {value}")

    def set_route(self, to: str, via: str, hops: int) -> None:
        """Set a route of the protocol `static`."""
        route = ((A.TO, inet_aton(to)), (A.VIA, inet_aton(via)), (A.HOPS, bytes([hops])))
        self._ask(Command.ROUTE, *route, what=f"route to {to}")

    def parameters(self) -> dict[str, int]:
        found = self._ask(Command.PARAMETERS, flags=DUMP, what="parameters")
        return {text(each[A.PARAMETER]): number(each[A.VALUE]) for each in found}

    def entries(self) -> list[dict[str, Any]]:
        """Return the node's table entries: routes, links, neighbours, requests (docs/internals.md)."""
        return [parse_entry(each) for each in self._ask(Command.ENTRIES, flags=DUMP, what="entries")]

    def counters(self) -> dict[str, Any]:
        """Return the counters; zeros are omitted."""
        found = self._ask(Command.DEVICE, what="counters")[0]
        tables = {
            "sent": (A.SENT, KINDS),
            "sent_bytes": (A.SENT_BYTES, KINDS),
            "got": (A.GOT, KINDS),
            "dropped": (A.DROPPED, REASONS),
            "dropped_control": (A.DROPPED_CONTROL, REASONS),
            "events": (A.EVENTS, EVENTS),
        }
        totals = {"forwarded": A.FORWARDED, "delivered": A.DELIVERED, "acked": A.ACKED, "lost": A.LOST}
        return {
            **{name: number(found[attribute]) for name, attribute in totals.items()},
            **{
                name: {word.lower(): n for word, n in zip(words, numbers(found[attribute]), strict=True) if n}
                for name, (attribute, words) in tables.items()
            },
        }


def parse_entry(found: Mapping[int, bytes]) -> dict[str, Any]:
    until, path = number(found[A.UNTIL_NS]), found.get(A.PATH, b"")
    return {
        "kind": ENTRY_KINDS[number(found[A.ENTRY_KIND])],
        "from": inet_ntoa(found[A.FROM]),
        "to": inet_ntoa(found[A.TO]),
        "via": inet_ntoa(found[A.VIA]),
        "hops": number(found[A.HOPS]),
        "valid": bool(number(found[A.VALID])),
        "state": text(found[A.STATE]),
        "sequence": number(found[A.SEQUENCE]),
        "until_ns": None if until == FOREVER else until,
        "mac": found[A.MAC].hex(":"),
        "waiting": number(found[A.WAITING]),
        "path": [inet_ntoa(path[at : at + 4]) for at in range(0, len(path), 4)],
    }


class Interface:
    """The routing interface of a node, above its radio."""

    def __init__(self, node: Node, radio: Radio, protocol: str, preset: str, seed: int, monitor: int | None) -> None:
        values: list[tuple[int, Value]] = [(PROTOCOL, protocol), (PRESET, preset), (SEED, struct.pack("=Q", seed))]
        route = node.route
        if monitor is not None:
            values.append((MONITOR, struct.pack("=I", monitor)))
        route.set_link(radio.index, mtu=MTU + OVERHEAD)
        route.delete_address(radio.index, radio.plan["ip"])
        route.new_link(NAME, MODULE, radio.index, values)
        self.node, self.index = node, route.index(NAME)
        with node:
            self.control = Control(self.index)

    def start(self, ip: str, metrics: dict[str, routing.Metrics]) -> None:
        """Bring the interface up. `metrics` has those of its routes for TCP, by destination."""
        self.node.route.set_link(self.index, up=True)
        self.node.route.add_address(self.index, ip)
        routing.add_metrics(self.node, self.index, metrics)

    def close(self) -> None:
        self.control.close()


def plan(
    protocol: str, reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False,
    preset: str = "rfc", **parameters: Any,
) -> list[Planned]:  # fmt: skip
    """Plan a protocol of manet.ko, which finds its neighbours itself: only its parameters.

    Nodes in range at first must meet before the run: in an IBSS, Linux drops the first frame from an unknown station.
    Raises ValueError if a preset or a parameter is invalid.
    """
    if preset not in PRESETS:
        raise ValueError(f"there is no preset {preset!r}; there are: {', '.join(PRESETS)}")
    for name, value in parameters.items():
        if name not in PARAMETERS[protocol]:
            names = ", ".join(["preset", *PARAMETERS[protocol]])
            raise ValueError(f"{protocol}: there is no parameter {name!r}; there are: {names}")
        least, most, _ = PARAMETERS[protocol][name]
        if not (str(value).isdecimal() and least <= int(value) <= most):
            raise ValueError(f"{protocol}: {name} must be a whole number from {least} to {most}, not {value!r}")
    chosen = {"protocol": protocol, "preset": preset, "parameters": {n: int(v) for n, v in parameters.items()}}
    metrics = routing.metrics_of_nodes(ips, demands)
    return [Planned({**chosen, "tcp": each}, list(near)) for each, near in zip(metrics, reach, strict=True)]


def farthest(part: dict[str, Any]) -> tuple[int, str]:
    """Return the most hops that a node's packets can take, and the parameter that limits them; for AODV and DSR."""
    name = FARTHEST[part["protocol"]]
    usual = PARAMETERS[part["protocol"]][name][2][PRESETS.index(part["preset"])]
    return part["parameters"].get(name, usual), f"{part['protocol']}'s {name}"


class Routing(routing.Routing):
    """A protocol of manet.ko on each node. `interfaces` has the routing interfaces by node name."""

    def start(self, net: Network) -> None:
        self.interfaces: dict[str, Interface] = {}
        routers = routing.routers(net)
        for number_, node in enumerate(routers):
            radio = node.radio
            chosen = node.plan["routing"]
            listens = net.plan["air"]["promiscuous"] or net.link_of(radio).type == "ocb"  # for unknown stations
            monitor = radio.add_monitor(MONITOR_NAME) if listens else None
            seed = net.plan["seed"] << 16 | number_
            made = Interface(node, radio, chosen["protocol"], chosen["preset"], seed, monitor)
            self.interfaces[node.name] = made
            for name, value in chosen["parameters"].items():
                made.control.set(name, value)
                node.note(f"{chosen['protocol']} {name}", value, None)
        for node in routers:
            self.interfaces[node.name].start(node.radio.plan["ip"], node.plan["routing"]["tcp"])
            if node.radio.plan["qdisc"]:
                node.route.delete_qdisc(node.radio.index)
                node.radio.set_qdisc(node.radio.plan["qdisc"], self.interfaces[node.name].index)

    def counters(self) -> dict[str, Any]:
        return {name: interface.control.counters() for name, interface in self.interfaces.items()}

    def stop(self) -> None:
        for interface in getattr(self, "interfaces", {}).values():
            interface.close()


def command_output(net: Live, names: list[str], pairs: list[str], as_json: bool) -> str:
    """Return the output of the prompt's command `manet`. Raises ValueError, or NetlinkError if the kernel refuses."""
    interfaces = getattr(net.routing, "interfaces", None)
    if not interfaces:
        raise ValueError("manet: no routing protocol of manet.ko runs here; use one of them, such as --routing olsr")
    for name in names:
        for parameter, _, value in (pair.partition("=") for pair in pairs):
            if not value.isdecimal():
                raise ValueError(f"manet: {parameter} must be a whole number, not {value!r}")
            interfaces[name].control.set(parameter, int(value))
    names_by_ip = {node.IP(): node.name for node in net.nodes.values()}
    controls = {name: interfaces[name].control for name in names}
    if as_json:
        values = {name: {"entries": c.entries(), "counters": c.counters(), "parameters": c.parameters()}
                for name, c in controls.items()}  # fmt: skip
        return json.dumps(values)
    lines = []
    for name, control in controls.items():
        lines.append(f"{name}:")
        lines += [f"    {format_entry(entry, names_by_ip)}" for entry in control.entries()]
        counters = control.counters()
        sent = ", ".join(f"{n} {kind}" for kind, n in counters["sent"].items())
        lost = ", ".join(f"{n} {why}" for why, n in counters["dropped"].items())
        lines.append(f"    sent {sent or 'nothing'}; forwarded {counters['forwarded']}; dropped {lost or 'nothing'}")
    return "\n".join(lines)


def format_entry(entry: Mapping[str, Any], names_by_ip: Mapping[str, str]) -> str:
    """Format a table entry for people; `names_by_ip` maps addresses to names."""

    def name(ip: str) -> str:
        return names_by_ip.get(ip, ip)

    parts = [f"{entry['kind'].replace('_', ' '):12} {name(entry['to'])}"]
    if entry["from"] != "0.0.0.0":
        parts.append(f"from {name(entry['from'])}")
    if entry["via"] not in ("0.0.0.0", entry["to"]):
        parts.append(f"via {name(entry['via'])}")
    if entry["path"]:
        parts.append("by " + " ".join(map(name, entry["path"])))
    if entry["hops"]:
        parts.append(f"{entry['hops']} hop{'s' * (entry['hops'] > 1)}")
    parts += [entry["state"]] * bool(entry["state"]) + ["invalid"] * (not entry["valid"])
    if entry["waiting"]:
        parts.append(f"{entry['waiting']} packets wait")
    if entry["until_ns"] is not None and entry["until_ns"]:
        parts.append(f"for {(entry['until_ns'] - time.monotonic_ns()) / 1e9:.1f} s")
    return ", ".join(parts)
