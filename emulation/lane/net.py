# SPDX-License-Identifier: BSD-3-Clause
"""A network of nodes, made from a plan, which has every number (docs/interfaces.md, section 1).

Node: a host or router. Node sta1 is the network namespace sta1 of `ip netns`, and programs in it see only its
interfaces (`emulation.lane.node`).

Interface: connects a node to a link, such as the radio sta1-wlan0 (`emulation.lane.interfaces`).

Link: joins radios into a network (`emulation.lane.links`).

Air: decides which frames arrive (`emulation.lane.air`); without one, all radios hear each other perfectly.

Routing: how packets find their way (`emulation.lane.routing`).

Applications: the traffic of a run (`traffic.applications`).

Recorders: what a run writes down (`emulation.lane.recorders`).

Motion and presence: where nodes are, and when they come and go (`emulation.lane.motion`, `emulation.lane.presence`).

Net: all of these together. It does not depend on any kind of them. The network of a script is a `Net` that makes its
own plan (`emulation.net`).

One Python program sets everything up. It opens sockets in the nodes' namespaces by entering each of them for a moment,
and never runs `ip` or `iw`. So starting a network takes milliseconds.
"""

from __future__ import annotations

import contextlib
import importlib
import os

from emulation.lane import interfaces, links, routing
from emulation.lane.clock import is_real, settle, wait_until_settled
from emulation.lane.distribution_system import Distribution
from emulation.lane.errors import Misuse
from emulation.lane.measurement import Measurement
from emulation.lane.motion import Motion
from emulation.lane.node import Node, set_file
from emulation.lane.presence import Presence
from traffic.applications import Applications
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from emulation.lane.air import Air
    from emulation.lane.links import Link
    from emulation.lane.node import Interface
    from emulation.lane.routing import Routing

    Progress = Callable[[float, float], None]


BY_PLAN = "kernel, by plan"  # where a setting of the plan that no user chose is noted
USABLE_FRACTION = 0.9  # of a lane's memory, at least; the kernel takes the rest
PARAMETERS = "/sys/module/{}/parameters/{}"
TCP_MEMORY = "/proc/sys/net/ipv4/tcp_mem"  # of all nodes; missing in a network namespace of another kernel


def ignore_progress(done: float, air_s: float) -> None:
    """Ignore progress."""


def set_memory(memory: dict[str, Any]) -> list[dict[str, object]]:
    """Set TCP's memory as planned, and return the settings. Raises Misuse if the lane has too little memory."""
    has_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if has_mb < memory["lane_mb"] * USABLE_FRACTION:
        raise Misuse(
            f"this network takes {memory['needed_mb']} MB, and its lane has {has_mb}: a lane for a script or a prompt "
            "is made before its network is known; run a topology, or use fewer flows or fewer stations in range"
        )
    if not memory["tcp_pages"] or not os.path.exists(TCP_MEMORY):
        return []
    return [set_file(BY_PLAN, "net.ipv4.tcp_mem", TCP_MEMORY, " ".join(map(str, memory["tcp_pages"])))]


