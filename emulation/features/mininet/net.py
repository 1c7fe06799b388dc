# SPDX-License-Identifier: BSD-3-Clause
"""`Mininet` with its methods: calls are stored, and `build` makes the network."""

from __future__ import annotations

import builtins
import math
import os
import select
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

from emulation.features.mininet import kinds, link, roads
from emulation.features.mininet.access import MANAGED, MASTER
from emulation.features.mininet.association import METHODS, AssociationControl
from emulation.features.mininet.controllers import Controller, RemoteController
from emulation.features.mininet.interface import Intf, WIntf
from emulation.features.mininet.jumps import is_client, rejoining
from emulation.features.mininet.lab import Lab
from emulation.features.mininet.late import open_node, open_wire
from emulation.features.mininet.link import Link
from emulation.features.mininet.log import output
from emulation.features.mininet.medium import Medium
from emulation.features.mininet.mobility import Mobility
from emulation.features.mininet.node import Host, Node
from emulation.features.mininet.place import answer, move_to_run_folder
from emulation.features.mininet.refusals import check, missing, note, refuse
from emulation.features.mininet.retune import become
from emulation.features.mininet.roles import NAT, SETTLED_S, Bridge, OpenFlow, Switch
from emulation.features.mininet.sockets import IP, PORT, SocketServer
from emulation.features.mininet.topo import Topo
from emulation.features.prompt.inside.traffic import play
from emulation.lane import guest, programs
from emulation.lane.clock import pause, wait_until
from emulation.lane.errors import Misuse
from emulation.plan.bridges import SECURE, closing
from traffic.loop import Loop
from traffic.ping import ping

JOINED = "infrastructure", "adhoc", "mesh", "ocb"  # links that radios of a running network can join
LISTEN = 6654  # the first port of switches
NOTICED_S = 0.1  # until the daemon of Open vSwitch knows that a wire is up, in lane time
TREE_S = 5.0  # between two looks at spanning trees, in lane time
PING_S = 1.0  # how long to wait for an answer
SPARE = "broadcasts would never end in this loop, so {} is down: with stp=True at each a spanning tree decides"
ADDS = {"host": "addHost", "switch": "addSwitch", "controller": "addController", "station": "addStation",
        "ap": "addAccessPoint"}  # fmt: skip
OF_RADIOS = "accessPoint", "station", "car", "enable_wmediumd", "enable_interference"
UNITS = {"K": ("Kbits", 1e3), "M": ("Mbits", 1e6), "G": ("Gbits", 1e9), None: ("", 0.0)}


