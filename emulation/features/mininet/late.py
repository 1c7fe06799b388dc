# SPDX-License-Identifier: BSD-3-Clause
"""Hosts, switches and wires that a script adds to a running network. They are made as at its start, without a plan of
the whole network. The air numbers its stations when it starts, so radios cannot be added."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.link import Link
from emulation.features.mininet.node import Node
from emulation.features.mininet.roles import Bridge
from emulation.features.mininet.shaping import Link as Shaped
from emulation.lane.errors import Misuse
from emulation.lane.interfaces import wired as ends
from emulation.plan.errors import as_misuse

if TYPE_CHECKING:
    from emulation.features.mininet.lab import Lab

NUMBERS = itertools.count(1)


def open_node(lab: Lab, node: Node) -> None:
    """Make a node's namespace. Raises Misuse for one with a radio; OSError."""
    if node.kind not in ("host", "switch"):
        raise Misuse(f"{node.name}: the network is already built, with its radios; add it before net.build()")
    lab.take(node)
    node.lane = made = lab[node.name]  # type: ignore[assignment]
    made.plan = {
        "name": node.name, "kind": node.kind, "position": list(node.position), "sysctl": {}, "interfaces": [],
        "bridge": node.planned() if isinstance(node, Bridge) else None,
    }  # fmt: skip
    made.private = node.private()
    made.open()
    lab.cleanup.callback(made.close)
    if made.switch:
        made.switch.start()


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