class Net:
    """A network: `start` it, use it or `run` it, `stop` it. A `with` block always stops it.

    The lane gives the air's module in $DCFLAB_AIR and the folder for results in $DCFLAB_RUN. Without a module, all
    radios hear each other.
    """

    def __init__(self) -> None:
        self.air_module, self.folder = os.environ.get("DCFLAB_AIR", ""), os.environ.get("DCFLAB_RUN", ".")
        self.plan: dict[str, Any] = {}
        self.nodes: dict[str, Node] = {}
        self.links: dict[str, Link] = {}
        self.settings: list[dict[str, object]] = []
        self.started, self.runs, self.combines = False, 0, False  # number of runs since it started
        self.air: Air | None = None
        self.routing: Routing | None = None
        self.motion, self.presence = Motion(self), Presence(self)
        self.calls: list[tuple[float, Callable[[], None]]] = []  # for the next run
        self.cleanup = contextlib.ExitStack()

    @classmethod
    def from_plan(cls, plan: dict[str, Any]) -> Self:
        """Make the network of a plan. Raises ValueError if a kind does not exist."""
        net = cls()
        for node in plan["nodes"]:
            net.nodes[node["name"]] = Node(node["name"], tuple(node["position"]), node["kind"])
        net.adopt(plan)
        return net

    def adopt(self, plan: dict[str, Any], classes: dict[str, type[Link]] | None = None) -> None:
        """Become the network of this plan; `classes` has a script's own link classes, by link name."""
        self.plan = plan
        for link in plan["links"]:
            self.links[link["name"]] = ((classes or {}).get(link["name"]) or links.find(link["kind"]))(link)
        for node in plan["nodes"]:
            mine = self.nodes[node["name"]]
            mine.plan = node
            self.delay_starts(mine)
            mine.interfaces = [interfaces.find(each["kind"])(mine, each) for each in node["interfaces"]]
        self.routing = routing.find(plan["routing"]["kind"]).Routing(plan["routing"])

    def delay_starts(self, node: Node) -> None:
        """Have programs of a node begin late, if hosts have delays."""
        if self.plan["air"]["host_delay_ns"] and not is_real():
            from random import Random

            node.starts = Random(f"{self.plan['seed']} {node.name}")

    def build(self) -> dict[str, Any]:
        """Return the plan. A derived class makes it here."""
        return self.plan

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def interfaces(self) -> list[Any]:
        """Return the interfaces of all nodes, in order. The air numbers its stations in this order."""
        return [interface for node in self.nodes.values() for interface in node.interfaces]

    def link_of(self, interface: Interface) -> Link:
        return self.links[interface.plan["link"]]

    def heard_by(self, node: Node) -> list[tuple[str, float | None]]:
        """Return the nodes that this one can receive, with their power in dBm (None: there is no air)."""
        if not self.air:
            return [(name, None) for name in self.nodes if name != node.name]
        radios = [interface for interface in self.interfaces() if interface.on_air]
        if not (mine := [at for at, radio in enumerate(radios) if radio.node is node]):
            return []
        least: int = self.air.station_settings[mine[0]]["rx_threshold_mdbm"]
        powers: dict[str, int] = {}
        for number, radio in enumerate(radios):
            if radio.node is not node:
                there = self.air.received_powers(number)
                strongest = max((power for at in mine if (power := there[at]) is not None), default=least - 1)
                if strongest >= least:
                    powers[radio.node.name] = max(strongest, powers.get(radio.node.name, strongest))
        return [(name, power / 1000) for name, power in powers.items()]

    def start(self) -> None:
        """Make nodes, interfaces and links; return when all have met. Raises OSError if it fails, after cleaning up."""
        plan = self.build()
        self.settings.clear()
        self.runs, self.combines, self.motion, self.presence = 0, False, Motion(self), Presence(self)
        settle()
        with contextlib.ExitStack() as stack:
            for name, value in plan["module_parameters"].items():
                module, _, parameter = name.partition(".")
                self.settings.append(set_file("kernel", name, PARAMETERS.format(module, parameter), value))
            if memory := plan.get("memory"):
                self.settings += set_memory(memory)
            stack.callback(setattr, self, "air", None)
            on_air = interfaces.on_air(plan)
            if on_air and plan.get("medium"):
                other = importlib.import_module(plan["medium"]["module"])
                self.air = stack.enter_context(other.Medium())
            elif on_air and self.air_module:
                from emulation.lane.air import Air

                self.air = stack.enter_context(Air.load(self.air_module))
            if self.air:
                self.air.configure(plan)
            for node in self.nodes.values():
                node.open()
                stack.callback(node.close)
            self.open_interfaces(stack)
            for link in self.links.values():
                stack.callback(link.stop)
            self.join_links(self.interfaces())
            if switches := [node.switch for node in self.nodes.values() if node.switch]:
                switches[0].begin(switches)
            self.distribution = Distribution(self)
            stack.callback(lambda: self.distribution.close())
            assert self.routing
            stack.callback(self.routing.stop)
            self.routing.start(self)
            stack.callback(setattr, self, "started", False)
            self.started = True
            self.cleanup = stack.pop_all()

    def open_interfaces(self, stack: contextlib.ExitStack) -> None:
        """Make all interfaces; closing `stack` removes them."""
        kinds = dict.fromkeys(type(interface) for interface in self.interfaces())
        for interface in self.interfaces():
            stack.callback(interface.close)  # runs after the common sockets close, and so after the radios are gone
        self.common = {kind: stack.enter_context(kind.common()) for kind in kinds}
        self.take_all(self.interfaces())

    def take_all(self, made: Sequence[Any]) -> None:
        """Make these interfaces, on their links."""
        for interface in made:
            interface.open(self.common[type(interface)])
            self.link_of(interface).take(interface)
            interface.configure()

    def join_links(self, made: Sequence[Any]) -> None:
        """Join these interfaces, the last ones of the network, to their links, and then let them meet."""
        members = [(interface, self.link_of(interface)) for interface in made]
        count = len(self.interfaces())
        for interface, _ in members:
            interface.starting()
        for interface, link in sorted(members, key=lambda member: member[1].turn(member[0])):
            link.join(interface)
        for number, (interface, link) in enumerate(members, count - len(members)):
            link.stagger(interface, number, count)
        for interface, link in members:
            link.meet(interface)
            interface.started()

    def switch(self, node: Node, on: bool) -> None:
        """Switch a node off, or on again (`emulation.lane.presence`). Raises OSError."""
        self.presence.switch(node, on)

    def at(self, seconds: float, call: Callable[[], None]) -> None:
        """Call a function `seconds` after the start of the next run. An exception in it ends the run."""
        self.calls.append((seconds, call))

    def run(self, seconds: float, progress: Progress = ignore_progress) -> dict[str, Any]:
        """Run the plan's applications for `seconds` of lane time, and return the content of lane.json. `progress` gets
        the fraction done and the elapsed lane time in seconds, 100 times or every few seconds. Raises OSError."""
        plan = self.build()
        if self.runs:
            wait_until_settled()  # of the previous run
        self.runs += 1
        with (
            Loop() as loop,
            Applications(
                plan["applications"], self.nodes, loop, self.folder, seconds, plan["seed"], plan["sample_s"]
            ) as traffic,
            Measurement(self, loop) as measurement,
        ):
            traffic.prepare()
            batches = [application.batches for application in traffic.applications]
            self.combine(bool(batches) and all(batches))
            measurement.start()
            self.motion.start(plan["motion"], loop, measurement.started_ns)
            self.presence.start(plan["presence"], loop, measurement.started_ns)
            while self.calls:
                seconds_in, call = self.calls.pop(0)
                loop.at(measurement.started_ns + round(seconds_in * 1e9), call)
            traffic.run(progress)
            measurement.stop()
            self.presence.loop = None
            results = traffic.finish()
            traffic.samples.write(self.folder)
        return measurement.result(results)

    def combine(self, on: bool) -> None:
        """Have all interfaces combine datagrams that arrive together, or not. Raises OSError."""
        if on != self.combines:
            for interface in self.interfaces():
                interface.combine(on)
        self.combines = on

    def stop(self) -> None:
        """Remove the network. It is safe to call this at any time, and more than once."""
        self.cleanup.close()
