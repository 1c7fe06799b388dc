# SPDX-License-Identifier: BSD-3-Clause
"""A network of wireless stations, in Mininet's words.

Station: a host. It is a network namespace, so it has interfaces, routes and TCP settings of its own, and programs that
run in it see nothing else. Station sta1 is the namespace sta1 of `ip netns`.

Radio: what a station has in place of a cable: a mac80211_hwsim radio with one interface, sta1-wlan0.

Link: how radios find each other. `Adhoc` is an independent BSS, `Mesh` an 802.11s mesh: any number of stations share
one. Whether two stations on a link hear each other is not the link's business but the air's.

Air: decides what becomes of each frame (`emulation.air`); without one all radios hear each other perfectly.

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

import os
import select
import time

from emulation import syscalls
from emulation.netlink import Generic, NetlinkError
from emulation.radio import Radio, owner_socket
from emulation.rtnetlink import Route
from traffic import Traffic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from emulation.air import Air

    Progress = Callable[[float, float], None]

NAMESPACES = "/run/netns"
PEERING_S = 30.0  # for a mesh to form, in the lane's time
ATTEMPTS, ANSWER_S = 20, 0.05  # to hear from all neighbours: probes and their answers are frames, and may collide
PARAMETERS = "/sys/module/{}/parameters/{}"


class Station:
    """A host: a network namespace with a radio. `with station:` puts this thread into its namespace (does not nest)."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.name: str = plan["name"]
        self.position: Sequence[float] = plan["position"]
        self.path = f"{NAMESPACES}/{self.name}"
        self.interface = f"{self.name}-wlan0"
        self.settings: list[dict[str, object]] = []  # what differs from the kernel's default, as read back
        self.namespace = self.home = -1
        self.radio: Radio | None = None

    def __repr__(self) -> str:
        return f"<Station {self.name}: {self.interface} {self.IP()} {self.MAC()} at {tuple(self.position)}>"

    def IP(self) -> str:
        return str(self.plan["ip"]).partition("/")[0]

    def MAC(self) -> str:
        return str(self.plan["address"])

    def open(self) -> None:
        """Make the namespace, under its name."""
        self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        os.makedirs(NAMESPACES, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
        try:
            syscalls.new_network_namespace()
            syscalls.mount("", self.path, "/proc/thread-self/ns/net", syscalls.MS_BIND)
            self.namespace = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            self.route, self.nl80211 = Route(), Generic()
        finally:
            syscalls.enter_network_namespace(self.home)
        self.route.set_link(1, up=True)
        with self:
            for name, value in self.plan["sysctl"].items():
                self.sysctl(name, value)

    def close(self) -> None:
        """Take the namespace and its name away; safe to call at any time. The radio goes first."""
        if self.radio:
            self.radio.close()
            self.radio = None
        if self.namespace >= 0:
            self.route.close()
            self.nl80211.close()
            os.close(self.namespace)
            self.namespace = -1
        if self.home >= 0:
            os.close(self.home)
            self.home = -1
            syscalls.unmount(self.path)
            os.unlink(self.path)

    def __enter__(self) -> Self:
        syscalls.enter_network_namespace(self.namespace)
        return self

    def __exit__(self, *_: object) -> None:
        syscalls.enter_network_namespace(self.home)

    def sysctl(self, name: str, value: str) -> None:
        """Set a variable of this namespace, which this thread must be in. Raises OSError if it does not hold."""
        self.settings.append(set_file(self.name, name, "/proc/sys/" + name.replace(".", "/"), value))

    def note(self, what: str, value: object, default: object) -> None:
        """Remember a setting that was read back."""
        self.settings.append({"where": self.name, "what": what, "value": value, "default": default})

    def attach(self, owner: Generic) -> None:
        """Give the station its radio, and the radio its settings; `owner` is as `Radio` has it."""
        plan = self.plan
        self.radio = radio = Radio(owner, plan["address"], self.interface)
        radio.move(self.namespace, self.nl80211)
        radio.set_type(plan["link"])
        radio.set_rts_threshold(plan["rts_threshold"])
        self.note("rts threshold", radio.rts_threshold(), None)
        self.route.set_link(radio.index, up=True)
        if plan["rates"]:
            radio.fix_rates(plan["rates"], plan["freq"])
            self.note("rates (100 kb/s)", plan["rates"], "all")
        self.route.add_address(radio.index, plan["ip"])
        for ip, address in plan["neighbours"].items():
            self.route.add_neighbour(radio.index, ip, bytes.fromhex(address.replace(":", "")))
        for route in plan["routes"]:
            self.add_route(route)

    def add_route(self, route: dict[str, Any]) -> None:
        """Add a route of the plan. Raises NetlinkError if the kernel did not keep its metrics."""
        assert self.radio
        wanted = {"quickack": route["quickack"], "initcwnd": route["initcwnd"], "rto_min": route["rto_min_ms"]}
        metrics = {name: int(value) for name, value in wanted.items() if value}
        via = None if route["via"] in (None, route["to"]) else route["via"]
        self.route.add_route(self.radio.index, route["to"], via, metrics)
        kept = self.route.route_metrics(route["to"].partition("/")[0]) if metrics else {}
        if metrics != {name: kept.get(name) for name in metrics}:
            raise NetlinkError(22, f"{self.name}: route to {route['to']}: asked for {metrics}, the kernel kept {kept}")
        for name in metrics:
            self.note(f"route {route['to']} {name}", kept[name], 0)

    def popen(self, command: Sequence[str] | str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in the station; a str goes through the shell. Options as of subprocess.Popen."""
        from subprocess import Popen

        with self:
            return Popen(command, shell=isinstance(command, str), **options)

    def cmd(self, command: Sequence[str] | str) -> str:
        """Run a program in the station to its end and return what it printed, errors included."""
        from subprocess import DEVNULL, PIPE, STDOUT

        with self.popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as process:
            return process.communicate()[0].decode(errors="replace")


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
        radio, neighbours = station.radio, set(station.plan["neighbours"].values())
        assert radio
        missing = neighbours - radio.peers()
        for _ in range(ATTEMPTS):
            if not missing:
                return
            radio.probe(station.plan["ssid"], station.plan["freq"])
            while missing and radio.wait_for_peer(ANSWER_S):
                missing = neighbours - radio.peers()
        who = ", ".join(sorted(missing))
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
    """A network: build it, `start` it, use it or `run` it, `stop` it; `with net:` stops it whatever happens."""

    def __init__(self, plan: dict[str, Any], air_module: str = "", folder: str = ".") -> None:
        self.plan, self.air_module, self.folder = plan, air_module, folder
        self.stations = {station["name"]: Station(station) for station in plan["stations"]}
        self.settings: list[dict[str, object]] = []
        self.radios: Generic | None = None
        self.air: Air | None = None

    @classmethod
    def from_plan(cls, plan: dict[str, Any], air_module: str = "", folder: str = ".") -> Self:
        return cls(plan, air_module, folder)

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
        order, air = list(self.stations), self.plan["air"]
        powers = {name: air["power_mdbm"][order.index(name)][order.index(station.name)] for name in names}
        least = air["rx_threshold_mdbm"]
        return [(name, power / 1000) for name, power in powers.items() if power is not None and power >= least]

    def start(self) -> None:
        """Make stations, radios and links; when this returns, all have joined. Raises OSError, having cleaned up."""
        try:
            for name, value in self.plan.get("module_parameters", {}).items():
                module, _, parameter = name.partition(".")
                self.settings.append(set_file("kernel", name, PARAMETERS.format(module, parameter), value))
            if self.air_module:
                from emulation.air import Air

                self.air = Air.load(self.air_module)
                self.air.configure(self.plan["air"], self.plan["stations"])
            self.radios = owner_socket()
            for station in self.stations.values():
                station.open()
                station.attach(self.radios)
            for station in self.stations.values():
                LINKS[station.plan["link"]].join(station, self.plan["air"]["basic_rates"])
            for station in self.stations.values():
                LINKS[station.plan["link"]].meet(station)
        except BaseException:
            self.stop()
            raise

    def run(self, seconds: float, progress: Progress = lambda done, air_s: None) -> dict[str, Any]:
        """Run the plan's flows for so long, in the lane's time, and say what happened, as lane.json has it.

        `progress` hears the fraction done and the air time in seconds, 100 times. Raises OSError.
        """
        flows = [{**flow, "seconds": seconds - flow["start_s"]} for flow in self.plan["flows"]]
        air = self.air
        with Traffic(flows, self.stations, self.folder) as traffic, open(f"{self.folder}/air.trace", "wb") as trace:
            traffic.prepare()
            if air and air.trace >= 0:
                traffic.loop.watch(air.trace, select.EPOLLIN, lambda: air.copy_trace(trace))
            started_ns = air.start() if air else time.monotonic_ns()
            traffic.run(seconds, progress)
            stopped_ns = air.stop() if air else time.monotonic_ns()
            results = traffic.finish()
            if air:
                traffic.loop.forget(air.trace)
                air.copy_trace(trace)
        self.settings += [setting for station in self.stations.values() for setting in station.settings]
        return {
            "air_s": (stopped_ns - started_ns) / 1e9,
            "started_ns": started_ns,
            "stopped_ns": stopped_ns,
            "settings": [setting for setting in self.settings if setting["value"] != setting["default"]],
            "flows": results,
            "air": air.report() if air else None,
        }

    def stop(self) -> None:
        """Take everything away again; safe to call at any time, and more than once."""
        for station in self.stations.values():
            station.close()
        if self.radios:
            self.radios.close()
            self.radios = None
        if self.air:
            self.air.close()
            self.air = None


def set_file(where: str, what: str, path: str, value: str) -> dict[str, object]:
    """Write a kernel variable and read it back. Returns the setting. Raises OSError if it does not hold."""
    try:
        with open(path) as file:
            default = " ".join(file.read().split())
        with open(path, "w") as file:
            file.write(value)
        with open(path) as file:
            kept = " ".join(file.read().split())
    except OSError as error:
        raise OSError(error.errno, f"{where}: cannot set {what} to {value}: {error.strerror}") from None
    if kept != value:
        raise OSError(22, f"{where}: {what} was set to {value}, but the kernel kept {kept}")
    return {"where": where, "what": what, "value": kept, "default": default}

