# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and wires that a script adds to a running network. Hosts, switches and wires are made without a plan of the
whole network. For radios the network is planned again: what is new in the plan is made, at places that the air keeps
free, as it counts its stations when it starts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.lab import RESERVE
from emulation.features.mininet.link import Link
from emulation.features.mininet.node import Node
from emulation.features.mininet.roles import Bridge
from emulation.features.mininet.shaping import Link as Shaped
from emulation.lane.air import stations_of
from emulation.lane.distribution_system import Distribution
from emulation.lane.errors import Misuse
from emulation.lane.interfaces import radio
from emulation.lane.interfaces import wired as ends
from emulation.lane.links import wlan
from emulation.plan.checks import as_misuse

if TYPE_CHECKING:
    from emulation.features.mininet.lab import Lab

NUMBERS = itertools.count(1)


def open_node(lab: Lab, node: Node) -> None:
    """Make the namespace of a node without radio. Raises OSError."""
    lab.take(node)
    open_planned(lab, node, {
        "name": node.name, "kind": node.kind, "position": list(node.position), "sysctl": {}, "interfaces": [],
        "bridge": node.planned() if isinstance(node, Bridge) else None,
    })  # fmt: skip
    if made := lab[node.name].switch:
        made.start()


def open_planned(lab: Lab, node: Node, plan: dict[str, Any]) -> None:
    """Make a node's namespace by its plan. Raises OSError."""
    node.lane = made = lab[node.name]  # type: ignore[assignment]
    made.plan = plan
    made.private = node.private()
    lab.delay_starts(made)
    made.open()
    lab.cleanup.callback(made.close)


def open_radios(lab: Lab, node: Node) -> None:
    """Make a node with radios. A client looks for an access point, and any other radio is idle until it is put on a
    link. Raises Misuse if the air has no place for it; OSError."""
    again = type(lab)(lab.mininet)
    again.waypoints = lab.waypoints
    check_place(lab, again, node)
    plan = again.build()
    mine = next(each for each in plan["nodes"] if each["name"] == node.name)
    before_links = [*lab.links.values()]
    changed = move_links(lab, again)
    new = [link for link in lab.links.values() if link not in before_links]
    for link in new:
        lab.cleanup.callback(link.stop)
    lab.take(node)
    lab.plan["nodes"].append(mine)
    lab.plan["air"] |= {what: plan["air"][what] for what in ("power_mdbm", "delay_ns")}
    lab.plan["motion"], lab.planned_spec = plan["motion"], again.planned_spec
    lab.motion.widen(len(mine["interfaces"]))
    open_planned(lab, node, mine)
    made: Any = lab[node.name]
    made.interfaces = [radio.Interface(made, each) for each in mine["interfaces"]]
    if lab.air:
        for station in stations_of({**lab.plan, "nodes": [mine]}):
            lab.air.add_station(station, lab.plan["air"])
    lab.update_air(made, made.spec)
    served = [link for link in lab.links.values() if isinstance(link, wlan.Link)]
    with lab.halted() as loop:
        for each in made.interfaces:
            lab.cleanup.callback(each.close)
        lab.take_all(made.interfaces)
        before = [len(link.programs.running) for link in served]
        lab.join_links(made.interfaces)
        for link, first in zip(served, before, strict=True):
            if link in new:
                link.watch(loop)
            else:
                link.programs.watch(loop, first)
        if made.switch:
            made.switch.start()
        for interface in changed:
            served_by: Any = lab.link_of(interface)
            served_by.restart(interface, loop)
        lab.distribution.close()
        lab.distribution = Distribution(lab)


def check_place(lab: Lab, again: Lab, node: Node) -> None:
    """Check that the running air has a place for a node's radios, and what they need. Raises Misuse."""
    call = f"{node.name}: the network is already built"
    instead = "add it before net.build()"
    if not any(interface.on_air for interface in lab.interfaces()) or lab.plan.get("medium"):
        raise Misuse(f"{call}, without an air of its own: {instead}")
    if lab.plan["routing"]["kind"] != "none" or (lab.plan["motion"] or {}).get("steps") or lab.mininet.medium.by_links:
        raise Misuse(f"{call}, and its routing, motion or error_prob is planned for the radios that it has: {instead}")
    if (lab.mode, lab.bands) != (again.mode, again.bands | lab.bands):
        raise Misuse(f"{call} with mode {lab.mode!r}, and cannot have another mode or band: {instead}")
    if lab.air and len(lab.air.names) + len(node.wintfs) > lab.air.places:
        raise Misuse(f"{call}, and has places for {RESERVE} more radios only: {instead}")


def move_links(lab: Lab, again: Lab) -> list[Any]:
    """Give the planned interfaces the running network's links, and a link of the plan that it has not. Return the
    interfaces of stations whose access points are others now."""
    running = {each.name: each for each in lab.interfaces()}
    planned = {each["name"]: each for node in again.plan["nodes"] for each in node["interfaces"]}
    names: dict[str, str] = {}  # of links, by those in the new plan
    for name, each in planned.items():
        link = again.links[each["link"]]
        if (mine := running.get(name)) and type(lab.link_of(mine)) is type(link):
            names[each["link"]] = mine.plan["link"]
    for link in again.plan["links"]:
        if link["name"] not in names and link["kind"] != "wired":
            names[link["name"]] = name = f"late{next(NUMBERS)}"
            lab.links[name] = again.links[link["name"]]
            lab.plan["links"].append(link)
            link["name"] = name
    changed = []
    for name, each in planned.items():
        each["link"] = names.get(each["link"], each["link"])
        mine, new = running.get(name), each.get("wlan")
        if mine and new and new.get("networks") and new["networks"] != mine.plan.get("wlan", {}).get("networks"):
            mine.plan |= {what: each[what] for what in ("link", "wlan", "aps", "passphrase", "wmm")}
            changed.append(mine)
    return changed


def open_wire(lab: Lab, link: Link) -> None:
    """Make a wire. Raises Misuse or OSError."""
    name = f"late{next(NUMBERS)}"
    with as_misuse("addLink"):
        made = Shaped({"name": name, "kind": "wired", **Shaped.check(link.settings)})
    lab.links[name] = made
    with ends.Interface.common() as common:
        for intf in (link.intf1, link.intf2):
            assert intf
            node: Any = intf.node.lane
            intf.mac = intf.mac or (0x020001000000 + next(NUMBERS)).to_bytes(6, "big").hex(":")
            plan: dict[str, Any] = {
                "name": intf.name, "kind": "wired", "link": name, "address": intf.mac, "qdisc": None, "neighbours": {},
                "ip": f"{intf.ip}/{intf.prefixLen}" if intf.ip and not node.join_bridge else None,
            }  # fmt: skip
            intf.lane = end = ends.Interface(node, plan)
            end.open(common)
            lab.cleanup.callback(end.close)
            node.interfaces.append(end)
            made.take(end)
            end.configure()
            if node.switch:
                node.switch.start()