class Mininet:
    """A network; `Mininet_wifi` adds radios. With keywords of radios, or from the first call about them on, it is one
    of these: old versions of Mininet-WiFi had only this name."""

    with_radios: type[Mininet]
    usual: ClassVar[dict[str, Any]] = {}  # the classes of nodes with radios

    def __new__(cls, *args: Any, **params: Any) -> Mininet:
        old = cls is Mininet and not params.keys().isdisjoint(OF_RADIOS)
        return super().__new__(cls.with_radios if old else cls)

    def __init__(self, topo: Any = None, switch: Any = Switch, host: Any = Host, controller: Any = Controller,
                 link: Any = link.TCLink, intf: Any = None, build: bool = True, **params: Any) -> None:  # fmt: skip
        self.begin_with(topo, link, params)
        self.of_wires |= intf.keywords if isinstance(intf, partial) else {}  # custom(TCIntf, bw=10)
        self.classes: dict[str, Any] = {"switch": switch, "host": host, "controller": controller}
        if topo is not None and build:
            self.build()

    def begin_with(self, topo: Any, link: Any, params: dict[str, Any]) -> None:
        """Initialise what both classes share. Raises Misuse."""
        check(type(self).__name__, params := kinds.newer(params), kinds.NET_TAKEN, kinds.NET_NOTED, kinds.NET_REFUSED)
        self.topo, self.link, self.params = topo, link, params
        self.hosts: list[Node] = []
        self.switches: list[Node] = []
        self.controllers: list[Node] = []
        self.stations: list[Node] = []
        self.cars: list[Node] = []
        self.aps: list[Node] = []
        self.links: list[Link] = []
        self.spare: list[Link] = []  # wires that stay down
        self.of_wires: dict[str, Any] = {}  # keywords of all wires
        self.nameToNode: dict[str, Node] = {}
        self.built, self.lab = False, None
        move_to_run_folder()
        if "DCFLAB_CLOCK" in os.environ:  # in a lane
            builtins.input = answer
        self.options: dict[str, Any] = {}
        self.filmed, self.isReplaying = bool(params.get("plot")), False
        self.drawn: dict[str, Any] = {}  # the area of the picture
        self.routing: str | None = None
        noise, cca, fading = params.get("noise_th", -91), params.get("cca_th", -90), params.get("fading_cof") or 0
        self.medium = Medium(self, noise, cca, fading)
        self.mobility_plan = Mobility(self)
        self.watchers: list[Any] = []  # background activities from `build` to `stop`
        self.controlled = False  # whether the lab chooses access points
        if method := params.get("ac_method"):
            self.setAssociationCtrl(method)
        self.next_ip, self.listening = 1, 0
        base, _, prefix = str(params.get("ipBase") or "10.0.0.0/8").partition("/")
        self.ip_base, self.prefix = base, int(prefix or 8)

    lab: Lab | None
    prompt_text = "mininet> "  # the prompt

    def __getattr__(self, name: str) -> Any:
        if type(self) is Mininet and name in dir(self.with_radios):
            self.__class__ = self.with_radios
            self.classes = {**self.with_radios.usual, **self.classes}
            return getattr(self, name)
        missing("net", name, kinds.CALLS, dir(type(self)))

    # Nodes

    def all_nodes(self) -> list[Node]:
        """Return the nodes of the lane, in the order of their addition."""
        return [node for node in self.nameToNode.values() if node.kind != "controller"]

    def __getitem__(self, name: str) -> Node:
        if name not in self.nameToNode:
            raise Misuse(f"there is no node {name}; there are: {', '.join(self.nameToNode) or 'none yet'}")
        return self.nameToNode[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nameToNode)

    def __len__(self) -> int:
        return len(self.nameToNode)

    def __contains__(self, name: object) -> bool:
        return name in self.nameToNode

    def get(self, *names: str) -> Any:
        found = [self[name] for name in names]
        return found[0] if len(found) == 1 else found

    getNodeByName = get

    def keys(self) -> list[str]:
        return list(self.nameToNode)

    def values(self) -> list[Node]:
        return list(self.nameToNode.values())

    def items(self) -> list[tuple[str, Node]]:
        return list(self.nameToNode.items())

    def add(self, name: str, cls: Any, usual: type[Node], params: dict[str, Any]) -> Any:
        """Add a node of a class, whose keywords a table has. Raises Misuse."""
        if name in self.nameToNode:
            raise Misuse(f"the node {name} exists; choose another name")
        cls, fixed = kinds.class_of(name, cls, usual)
        params = {**fixed, **params}
        if cls.kind != usual.kind:
            raise Misuse(
                f"{name}: {cls.__name__} is a {cls.kind}, not a {usual.kind}; add it with net.{ADDS[cls.kind]}"
            )
        if (cls.__init__, cls.config) == (usual.__init__, usual.config):  # a script's own class may take other keywords
            check(name, params, kinds.NODE_TAKEN[cls.kind], kinds.NODE_NOTED, kinds.NODE_REFUSED, lenient=True)
        node: Node = cls(name, **params)
        node.net = self
        if self.lab and usual.kind in ("host", "switch"):
            open_node(self.lab, node)
        self.nameToNode[name] = node
        return node

    def next_address(self) -> str:
        head, _, last = self.ip_base.rpartition(".")
        self.next_ip += 1
        number = int(last) + self.next_ip - 1
        return f"{head}.{number}/{self.prefix}"

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:
        params.setdefault("ip", self.next_address())
        node = self.add(name, cls or self.classes.get("host"), Host if cls is None else Node, params)
        self.hosts.append(node)
        return node

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Any:
        node = self.add(name, cls or self.classes.get("switch"), Switch, params)
        self.listen(node)
        self.switches.append(node)
        return node

    def listen(self, node: Node) -> None:
        """Give a switch a port, at which `ovs-ofctl … tcp:127.0.0.1:6654` finds it."""
        node.params.setdefault("listenPort", int(self.params.get("listenPort") or LISTEN) + self.listening)
        self.listening += 1

    def addController(self, name: Any = "c0", controller: Any = None, **params: Any) -> Any:
        """Add a controller, which `start` starts."""
        if not isinstance(name, str):
            name, controller = getattr(name, "name", "c0"), name
        found = controller or self.classes.get("controller") or Controller
        if callable(found) and not isinstance(found, type | partial):
            found = found(name, **params)  # a function that makes a controller
        if isinstance(found, Node):
            node = found
        else:
            cls, fixed = kinds.class_of(name, found, Controller)
            node = cls(name, **{**fixed, **params})
        node.net = self
        self.nameToNode[node.name] = node
        self.controllers.append(node)
        return node

    def addNAT(self, name: str = "nat0", connect: Any = True, inNamespace: bool = False, linkTo: Any = None,
               **params: Any) -> Any:  # fmt: skip
        """Add a host that answers for all addresses outside the network: the default route of the other nodes."""
        there = [node for node in (*self.stations, *self.hosts, *self.cars)]
        nat = self.addHost(name, cls=NAT, **params)
        if connect := linkTo or connect:
            if connect is True and not (bridges := [*self.switches, *self.aps]):
                raise Misuse(f"addNAT: {name}: there is no switch and no access point yet; add one first")
            self.addLink(nat, bridges[0] if connect is True else connect)
        via = f"via {nat.params['ip'].partition('/')[0]}"
        for node in there:
            if node.lane:
                node.cmd("ip route replace default", via)
            node.params.setdefault("defaultRoute", via)
        return nat

    @classmethod
    def init(cls) -> None:
        """No effect: a lane is ready."""

    # Links

    def addLink(self, node1: Any, node2: Any = None, port1: int | None = None, port2: int | None = None,
                cls: Any = None, **params: Any) -> Link:  # fmt: skip
        """Add a wire, the link of a radio (cls=adhoc …), or a station's access point."""
        a, b = self.node_of(node1), self.node_of(node2) if node2 is not None else None
        if controller := next((each for each in (a, b) if each and each.kind == "controller"), None):
            raise Misuse(f"addLink: {controller} is a controller, which has no links; leave it out")
        over_air = b is None or (link.pair(a, b) and params.pop("link", "") != "wired")
        usual, said = link.class_of(self.link or link.TCLink, link.TCLink, False)
        found, fixed = link.class_of(cls, usual, over_air)
        fixed = said if cls is None and found is usual else fixed
        params = {**(self.of_wires if found.role == "wired" else {}), **fixed, **params}
        call = f"addLink({a}{f', {b}' if b else ''}, cls={found.__name__})"
        its_own = found.role == "wired" and found.__init__ is not Link.__init__
        settings = {} if its_own else link.settings_of(found, call, params, self.medium.by_links)
        if self.built and (found.role not in ("wired", *JOINED) or "proto" in settings):
            raise Misuse(f"{call}: the network is already built; add this link before net.build()")
        if found is link._4address:
            made: Link = self.over_four_addresses(a, b, call)
        elif issubclass(found, link.Wireless) and found.role != "infrastructure":
            idle = (each for each in a.wintfs.values() if not each.link and each.role in ("", MASTER))
            intf = a.wintf(params.get("intf")) if params.get("intf") else next(idle, a.wintf())
            if intf.link:
                raise Misuse(
                    f"{call}: {intf} is already on a link; a radio has one link; use wlans= for several radios"
                )
            link.tune(intf, found, settings)
            self.route_by(settings, call)
            made = found(intf, b.wintf() if b and b.wintfs else None, settings)
            if self.lab:
                become(intf, found.role, {})
        elif b is None:
            raise Misuse(f"{call}: a link of one node is adhoc, mesh, ITSLink or WifiDirectLink: write cls=")
        elif over_air:
            made = found(free(a, params.get("intf1")), free(b, params.get("intf2")), settings)
            if self.lab and isinstance(made, link.Wireless):
                made.associate()
        elif its_own:
            return found(a, b, port1=port1, port2=port2, **params)
        else:
            made = found(self.end(a, port1, "1", params), self.end(b, port2, "2", params), settings)
        self.join(made)
        return made

    def wire(self, cls: type[Link], a: Any, b: Any, said: dict[str, Any]) -> tuple[Intf, Intf, dict[str, Any]]:
        """Return ends and settings of a wire that a script's own class describes to its base. Raises Misuse."""
        settings = link.settings_of(cls, f"{cls.__name__}({a}, {b})", said)
        ends = (self.node_of(a), said.get("port1"), "1"), (self.node_of(b), said.get("port2"), "2")
        return self.end(*ends[0], said), self.end(*ends[1], said), settings

    def join(self, made: Link) -> None:
        """Let a link be one of the network."""
        if self.lab:
            if made.role == "wired":
                open_wire(self.lab, made)
            made.open()
        self.links.append(made)
        if self.lab:
            self.cut_loops()

    def delLink(self, link: Link) -> None:
        """Switch a wire off, and forget it."""
        link.switch(on=False)
        self.links.remove(link)

    removeLink = delLink

    def delLinkBetween(self, node1: Any, node2: Any, index: int = 0, allLinks: bool = False) -> None:
        found = self.linksBetween(node1, node2)
        for made in found if allLinks else found[index : index + 1]:
            self.delLink(made)

    def delNode(self, node: Node, nodes: Any = None) -> None:
        """End a node's programs, switch its wires off, and forget it. Raises Misuse if it has a radio."""
        if node.wintfs:
            raise Misuse(f"delNode: {node.name} has a radio: {node.name}.cmd('ip link set … down') switches it off")
        for made in [each for each in self.wires() if node in (each.intf1.node, each.intf2 and each.intf2.node)]:
            self.delLink(made)
        node.terminate()
        for kept in (self.hosts, self.switches, self.controllers):
            if node in kept:
                kept.remove(node)
        del self.nameToNode[node.name]

    delHost = delSwitch = delController = delNode

    def __delitem__(self, name: str) -> None:
        self.delNode(self[name])

    def over_four_addresses(self, a: Node, b: Node | None, call: str) -> Link:
        """Return the link of two access points, of which `_4addr` may say which one is the client. Raises Misuse."""
        if b is None or {a.kind, b.kind} != {"ap"}:
            raise Misuse(f"{call}: _4address joins two access points")
        if a.params.get("_4addr") == "client" != b.params.get("_4addr"):
            a, b = b, a
        one, other = a.wintf(), b.wintf()
        if one.encrypt or a.params.get("authmode"):
            raise Misuse(
                f"{call}: links of four addresses are not encrypted here: {a.name} has encrypt={one.encrypt!r}"
            )
        if (one.mode, str(one.channel)) != (other.mode, str(other.channel)):
            raise Misuse(f"{call}: both need the same mode and channel: the client uses the radio of {b.name}")
        one.wds = True
        return link._4address(one, other, {})

    def end(self, node: Node, port: int | None, which: str, params: dict[str, Any]) -> Intf:
        """Add a wire's end with Mininet's name (s1-eth1); a host's first one gets the host's address."""
        port = node.newPort() if port is None else port
        name = params.get(f"intfName{which}") or f"{node.name}-eth{port}"
        own = dict(params.get(f"params{which}") or {})
        wire = link.Link
        check(f"addLink: params{which}", own, ("ip", link.USUAL, *wire.taken), wire.noted, wire.refused)
        first = not node.intfs
        mac = params.get(f"addr{which}") or (node.params.get("mac") if first else None)
        intf = Intf(name, node, mac)
        intf.own = {keyword: own[keyword] for keyword in wire.taken if own.get(keyword) is not None}
        intf.note_ip(own.get("ip") or (node.params.get("ip") if first else None))
        node.intfs[port] = intf
        return intf

    def interfaces(self) -> list[str]:
        return [name for node in self.all_nodes() for name in node.nameToIntf]

    def node_of(self, node: Any) -> Node:
        """Return a node by its name, or itself; one that the script made by its class joins the network."""
        if isinstance(node, str):
            return self[node]
        if node.name not in self.nameToNode and node.kind == "host":
            node.net = self
            if self.lab:
                open_node(self.lab, node)
            self.nameToNode[node.name] = node
        return node  # type: ignore[no-any-return]

    def wires(self) -> list[Link]:
        return [made for made in self.links if made.role == "wired"]

    def linksBetween(self, node1: Any, node2: Any) -> list[Link]:
        both = {self.node_of(node1), self.node_of(node2)}
        return [made for made in self.links if made.intf2 and {made.intf1.node, made.intf2.node} == both]

    def route_by(self, settings: dict[str, Any], call: str) -> None:
        """Set the routing protocol of ad hoc and mesh stations. Raises Misuse."""
        if proto := settings.get("proto"):
            if proto not in kinds.ROUTINGS:
                raise Misuse(f"{call}: proto={proto!r}: there are: {', '.join(kinds.ROUTINGS)}")
            before, (self.routing, why) = self.routing, kinds.ROUTINGS[proto]
            self.routing += kinds.routing_arguments(call, self.routing, settings.get("proto_args") or "")
            if before not in (None, self.routing):
                raise Misuse(f"{call}: proto={proto!r}: all stations use one protocol, and {before} is already set")
            note(f"proto={proto!r}: {why}")

    # Life cycle

    @property
    def uses_ip6(self) -> bool:
        return bool(self.params.get("autoSetIP6")) or any("ip6" in node.params for node in self.all_nodes())

    @property
    def mobile(self) -> bool:
        """Return whether stations may change their access point."""
        return self.mobility_plan.wanted or self.controlled

    @cached_property
    def has_openflow(self) -> bool:
        """Return whether Open vSwitch is installed. Raises Misuse if it is not, and the script cannot do without it."""
        if programs.path_of("ovs-vswitchd"):
            return True
        lacking = programs.missing_message("ovs-vswitchd")
        for node in (*self.controllers, *self.switches, *self.aps):
            needs = isinstance(node, OpenFlow) and (node.protocols or node.params.get("failMode") == SECURE)
            if needs or isinstance(node, RemoteController):
                raise Misuse(f"{node.name}: {lacking}")
        note(f"{lacking}; until then switches and access points are the kernel's bridges, without OpenFlow")
        return False

    def buildFromTopo(self, topo: Any = None) -> None:
        """Add the nodes and links of a Topo, and a controller if there is none. Raises Misuse."""
        topo = topo or self.topo
        if not isinstance(topo, Topo):
            raise Misuse(f"topo={topo!r} is not a Topo; write topo=MyTopo()")
        for name, (call, opts) in topo.noted.items():
            if not (adder := getattr(self, call) if hasattr(type(self), call) else None):
                raise Misuse(f"{name}: {call} is Mininet_wifi's: use it instead of Mininet")
            adder(name, **opts)
        for a, b, opts in topo.joined:
            self.addLink(a, b, **opts)
        if not self.controllers and self.classes.get("controller"):
            self.addController("c0")

    def build(self) -> None:
        """Make the network from all calls so far. Raises Misuse or OSError."""
        if self.built:
            return
        if self.topo is not None and not self.all_nodes():
            self.buildFromTopo()
        if isinstance(made := self.classes.get("controller"), Node) and not self.controllers:
            self.addController(made)
        if not self.all_nodes():
            raise Misuse("build: there is no node yet; add one first, for example with net.addStation")
        self.prepare()
        self.lab = lab = Lab(self)
        lab.after = {"film"} if self.filmed else set()
        self.mobility_plan.give(lab)
        try:
            lab.start()
        except ChildProcessError as error:
            if any(intf.lines for intf in self.medium.radios()):
                raise Misuse(f"{error.strerror}: check the lines of config=") from None
            raise
        self.built = True
        for node in self.all_nodes():
            if node.name not in lab.nodes:
                open_node(lab, node)
            node.take_lane(lab.nodes[node.name])
        for made in self.links:
            made.open()
        for node in (*self.stations, *self.cars):
            node.open_virtual()
        for intf in self.medium.radios():
            intf.show_tx_power()
            intf.show_mesh_name()
        lab.sessions.enter_context(lab.session())
        guest.at_program_end.callback(self.stop)
        for node in self.all_nodes():
            node.config(**node.params)
        for node in self.values():
            for command in node.deferred:
                node.cmd(command)
        if self.params.get("autoStaticArp"):
            self.staticArp()

    def prepare(self) -> None:
        """Decide what depends on all calls."""
        self.cut_loops()
        roads.build(self)
        if self.params.get("autoSetMacs"):
            for number, node in enumerate([*self.hosts, *self.stations, *self.cars], 1):
                if intf := node.defaultIntf():
                    intf.mac = intf.mac or f"00:00:00:00:00:{number:02x}"
        first: dict[str, Intf] = {}  # the air tells radios apart by their addresses
        for each in self.medium.radios():
            if each.mac and first.setdefault(each.mac, each) is not each:
                note(f"{each}: mac={each.mac!r} is the address of {first[each.mac]}: it keeps its own")
                each.mac = None

    def cut_loops(self) -> None:
        """Let each wire that closes a loop of switches that learn be down, until the loop is open elsewhere."""
        there = [made for made in self.wires() if made.wanted and made.intf2 and self.learn_both(made)]
        there.sort(key=self.spare.__contains__)
        ends = [(made.intf1.node, made.intf2.node) for made in there if made.intf2]
        trees, deaf = ({node.name for both in ends for node in both if is_so(node)} for is_so in (spans, is_deaf))
        names = ((a.name, b.name) for a, b in ends)
        before, ways = self.spare, {there[number]: way for number, way in closing(names, trees, deaf)}
        self.spare = [*ways]
        for made in [each for each in before if each not in ways]:
            made.set(made.wanted)
            note(f"{made} is up again: it closes no loop of switches that learn" * made.wanted)
        for made in [each for each in ways if each not in before]:
            made.set(False)
            note(f"{' - '.join(ways[made])}: {SPARE.format(made)}")
        if self.built and {*before} != {*ways}:
            select.select([], [], [], NOTICED_S)
            for node in (*self.switches, *self.aps):
                node.forget()

    def learn_both(self, made: Link) -> bool:
        """Return whether the switches at both ends of a wire learn, with no other controller than one that learns."""
        nodes = [end.node for end in (made.intf1, made.intf2) if end]
        learned = any(each.learns for each in self.controllers)
        answered = any(each.answers for each in self.controllers)
        return all(node.is_learning and (learned or (node.alone and not answered)) for node in nodes)

    def start(self) -> None:
        """Build the network if needed, and start its controllers and switches."""
        self.build()
        for controller in self.controllers:
            controller.start()
        for node in (*self.switches, *self.aps):
            node.start(self.controllers)
        if self.params.get("waitConnected"):
            self.waitConnected()

    def stop(self) -> None:
        """Remove the network; a second call has no effect."""
        if not self.lab:
            return
        if "DCFLAB_PROMPT" in os.environ and sys.exc_info()[0] is None:
            self.prompt()
        lab, self.lab = self.lab, None
        for node in self.values():
            node.terminate()
        lab.stop()
        for watcher in self.watchers:
            watcher.close()
        for node in self.values():
            node.lane = None
            if node.early:
                node.early.close()
                node.early = None

    def watch(self, watcher: Any) -> None:
        """Add a background activity from `build`, or from now on, to `stop`."""
        self.watchers.append(watcher)
        if self.lab:
            with self.lab.halted() as loop:
                watcher.begin(loop, time.monotonic_ns())

    def socketServer(self, ip: str | None = None, port: int | None = None) -> None:
        """Let programs of the lane read and set what nodes have."""
        there = ip or self.params.get("set_socket_ip") or IP, port or self.params.get("set_socket_port") or PORT
        self.watch(SocketServer(self, *there))

    start_socket_server = socketServer

    def setAssociationCtrl(self, ac: str = "ssf") -> None:
        """Choose access points by the strongest signal (ssf) or the least load (llf)."""
        if self.lab:
            raise Misuse("setAssociationCtrl: the network is already built; call it before net.build()")
        if ac not in METHODS:
            note(f"ac_method={ac!r} has no effect: there are {' and '.join(METHODS)}")
            return
        self.controlled = True
        self.watch(AssociationControl(self, ac))

    associationControl = setAssociationCtrl

    def jump(self, node: Node) -> Any:
        """Return a context in which a node is put elsewhere."""
        mine = [intf for intf in self.medium.radios() if intf.node is node or node.kind == "ap"]
        return rejoining(self, [intf for intf in mine if is_client(intf)])

    def begin(self, loop: Loop, began_ns: int) -> None:
        """Start the background activities of the session."""
        for watcher in self.watchers:
            watcher.begin(loop, began_ns)

    def staticArp(self) -> None:
        """Enter all hardware addresses into all neighbour tables."""
        there = [node for node in (*self.hosts, *self.stations, *self.cars) if node.IP()]
        for node in there:
            for other in there:
                if node is not other:
                    node.setARP(str(other.IP()), str(other.MAC()))

    def configHosts(self) -> None:
        """No effect: `build` does this, and stations look for access points from the start."""

    configureControlNetwork = autoAssociation = auto_association = configHosts

    def waitConnected(self, timeout: float | None = None, delay: float = TREE_S) -> bool:
        """Wait until the switches forward: those with a spanning tree do when its ports have learned."""
        bridges = [node for node in (*self.switches, *self.aps) if isinstance(node, Bridge)]
        seconds = math.inf if timeout is None else timeout
        return bool(wait_until(lambda: not any(each.is_learning_ports() for each in bridges), seconds, every_s=delay))

    def seed(self, seed: int) -> None:
        """Set the seed of motion models."""
        self.mobility_plan.seed = seed

    def run(self, test: Any, *args: Any, **params: Any) -> Any:
        """Start the network, call `test`, and stop the network."""
        self.start()
        try:
            return test(*args, **params)
        finally:
            self.stop()

    def startTerms(self) -> None:
        refuse("startTerms", "a lane has no terminals: CLI(net), or run programs by cmd and popen")

    def interact(self) -> None:
        self.start()
        self.prompt()
        self.stop()

    def prompt(self) -> None:
        from emulation.features.mininet.cli import CLI

        CLI(self)

    def configLinkStatus(self, src: str, dst: str, status: str) -> None:
        """Switch the links between two nodes up or down."""
        if not (found := self.linksBetween(src, dst)):
            raise Misuse(f"configLinkStatus: there is no link between {src} and {dst}; net.links lists all links")
        for made in found:
            made.switch(status == "up")
        if self.has_openflow:
            select.select([], [], [], SETTLED_S)

    # Traffic from the lab's own applications: it needs no program, and the run has each iperf as a flow

    def ends(self, hosts: Sequence[Any] | None, call: str) -> list[Node]:
        """Return the nodes of a test, by default all with an address. Raises Misuse."""
        if not self.lab:
            raise Misuse(f"{call}: the network is not built yet; call it after net.build() or net.start()")
        chosen = list(hosts) if hosts else [*self.hosts, *self.stations, *self.cars]
        found: list[Node] = [self[one] if isinstance(one, str) else one for one in chosen]
        return [node for node in found if node.IP()] if not hosts else found

    def times(self, a: Node, b: Node, count: int, timeout_s: float) -> list[float]:
        """Return the round-trip times of answered pings, in ms."""
        assert a.lane
        pause()
        try:
            return [rtt * 1e3 for _, _, rtt in ping(a.lane, str(b.IP()), count, timeout_s=timeout_s) if rtt is not None]
        except OSError:  # no route
            return []

    def ping(self, hosts: Any = None, timeout: Any = None, **_: Any) -> float:
        """Ping between all pairs, once each way. Return the loss in percent."""
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
        """Ping between the first two nodes."""
        return self.ping(self.ends(None, "pingPair")[:2])

    def pingFull(self, hosts: Any = None, timeout: Any = None) -> list[Any]:
        """Ping with times. Return (from, to, (sent, received, min, avg, max, mean deviation in ms)) for each pair."""
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
        """Measure the goodput from the first node to the second. Return the rates of server and client; for UDP, first
        the offered rate. Raises Misuse."""
        nodes = self.ends(hosts, "iperf")
        if len(nodes) < 2:
            raise Misuse("iperf: give two nodes")
        client, server = (nodes[0], nodes[-1]) if not hosts else nodes[:2]
        if l4Type not in ("TCP", "UDP"):
            raise Misuse(f"iperf: l4Type {l4Type!r}: there are TCP and UDP")
        assert self.lab
        output(f"*** Iperf: testing {l4Type} bandwidth between {client.name} and {server.name} \n")
        kind = f"udp,rate_kbps={bits(udpBw) / 1e3:g}" if l4Type == "UDP" else None
        flow = self.lab.flow_between(client.name, server.name, kind)
        (report,) = play(self.lab, [flow], float(seconds))
        if report["why"]:
            output(f"*** {report['outcome']}: {report['why']}\n")
        found = [rate_text(8 * report["delivered_bytes"] / seconds, fmt)] * 2
        if l4Type == "UDP":
            found = [udpBw, found[0], rate_text(bits(udpBw), fmt)]
        output(f"*** Results: {found}\n")
        return found

    def runCpuLimitTest(self, *_: Any, **__: Any) -> None:
        note("runCpuLimitTest: computing takes no time in a lane, so there is nothing to test")


