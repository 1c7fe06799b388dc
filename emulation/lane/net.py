# SPDX-License-Identifier: BSD-3-Clause
"""A network of wireless stations, in Mininet's words.

Station: a host. It is a network namespace, so it has interfaces, routes and TCP settings of its own, and programs that
run in it see nothing else. Station sta1 is the namespace sta1 of `ip netns`.

Radio: what a station has in place of a cable: a mac80211_hwsim radio with one interface, sta1-wlan0.

Link: how radios find each other. `Adhoc` is an independent BSS, `Mesh` an 802.11s mesh: any number of stations share
one. Whether two stations on a link hear each other is not the link's business but the air's.

Air: decides what becomes of each frame (`emulation.lane.air`); without one all radios hear each other perfectly.

Flow: a TCP connection that a run measures (`traffic`).

Net: all of these together. It is built from a plan, in which every number is known (docs/interfaces.md), or from a
script that runs in a lane:

    net = Net()
    a, b = net.addStation("sta1", position=(0, 0, 0)), net.addStation("sta2", position=(200, 0, 0))
    net.addLink(a, b, cls=Adhoc, ssid="lab", freq=2412)
    with net:
        net.start()
        print(a.cmd("ip route"))

One Python program sets everything up: it opens sockets in the stations' namespaces by entering them for a moment. That
is why starting a network takes milliseconds, and no `ip` or `iw` is ever run.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time

from emulation.lane import syscalls
from emulation.lane.netlink import NetlinkError
from emulation.lane.node import Station, set_file
from emulation.lane.radio import owner_socket
from emulation.lane.tap import Tap
from traffic import Traffic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from emulation.lane.air import Air

    Position = tuple[float, float, float]
    Progress = Callable[[float, float], None]
    Link = type["Adhoc"] | type["Mesh"]

PARAMETERS = "/sys/module/{}/parameters/{}"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
BEGIN_RANDOM = 0x5206  # RNDCLEARPOOL, to which emulation/kernel/seeded-randomness.patch gives that meaning
TU_US = 1024
PEERING_S = 30.0  # for a mesh to form, in the lane's time
SETTLED_NS, STEP_NS = 10_000_000_000, 100_000_000  # networks and runs start at multiples of these
ATTEMPTS, ANSWER_S = 200, 0.05  # to hear from all neighbours: probes and their answers are frames, and may collide


class Adhoc:
    """An independent BSS (IEEE 802.11-2016, 4.3.3) on one channel, with a fixed BSSID so that nobody has to scan."""

    kind = "ibss"
    bssid = "02:ca:ff:ee:00:00"

    @classmethod
    def join(cls, station: Station, basic_rates: Sequence[int]) -> None:
        plan = station.plan
        assert station.radio
        station.radio.join_ibss(plan["ssid"], plan["freq"], cls.bssid, plan["beacon_tu"], basic_rates)

    @staticmethod
    def meet(station: Station) -> None:
        """Get to know the neighbours: Linux drops what is for a station it has not heard, and with ten seconds between
        beacons that would take long."""
        radio, neighbours = station.radio, station.plan["neighbours"]
        assert radio
        missing = set(neighbours.values()) - radio.peers()
        for _ in range(ATTEMPTS):
            if not missing:
                return
            radio.probe(station.plan["ssid"], station.plan["freq"])
            while missing and radio.wait_for_peer(ANSWER_S):
                missing -= radio.peers()
        who = ", ".join(ip for ip, address in neighbours.items() if address in missing)
        raise NetlinkError(101, f"{station.name} does not hear its neighbours {who}; are they in range?")


class Mesh:
    """An 802.11s mesh (IEEE 802.11-2016, 4.3.20), open, peered and routed by the kernel."""

    kind = "mesh"

    @classmethod
    def join(cls, station: Station, basic_rates: Sequence[int]) -> None:
        plan = station.plan
        assert station.radio
        station.radio.join_mesh(plan["ssid"], plan["freq"], plan["beacon_tu"], basic_rates)

    @staticmethod
    def meet(station: Station) -> None:
        """Wait until the kernel has peered with all neighbours."""
        assert station.radio
        station.radio.wait_for_peers(set(station.plan["neighbours"].values()), PEERING_S)


LINKS = {link.kind: link for link in (Adhoc, Mesh)}


class Net:
    """A network: build it, `start` it, use it or `run` it, `stop` it; `with net:` stops it whatever happens.

    `options` are those of a specification: rate=2, rts="full", propagation="free_space", seed=7 … The air's module and
    the folder for results are those that the lane gives, in $DCFLAB_AIR and $DCFLAB_RUN; without a module all radios
    hear each other.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.air_module, self.folder = os.environ.get("DCFLAB_AIR", ""), os.environ.get("DCFLAB_RUN", ".")
        self.plan: dict[str, Any] | None = None
        self.stations: dict[str, Station] = {}
        self.links: list[tuple[Sequence[Station], dict[str, object]]] = []
        self.flows: list[tuple[str, str, dict[str, object]]] = []
        self.settings: list[dict[str, object]] = []
        self.air: Air | None = None
        self.cleanup = contextlib.ExitStack()

    @classmethod
    def from_plan(cls, plan: dict[str, Any]) -> Self:
        """The network of a plan."""
        net = cls()
        net.plan = plan
        for station in plan["stations"]:
            x, y, z = station["position"]
            net.addStation(station["name"], (x, y, z)).plan = station
        return net

    def addStation(self, name: str, position: Position = (0.0, 0.0, 0.0)) -> Station:
        """A station, at a position in metres; its name has at most nine characters, as its interface's has fifteen."""
        self.stations[name] = Station(name, position)
        return self.stations[name]

    def addLink(self, *stations: Station, cls: Link = Adhoc, **settings: object) -> None:
        """Put stations on one link: `ssid`, `freq` (MHz), `beacon_tu`. Stations without a link share an Adhoc one."""
        self.links.append((stations, {"link": cls.kind, **settings}))

    def addFlow(self, source: Station, destination: Station, **settings: object) -> None:
        """A flow for `run`; settings as in a plan's flows: kind, bytes, start_s, congestion …"""
        self.flows.append((source.name, destination.name, settings))

    def build(self) -> dict[str, Any]:
        """Make the plan, unless there is one. Raises ValueError, or PlanError, which is one."""
        if self.plan is None:
            import topologies
            from emulation import plan, specification

            positions = {name: station.position for name, station in self.stations.items()}
            layout = topologies.Layout(positions, [(source, destination) for source, destination, _ in self.flows])

            class Script(specification.Specification):
                def layout(self) -> topologies.Layout:
                    return layout

            self.plan = plan.plan(Script(**self.options)) | {"name": "script"}
            for station in self.plan["stations"]:
                self.stations[station["name"]].plan = station
            for members, settings in self.links:
                for member in members:
                    member.plan.update(settings)
            for flow, (_, _, settings) in zip(self.plan["flows"], self.flows, strict=True):
                flow.update(settings)
        return self.plan

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __getitem__(self, name: str) -> Station:
        return self.stations[name]

    def heard_by(self, station: Station) -> list[tuple[str, float | None]]:
        """The stations that this one can receive, with their power in dBm (None: without an air, all hear all)."""
        names = [name for name in self.stations if name != station.name]
        if not self.air:
            return [(name, None) for name in names]
        order, air = list(self.stations), self.build()["air"]
        powers = {name: air["power_mdbm"][order.index(name)][order.index(station.name)] for name in names}
        least = air["rx_threshold_mdbm"]
        return [(name, power / 1000) for name, power in powers.items() if power is not None and power >= least]

    def start(self) -> None:
        """Make stations, radios and links; when this returns, all have joined. Raises OSError, having cleaned up."""
        plan = self.build()
        self.settings.clear()
        settle()
        with contextlib.ExitStack() as stack:
            for name, value in plan["module_parameters"].items():
                module, _, parameter = name.partition(".")
                self.settings.append(set_file("kernel", name, PARAMETERS.format(module, parameter), value))
            if self.air_module:
                from emulation.lane.air import Air

                stack.callback(setattr, self, "air", None)
                self.air = stack.enter_context(Air.load(self.air_module))
                self.air.configure(plan["air"], plan["stations"])
            for station in self.stations.values():
                station.open()
                stack.callback(station.close)
            radios = stack.enter_context(owner_socket())
            for station in self.stations.values():
                station.attach(radios)
            for station in self.stations.values():
                LINKS[station.plan["link"]].join(station, plan["air"]["basic_rates"])
            for number, station in enumerate(self.stations.values()):
                assert station.radio
                station.radio.shift_beacons(number * station.plan["beacon_tu"] * TU_US // len(self.stations))
            for station in self.stations.values():
                LINKS[station.plan["link"]].meet(station)
                station.events.close()
            self.cleanup = stack.pop_all()

    def run(self, seconds: float, progress: Progress = lambda done, air_s: None) -> dict[str, Any]:
        """Run the plan's flows for so long, in the lane's time, and say what happened, as lane.json has it.

        `progress` hears the fraction done and the air time in seconds, 100 times. Raises OSError.
        """
        flows = [{**flow, "seconds": seconds - flow["start_s"]} for flow in self.build()["flows"]]
        air = self.air
        with contextlib.ExitStack() as stack:
            traffic = stack.enter_context(Traffic(flows, self.stations, self.folder))
            trace = stack.enter_context(open(f"{self.folder}/air.trace", "wb"))
            tap = stack.enter_context(Tap(f"{self.folder}/tcp.trace")) if Tap.there() else None
            traffic.prepare()
            if air and air.trace >= 0:
                traffic.loop.watch(air.trace, select.EPOLLIN, lambda: air.copy_trace(trace))
            if tap:
                traffic.loop.watch(tap.channel, select.EPOLLIN, tap.copy)
            wait_for_whole(STEP_NS)
            started_ns = air.start() if air else time.monotonic_ns()
            traffic.run(seconds, progress)
            stopped_ns = air.stop() if air else time.monotonic_ns()
            results = traffic.finish()
            if air:
                traffic.loop.forget(air.trace)
                air.copy_trace(trace)
            if tap:
                traffic.loop.forget(tap.channel)
                tap.copy()
        settings = [*self.settings, *(setting for station in self.stations.values() for setting in station.settings)]
        return {
            "air_s": (stopped_ns - started_ns) / 1e9,
            "started_ns": started_ns,
            "stopped_ns": stopped_ns,
            "settings": [setting for setting in settings if setting["value"] != setting["default"]],
            "flows": results,
            "air": air.report() if air else None,
            "tcp": tap.report() if tap else None,
        }

    def stop(self) -> None:
        """Take everything away again; safe to call at any time, and more than once."""
        self.cleanup.close()


def settle() -> None:
    """Let a network begin in a state that nothing done before in this lane can move: at a whole moment, by which all
    that went before is over, and at the beginning of the seed's random numbers. Without effect in real time."""
    with open(CLOCK) as file:
        if file.read() != "time-travel-clock\n":
            return
    wait_for_whole(SETTLED_NS)
    with open("/dev/urandom") as file:
        fcntl.ioctl(file, BEGIN_RANDOM)


def wait_for_whole(step_ns: int) -> None:
    """Wait until the clock shows a multiple of so many nanoseconds; by a timer, as sleeping has slack."""
    timer = syscalls.timer()
    try:
        syscalls.set_timer(timer, (time.monotonic_ns() // step_ns + 1) * step_ns)
        select.select([timer], [], [])
    finally:
        os.close(timer)
