# SPDX-License-Identifier: BSD-3-Clause
"""Bridges of switches and access points: the kernel's or Open vSwitch's, and loops of them."""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from emulation.lane.errors import Misuse
from topologies import Network
from topologies.network import BRIDGES

BRIDGE, STP, FAIL_MODE = "bridge", "stp", "fail_mode"  # settings
LINUX, OVS = "linux", "ovs"
STANDALONE, SECURE = "standalone", "secure"  # without a controller: as any bridge, or by its flows alone
VALUES: dict[str, tuple[Any, ...]] = {
    BRIDGE: (LINUX, OVS), STP: (False, True), FAIL_MODE: (STANDALONE, SECURE)
}  # the first is the default  # fmt: skip


def check_bridge(name: str, settings: dict[str, Any]) -> None:
    """Check a bridge's settings, and remove them from a node's. Raises Misuse."""
    for what, values in VALUES.items():
        if what in settings and settings[what] not in values:
            raise Misuse(f"{name}: {what}: must be {' or '.join(map(str, values))}, not {settings[what]!r}")
    if settings.get(FAIL_MODE) == SECURE and settings.get(BRIDGE) != OVS:
        raise Misuse(f"{name}: {FAIL_MODE}: only bridge={OVS!r} has flows")
    for what in VALUES:
        settings.pop(what, None)


def plan_bridge(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `bridge` of a node of the plan; `columns` are those of Open vSwitch's table Bridge."""
    kind, stp, mode = (settings.get(what, values[0]) for what, values in VALUES.items())
    own = {"stp": stp} if kind == LINUX else {"columns": {"fail_mode": mode, "stp_enable": str(stp).lower()}}
    return {"name": f"{name}-br0", "kind": kind, **own}


def check_loops(network: Network) -> None:
    """Check that bridges which learn form no loop that no spanning tree opens. Raises Misuse."""
    learning = {
        name: node.settings
        for name, node in network.nodes.items()
        if node.kind in BRIDGES and node.settings.get(FAIL_MODE) != SECURE
    }
    wires = (link for link in network.links if link.kind == "wired" and not link.settings.get("spare"))
    trees = {name for name, settings in learning.items() if settings.get(STP)}
    deaf = {name for name, settings in learning.items() if settings.get(BRIDGE) == OVS} - trees
    for _, way in closing((link.nodes for link in wires if {*link.nodes} <= {*learning}), trees, deaf):
        said = " - ".join(way)
        raise Misuse(f"{said}: a loop of bridges, whose broadcasts never end: set stp=True at each, or cut a wire")


def closing(
    wires: Iterable[tuple[str, ...]], trees: Set[str] = frozenset(), deaf: Set[str] = frozenset()
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each wire between two bridges that closes a loop with those before, and the loop's nodes.

    Not one that a spanning tree opens: at bridges of a spanning tree (`trees`) all loops end but those over a bridge
    that drops the tree's messages (`deaf`), as Open vSwitch does without one. The kernel's bridge forwards them.
    """
    there = [*enumerate(wires)]
    plain = [wire for wire in there if trees.isdisjoint(wire[1]) and deaf.isdisjoint(wire[1])]
    ways = dict(cycles(plain))
    yield from ways.items()
    heard = [wire for wire in there if deaf.isdisjoint(wire[1]) and wire[0] not in ways]
    silent = [wire for wire in there if not deaf.isdisjoint(wire[1])]
    last = {number for number, _ in silent}
    yield from (found for found in cycles(heard + silent) if found[0] in last)


def cycles(wires: Iterable[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each wire that closes a loop with those before, and the loop's nodes."""
    beyond: dict[str, list[str]] = {}
    for number, (a, b) in wires:
        if way := path(beyond, a, b):
            yield number, (*way, a)
            continue
        beyond.setdefault(a, []).append(b)
        beyond.setdefault(b, []).append(a)


def path(beyond: Mapping[str, list[str]], a: str, b: str) -> tuple[str, ...]:
    """Return the nodes from one node of a tree to another, or none."""
    ways: list[tuple[str, ...]] = [(a,)]
    while ways:
        way = ways.pop()
        if way[-1] == b:
            return way
        ways += [(*way, to) for to in beyond.get(way[-1], ()) if to not in way[-2:-1]]
    return ()
