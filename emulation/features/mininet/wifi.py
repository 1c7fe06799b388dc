# SPDX-License-Identifier: BSD-3-Clause
"""`Mininet_wifi`: networks with radios."""

from __future__ import annotations

from typing import Any, ClassVar

from emulation.features.mininet import kinds, link
from emulation.features.mininet.access import MASTER, let_roam
from emulation.features.mininet.controllers import Controller
from emulation.features.mininet.interface import MEDIUMS, Virtual, WIntf
from emulation.features.mininet.late import open_radios
from emulation.features.mininet.link import Link
from emulation.features.mininet.log import info
from emulation.features.mininet.medium import say_of
from emulation.features.mininet.modes import freq_of
from emulation.features.mininet.net import Mininet
from emulation.features.mininet.node import Host, Node
from emulation.features.mininet.refusals import check, note, numeric
from emulation.features.mininet.roles import AP, Car, Station, Switch
from emulation.features.mininet.telemetry import Telemetry
from emulation.lane.errors import Misuse
from topologies.network import Waypoint


class Mininet_wifi(Mininet):
    """A network with radios."""

    prompt_text = "mininet-wifi> "
    usual: ClassVar[dict[str, Any]] = {"ap": AP, "station": Station, "car": Car}

    def __init__(self, topo: Any = None, accessPoint: Any = AP, station: Any = Station, car: Any = Car,
                 switch: Any = Switch, host: Any = Host, controller: Any = Controller, link: Any = link.WirelessLink,
                 wmediumd_mode: Any = None, build: bool = True, **params: Any) -> None:  # fmt: skip
        self.begin_with(topo, link, params)
        self.classes = {"ap": accessPoint, "station": station, "car": car, "switch": switch, "host": host,
                        "controller": controller}  # fmt: skip
        mode = kinds.wmediumd_mode(wmediumd_mode)
        self.medium.by_links = mode == "error_prob"
        say_of(getattr(link, "__name__", str(link)), mode)
        if topo is not None and build:
            self.build()

    def add_radios(self, node: Node, first: int) -> None:
        """Add a node's radios: sta1-wlan0 …, and ap1-wlan1 … for access points."""
        said = {**{name: self.params[name] for name in kinds.OF_ALL if name in self.params}, **node.params}
        many = int(numeric(f"{node.name}: wlans", said.get("wlans", 1)))
        if many < 1:
            raise Misuse(f"{node.name}: wlans={many}: a {node.kind} has a radio; addHost makes a node without")
        for number in range(first, first + many):
            name = f"{node.name}-wlan{number}"
            given = {key: said[key] for key in ("mac", *kinds.OF_RADIO) if said.get(key) is not None}
            own = {key: each(f"{node.name}: {key}", value, number - first, many) for key, value in given.items()}
            intf = WIntf(name, node, **own)
            freq_of(node.name, intf.mode, intf.channel)
            if node.kind == "station" and (ip := each(f"{node.name}: ip", node.params.get("ip"), number - first, many)):
                intf.note_ip(ip)
            node.intfs[number] = node.wintfs[number - first] = intf
        node.params["wlan"] = [intf.name for intf in node.wintfs.values()]

    def addStation(self, name: str, cls: Any = None, **params: Any) -> Any:
        return self.station(name, cls or self.classes["station"], Station, params, self.stations)

    def addAircraft(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Add a station: where an aircraft or a satellite is, the script says."""
        note(f"{name} is a station: setPosition, mobility and ReplayingMobility move it, and nothing else does")
        return self.addStation(name, cls, **params)

    addSatellite = addAircraft

    def addCar(self, name: str, cls: Any = None, **params: Any) -> Any:
        return self.station(name, cls or self.classes["car"], Car, params, self.cars)

    def station(self, name: str, cls: Any, usual: type[Node], params: dict[str, Any], among: list[Node]) -> Any:
        params.setdefault("ip", self.next_address())
        self.set_position(params, len(self.stations) + len(self.cars), 0.0)
        node = self.add(name, cls, usual, params)
        self.add_radios(node, 0)
        among.append(node)
        self.open_late(node)
        return node

    def open_late(self, node: Any) -> None:
        """Make a node with radios, if the network runs."""
        if not self.lab:
            return
        try:
            open_radios(self.lab, node)
        except Misuse:
            for each in (self.stations, self.cars, self.aps):
                if node in each:
                    each.remove(node)
            del self.nameToNode[node.name]
            raise
        node.take_lane(self.lab[node.name])
        if isinstance(node, Station):
            node.open_virtual()
        for intf in node.wintfs.values():
            intf.show_tx_power()
        node.config(**node.params)

    def addAccessPoint(self, name: str, cls: Any = None, **params: Any) -> Any:
        self.set_position(params, len(self.aps), 50.0)
        node = self.add(name, cls or self.classes["ap"], AP, params)
        self.add_radios(node, 1)
        for intf in node.wintfs.values():
            intf.role = MASTER
            intf.check()
        for number, ssid in enumerate(self.further(node), 1):
            node.wintf().more.append(Virtual(node.wintf(), number, ssid))
        node.wintfs |= dict(enumerate(node.wintf().more, len(node.wintfs)))
        self.listen(node)
        self.aps.append(node)
        self.open_late(node)
        return node

    addBaseStation = addAccessPoint

    def further(self, node: Node) -> list[str]:
        """Return the further networks of an access point's radio: `vssids`, names with commas or in a list."""
        said = node.params.get("vssids") or ()
        names = [name for each in ([said] if isinstance(said, str) else said) for name in each.split(",")]
        if names and len(node.wintfs) > 1:
            raise Misuse(f"{node.name}: vssids: it has {len(node.wintfs)} radios: give each its name with ssid='a,b'")
        return names

    def set_position(self, params: dict[str, Any], number: int, y: float) -> None:
        """With autoSetPositions, give a node without a position one in its row, 100 m from the last."""
        if self.params.get("autoSetPositions"):
            params.setdefault("position", (1.0 + 100 * number, y, 0.0))

    def configureNodes(self) -> None:
        """No effect: `build` configures the nodes."""
        info("*** Configuring nodes\n")

    configureWifiNodes = configureNodes

    def setBgscan(self, signal: float = -45, **said: Any) -> None:
        """Set when stations look for a better access point: how often below this signal (dBm), and else."""
        check("setBgscan", said, ("module", "s_inverval", "l_interval", "database"), lenient=True)
        self.params |= {**said, "bgscan_threshold": signal}

    def setPropagationModel(self, model: str = "logDistance", **params: Any) -> None:
        if self.lab:
            raise Misuse("setPropagationModel: the network is already built; call it before net.build()")
        self.medium.set_model(model, **params)

    propagationModel = setPropagationModel

    def associate(self, intf: WIntf, ap: WIntf) -> None:
        """Associate a station with an access point; before `build`, make it the first one."""
        if not self.lab:
            if isinstance(ap, Virtual):
                intf.ssid = ap.ssid
            self.addLink(intf.node, ap.node)
            return
        if isinstance(ap, Virtual):
            raise Misuse(f"{intf}: {ap} while the network runs: give the station ssid={ap.ssid!r} before net.build()")
        if self.medium.is_too_far(ap.node, intf.node):
            info(f"{ap.node} is out of range\n")
            return
        made: Any = self.lab.link_of(intf.lane)  # type: ignore[arg-type]
        with self.lab.halted():
            made.associate(intf.lane, ap.lane)

    def send_to(self, intf: WIntf, ap: WIntf) -> None:
        """Associate without waiting, from the session's loop."""
        if self.lab:
            made: Any = self.lab.link_of(intf.lane)  # type: ignore[arg-type]
            made.select(intf.lane, ap.lane)

    def telemetry(self, nodes: Any = (), **said: Any) -> None:
        self.watch(Telemetry(nodes, **said))

    def setInitialMediums(self, mediums: Any = ()) -> None:
        """No effect: radios share the air with those that they hear."""
        note(MEDIUMS)

    def replay(self, paths: dict[str, list[Waypoint]]) -> None:
        """Move nodes along these waypoints, from the start or from now on."""
        self.mobility_plan.paths |= paths
        if self.lab:
            let_roam(self)
            self.lab.go(paths)

    def useExternalProgram(self, program: Any = None, **said: Any) -> None:
        """Let SUMO move the cars."""
        if not isinstance(program, type):
            raise Misuse(f"useExternalProgram: program={program!r}; write `from mn_wifi.sumo.runner import sumo`")
        program(self, **said)

    def get_distance(self, src: Any, dst: Any) -> float:
        return self.node_of(src).get_distance_to(self.node_of(dst))

    def plotNode(self, node: Any, position: Any) -> None:
        """Where a node without radio is in pictures."""
        self.node_of(node).plot(position)

    plotHost = plotNode

    def get_mn_wifi_nodes(self) -> list[Node]:
        """Return the nodes with radios."""
        return [*self.stations, *self.cars, *self.aps]

    def get_links(self) -> list[Link]:
        return self.links

    # Motion

    def plotGraph(self, **said: Any) -> None:
        """Have the host make a film of the run, film.html, and a picture of its start, graph.svg."""
        unknown = {name: "plotGraph has no such keyword" for name in said}
        check("plotGraph", said, kinds.PLOT_TAKEN, {**unknown, **kinds.PLOT_NOTED})
        self.filmed, self.drawn = True, said
        if self.lab:
            self.lab.after.add("film")

    def roads(self, nroads: int = 1) -> None:
        """Let cars drive on roads, so many."""
        self.params["roads"] = nroads

    def setMobilityModel(self, **params: Any) -> None:
        self.mobility_plan.set_model(**params)

    def startMobility(self, **params: Any) -> None:
        self.mobility_plan.set_start(**params)

    def mobility(self, node: Any, stage: str, **params: Any) -> None:
        self.mobility_plan.set_stage(self.node_of(node), stage, **params)

    def stopMobility(self, **params: Any) -> None:
        self.mobility_plan.set_stop(**params)


Mininet.with_radios = Mininet_wifi


def each(what: str, said: Any, number: int, many: int) -> Any:
    """Return the part of a keyword for the radio of this number; commas separate the radios. Raises Misuse if there are
    more parts than radios."""
    parts = said.split(",") if isinstance(said, str) and (many > 1 or what.endswith(" ssid")) else said
    if isinstance(parts, list | tuple):
        if any(parts[many:]):
            raise Misuse(f"{what}={said!r}: {len(parts)} values, but wlans={many}; set it to the number of radios")
        return parts[number] if number < len(parts) else None
    return said if many == 1 or number == 0 or not isinstance(said, str) or ":" not in said else None