def spans(node: Node) -> bool:
    """Return whether a bridge has a spanning tree."""
    return bool(node.params.get("stp"))


def is_deaf(node: Node) -> bool:
    """Return whether a bridge drops the messages of spanning trees."""
    return not node.apart and not spans(node)


def free(node: Node, intf: Any) -> WIntf:
    """Return the radio for a link of a station and an access point: the first without a link."""
    found = [each for each in node.wintfs.values() if each.role in ("", MASTER)]
    chosen = node.wintf(intf) if intf or not found else found[0]
    chosen.role = chosen.role or MANAGED
    return chosen


def bits(rate: str) -> float:
    """Convert 10M or 500k to bits per second. Raises Misuse."""
    number, unit = (rate[:-1], rate[-1:].upper()) if rate[-1:].isalpha() else (rate, None)
    try:
        return float(number) * (UNITS[unit][1] or 1.0)
    except (KeyError, ValueError):
        raise Misuse(f"iperf: {rate!r} is not a rate like 10M or 500K") from None


def rate_text(bps: float, fmt: str | None) -> str:
    """Format a rate as iperf does."""
    unit = (fmt or ("G" if bps >= 1e9 else "M" if bps >= 1e6 else "K")).upper()
    unit, per = UNITS.get(unit, UNITS["M"])
    value = bps / per
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}/sec"
