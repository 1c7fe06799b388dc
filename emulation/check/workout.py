# SPDX-License-Identifier: BSD-3-Clause
"""The workout: a module is loaded into the debug kernel and put to work. Runs inside the lane.

Six stations, a string of five with a detour around its middle, carry long flows both ways while everything happens that
happens to a module: losses, another route, a link that goes and comes back, hundreds of short connections, changes of
the congestion control, of parameters and of qdiscs, an attempt to unload it; at the end all is taken down and it must
unload. Then it is loaded and unloaded many times. The kernel's checks say on its console what is wrong, and this
program says there what it is doing (`say`), so that one log tells both. The order of things follows from the seed.

What it needs is in job.json of the run folder, and what it saw goes to workout.json there; plan.json is the network.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from random import Random

from emulation.check import Name, Stage, loaded, queues
from emulation.check.crowd import DEAF_PORT, Chat, Crowd, Sip, Stream
from emulation.check.loaded import Module
from emulation.net import LINKS, Net
from emulation.netlink import DUMP, Generic, Netlink, NetlinkError, build, parse
from emulation.rtnetlink import ROUTE, ip_address
from traffic import Loop, tcp_info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from emulation.station import Station

FEW = ((Stream, 1, 5), (Stream, 5, 1), (Stream, 4, 1))
MANY = (
    *((Stream, 1, 5), (Stream, 2, 4), (Stream, 5, 2), (Stream, 1, 3), (Stream, 3, 1)),
    *((Chat, 1, 4), (Chat, 5, 2), (Sip, 3, 5), (Sip, 4, 1)),
)
RENO_TOO = 3  # each so many-th flow is Reno's, for comparison
QUIET_S, CONTENTION_S, OUTAGE_S, RECOVERY_S = 5.0, 8.0, 5.0, 8.0
SHORT, SHORT_S = 300, 8.0  # short connections, and the time in which they begin
SWITCHES, QDISC_CHANGES, ROUTE_CHANGES, CHANGES_S = 60, 60, 12, 6.0
VALUE_SEGMENTS, VALUE_S = 20, 4.0  # acknowledged under each value, and how long that is waited for
COMBINATIONS = 20
SEGMENT = 1448
SOME_SENDS = 40_000  # bytes of a connection between load and unload
USED_EVERY = 20  # cycles
SLOW, FLOOD = 10_000, 150  # bytes/s of a token bucket, and datagrams
PATIENCE_S = 600.0  # for connections to end, in the lane's time


class Job:
    """What is asked for and what was seen."""

    def __init__(self, folder: str) -> None:
        with open(f"{folder}/job.json") as file:
            self.asked: dict[str, Any] = json.load(file)
        self.folder, self.stage = folder, Stage.LOAD
        self.console = os.open("/dev/kmsg", os.O_WRONLY)
        self.findings: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.seen: dict[str, Any] = {"leaks": {}}

    def say(self, what: str) -> None:
        """Tell the kernel's log what is being done."""
        os.write(self.console, f"<5>dcflab: {what}".encode())

    def announce(self, what: str) -> None:
        """Tell the host as well."""
        self.say(what)
        print(what, flush=True)

    def enter(self, stage: Stage) -> None:
        self.stage = stage
        self.announce(f"stage {stage}")

    def find(self, name: Name, text: str) -> None:
        self.say(f"finding: {name}: {text}")
        self.findings.append({"stage": self.stage, "name": name, "text": text})

    def note(self, text: str) -> None:
        self.say(f"note: {text}")
        self.notes.append(text)

    def write(self) -> None:
        """Keep what was seen so far."""
        seen = {"version": 1, "findings": self.findings, "notes": self.notes, **self.seen}
        with open(f"{self.folder}/workout.json", "w") as file:
            json.dump(seen, file, indent=1)


class Workout:
    """One network, and what happens in it."""

    def __init__(self, net: Net, module: Module, job: Job) -> None:
        self.net, self.module, self.job = net, module, job
        self.qdisc: str | None = job.asked["qdisc"]
        self.random = Random(job.asked["seed"])
        self.loop = Loop()
        self.stations = list(net.stations.values())
        self.flows: list[Stream] = []
        self.spares = 0
        self.before: dict[str, str | None] = {}
        self.accepted: dict[str, list[str]] = {}  # values that a parameter took
        self.crowd = Crowd(self.stations, self.loop, self.random)

    def spare(self) -> int:
        """A flow's number, and so its port, that was never used: earlier connections may still be in TIME-WAIT."""
        self.spares += 1
        return self.spares

    def run(self, seconds: float) -> None:
        self.loop.run(time.monotonic_ns() + int(seconds * 1e9))

    def some_time(self, count: int, seconds: float, action: Callable[[], None]) -> None:
        """Do something so many times within the next seconds, and let them pass."""
        now = time.monotonic_ns()
        for after_s in sorted(self.random.uniform(0, seconds) for _ in range(count)):
            self.loop.at(now + int(after_s * 1e9), action)
        self.run(seconds)

    def try_to(self, what: str, action: Callable[[], None]) -> bool:
        """Do what may be refused; says whether it was done."""
        try:
            action()
        except OSError as error:
            self.job.say(f"{what}: {os.strerror(error.errno or 0)}")
            return False
        self.job.say(what)
        return True

    # First alone, so that a flow that does not move cannot blame others; then all together.

    def quiet(self, congestion: str) -> int:
        """The bytes that one flow over the whole string delivers alone, in the first seconds."""
        flow = Stream(self.spare(), congestion, self.stations[0], self.stations[4], self.loop, self.random)
        flow.prepare()
        flow.start()
        self.run(QUIET_S)
        delivered = int(flow.finish()["delivered_bytes"])
        flow.close()
        return delivered

    def alone(self, without: int) -> None:
        """Does traffic move with the module? `without` it, so many bytes did."""
        moved = {name: self.quiet(name) for name in self.module.controls or ["reno"]}
        self.job.seen["alone"] = {"without": without, **moved}
        for name, delivered in moved.items():
            if without and not delivered:
                text = f"a flow with {name} delivered nothing in {QUIET_S:g} s, and {without} bytes without the module"
                self.job.find(Name.STALLED_TRAFFIC, text)

    def begin(self, flows: Sequence[tuple[type[Stream], int, int]], reno_too: bool) -> None:
        """More flows."""
        names = self.module.controls or ["reno"]
        for manner, source, destination in flows:
            number = len(self.flows)
            reno = reno_too and number % RENO_TOO == 0
            ends = self.stations[source - 1], self.stations[destination - 1]
            congestion = "reno" if reno else names[number % len(names)]
            flow = manner(self.spare(), congestion, *ends, self.loop, self.random)
            flow.prepare()
            flow.start()
            self.flows.append(flow)

    def all_at_work(self) -> None:
        """Everything that happens to a module: with few flows, so that all of them move, and then with all, in an order
        of the seed's."""
        self.begin(FEW, reno_too=False)
        self.enter(self.contention)
        self.enter(self.parameters)
        self.begin(MANY, reno_too=True)
        self.crowd.listen(self.module.controls or ["reno"])
        what = [self.contention, self.reroutes, self.outage, self.combinations, self.short_connections, self.switches]
        if self.qdisc:
            what.append(self.qdiscs)
        for phase in self.random.sample(what, len(what)):
            self.enter(phase)
        self.enter(self.unload_in_use)
        self.enter(self.wind_down)

    def enter(self, phase: Callable[[], None]) -> None:
        self.job.announce("phase " + phase.__name__.replace("_", " "))
        phase()
        self.job.write()

    def contention(self) -> None:
        self.run(CONTENTION_S)

    # What happens to the network.

    def reroutes(self) -> None:
        """Other ways and other metrics, on routes that flows take."""
        self.some_time(ROUTE_CHANGES, CHANGES_S, self.reroute)

    def reroute(self) -> None:
        station, to = self.random.choice([(1, 5), (5, 1), (2, 5), (2, 4), (4, 1), (4, 2)])
        way = self.random.choice((3, 6)) if station in (2, 4) else 2 if station == 1 else 4
        target, via = (self.stations[number - 1].IP() for number in (to, way))
        metric = self.random.choice((0, 1, 3, 4, 7, 15, 2**31, 2**32 - 1))
        self.job.say(f"route at sta{station} to {target} via {via} metric {metric}")
        change_route(self.stations[station - 1], target, via, metric)

    def outage(self) -> None:
        """A station in the middle of the string is gone, long enough for timeouts, and comes back."""
        station = self.stations[self.random.choice((1, 2, 3))]
        self.job.say(f"{station.interface} down")
        assert station.radio
        station.route.set_link(station.radio.index, up=False)
        self.run(OUTAGE_S)
        self.job.say(f"{station.interface} up")
        rejoin(station, self.net.build()["air"]["basic_rates"])
        self.run(RECOVERY_S)

    # What happens to connections.

    def short_connections(self) -> None:
        self.some_time(SHORT, SHORT_S, self.crowd.begin)
        self.job.seen["short"] = self.crowd.begun

    def switches(self) -> None:
        """Other congestion controls in mid-connection."""
        self.some_time(SWITCHES, CHANGES_S, self.switch)

    def switch(self) -> None:
        flow = self.random.choice(self.flows)
        congestion = self.random.choice(["reno", *self.module.controls, *self.module.controls])
        self.try_to(f"{flow.name}: {congestion} from now on", lambda: flow.switch(congestion))

    # What happens to the module's settings.

    def parameters(self) -> None:
        """Every parameter to the ends of its range, one by one; a refusal is fine."""
        names = self.module.parameters()
        self.before = {name: self.module.get(name) for name in names}
        for name in self.random.sample(names, len(names)):
            values = self.module.values(name)
            accepted = [value for value in self.random.sample(values, len(values)) if self.tune(name, value)]
            self.restore(name)
            self.accepted[name] = accepted
        self.job.seen["parameters"] = self.accepted

    def combinations(self) -> None:
        """Many parameters at once."""
        for _ in range(COMBINATIONS if self.accepted else 0):
            for name, values in self.accepted.items():
                if values and self.random.random() < 0.6:
                    self.set(name, self.random.choice(values))
            self.run(CHANGES_S / COMBINATIONS)
        for name in self.accepted:
            self.restore(name)

    def set(self, name: str, value: str) -> bool:
        return self.try_to(f"{name} = {value[:40]!r}", lambda: self.module.set(name, value))

    def tune(self, name: str, value: str) -> bool:
        """Set a parameter, and let enough segments be acknowledged for it to have been used."""
        done = self.set(name, value)
        if done:
            deadline = time.monotonic() + VALUE_S
            enough = self.acknowledged() + VALUE_SEGMENTS * SEGMENT
            while self.acknowledged() < enough and time.monotonic() < deadline:
                self.run(0.2)
        return done

    def acknowledged(self) -> int:
        """Bytes of all flows that were."""
        return sum(flow.acknowledged() for flow in self.flows)

    def restore(self, name: str) -> None:
        value = self.before[name]
        if value and not self.set(name, value):
            text = f"the parameter {name} does not take back {value!r}, which it had when the module was loaded"
            self.job.find(Name.REFUSED_PARAMETER, text)

    def put_qdisc(self, station: Station, kind: str) -> None:
        assert station.radio
        queues.put(station.route, station.radio.index, kind)

    def put_qdiscs(self) -> None:
        """The module's qdisc at every station."""
        if not self.qdisc:
            return
        for station in self.stations:
            try:
                self.put_qdisc(station, self.qdisc)
            except NetlinkError as error:
                self.job.note(f"{error.strerror}; so it was loaded, but not used")
                self.qdisc = None
                return

    def qdiscs(self) -> None:
        """The qdisc put, changed, looked at, overloaded and removed, with packets in it."""
        self.some_time(QDISC_CHANGES, 2 * CHANGES_S, self.change_qdisc)
        self.put_qdiscs()

    def change_qdisc(self) -> None:
        station, kind = self.random.choice(self.stations), self.qdisc
        assert station.radio and kind
        route, link = station.route, station.radio.index
        options = queues.some_options(self.random)
        manner, change = self.random.choice([
            ("anew", lambda: queues.put(route, link, kind)),
            ("with " + options.hex(), lambda: queues.put(route, link, kind, options)),
            ("changed to " + options.hex(), lambda: queues.put(route, link, kind, options)),
            ("behind a token bucket", lambda: queues.put_behind_bucket(route, link, kind, SLOW)),
            ("removed", lambda: queues.remove(route, link)),
        ])  # fmt: skip
        self.try_to(f"qdisc {kind} at {station.name} {manner}", change)
        self.flood(station)
        queues.kinds(route)

    def flood(self, station: Station) -> None:
        """More datagrams at once than a queue holds."""
        ip = self.random.choice([other for other in self.stations if other is not station]).IP()
        with station, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            for _ in range(FLOOD):
                try:
                    udp.sendto(bytes(10), (ip, DEAF_PORT))
                except BlockingIOError:
                    return
                except OSError as error:  # no buffers, no route
                    self.job.say(f"flood: {os.strerror(error.errno or 0)}")
                    return

    # The end.

    def unload_in_use(self) -> None:
        """The kernel must refuse, as long as the module's functions may be called."""
        used = bool(self.module.controls or self.qdisc)
        try:
            self.module.unload()
        except OSError as error:
            if not used or error.errno not in (errno.EWOULDBLOCK, errno.EBUSY):
                self.job.find(Name.REFUSED_UNLOAD, f"with nobody using it: {os.strerror(error.errno or 0)}")
        else:
            if used:
                text = (
                    "it let itself be unloaded while connections or interfaces used it; is .owner = THIS_MODULE there?"
                )
                self.job.find(Name.USE_AFTER_FREE, text)
            self.module.load()

    def wind_down(self) -> None:
        """Flows write no more; what they wrote must arrive. Then all is closed, and nothing uses the module."""
        for flow in self.flows:
            flow.stop()
        deadline = time.monotonic() + PATIENCE_S
        while (pending := [flow for flow in self.flows if flow.pending()]) and time.monotonic() < deadline:
            self.run(1)
        stuck = [flow for flow in pending if flow.congestion() in self.module.controls or not self.module.controls]
        if stuck and (not self.module.controls or len(stuck) == len(pending)):
            text = f"{len(stuck)} of {len(self.flows)} flows did not come to an end in {PATIENCE_S:g} s"
            self.job.find(Name.STALLED_TRAFFIC, f"{text}, as {stuck[0].name}")
        for flow in self.flows:
            flow.close()
        self.crowd.close()
        for station in self.stations:
            if self.qdisc:
                self.put_qdisc(station, "pfifo")
        self.run(1)

    def users(self) -> str:
        """Who may still use the module."""
        controls = [name for station in self.stations for name in controls_in_use(station)]
        sockets = sum(name in self.module.controls for name in controls)
        qdiscs = sum(queues.kinds(station.route).count(self.qdisc or "") for station in self.stations)
        found = [f"{count} {what}" for count, what in ((sockets, "connections"), (qdiscs, "qdiscs")) if count]
        return f"used by {' and '.join(found)}" if found else "no connection and no qdisc uses it: a reference was lost"

    def unload(self) -> bool:
        """Unload it for good; says whether it went."""
        try:
            self.module.unload(PATIENCE_S)
        except OSError as error:
            why = os.strerror(error.errno or 0)
            if error.errno == errno.EWOULDBLOCK:
                why = f"{self.module.users()} references are left; {self.users()}"
            elif error.errno == errno.EBUSY:
                why = "it has no module_exit()"
            self.job.find(Name.REFUSED_UNLOAD, f"{PATIENCE_S:g} s after its last use: {why}")
            return False
        return True

    def use_briefly(self) -> None:
        """One connection, over the qdisc if it is one, ended in haste."""
        names = self.module.controls or ["reno"]
        ends = self.stations[0], self.stations[1]
        flow = Stream(self.spare(), self.random.choice(names), *ends, self.loop, self.random)
        flow.unsent = flow.bytes = SOME_SENDS
        if self.qdisc:
            self.put_qdisc(self.stations[0], self.qdisc)
        flow.prepare()
        flow.start()
        self.run(self.random.uniform(0.01, 0.3))
        flow.close()
        if self.qdisc:
            self.put_qdisc(self.stations[0], "pfifo")


def change_route(station: Station, to: str, via: str, metric: int) -> None:
    """Another route in place of the one to a station."""
    assert station.radio
    family, ip = ip_address(to)
    head = ROUTE.pack(family, 32, 0, 0, 0, 0, 255, 0, 0)  # of any table, protocol, scope and type
    try:
        station.route.request(25, head + build([(1, ip)]), what=f"route to {to}")
    except NetlinkError as error:
        if error.errno != errno.ESRCH:
            raise
    station.route.add_route(station.radio.index, f"{to}/32", None if via == to else via, metric=metric)


def rejoin(station: Station, basic_rates: list[int]) -> None:
    """Bring a station's interface back: the kernel forgot its rates, link and routes. ARP finds the neighbours."""
    radio, plan = station.radio, station.plan
    assert radio
    with station:
        radio.events = Generic()
    with radio.events:
        radio.events.join("nl80211", "mlme")
        station.route.set_link(radio.index, up=True)
        radio.fix_rates(plan["rates"], plan["freq"])
        link = LINKS[plan["link"]]
        link.join(station, basic_rates)
        link.meet(station)
    for route in plan["routes"]:
        station.add_route(route)


def controls_in_use(station: Station) -> list[str]:
    """The congestion control of each connection of a station, in whatever state."""
    wanted = tcp_info.REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 1 << tcp_info.CONGESTION - 1, 0xFFFFFFFF)
    with station, Netlink(tcp_info.SOCK_DIAG) as diag:
        found = [parse(answer[72:]) for answer in diag.request(tcp_info.SOCK_DIAG_BY_FAMILY, wanted, DUMP, "sock_diag")]
    return [one.get(tcp_info.CONGESTION, b"").rstrip(b"\0").decode() for one in found]


def cycles(workout: Workout, count: int) -> int:
    """Load and unload the module so many times, using it in between now and then; says how often that went well."""
    module, job = workout.module, workout.job
    for number in range(count):
        try:
            module.load()
        except OSError as error:
            job.find(Name.REFUSED_LOAD, f"at the {number + 1}th time: {os.strerror(error.errno or 0)}")
            return number
        if number % USED_EVERY == 0:
            workout.use_briefly()
        if not workout.unload():
            return number
    return count


def look_for_leaks(job: Job, when: str) -> None:
    """Keep kmemleak's reports, which the host reads, and let it forget them."""
    if job.asked["leaks"]:
        job.announce("phase search for leaks")
        job.seen["leaks"][when] = loaded.leaks()
        loaded.tell_kmemleak("clear")


def check(net: Net, job: Job) -> None:
    """All stages."""
    module = Module(job.asked["name"], job.asked["path"])
    workout = Workout(net, module, job)
    without = workout.quiet("reno")
    if job.asked["leaks"]:
        loaded.forget_leaks()
    job.enter(Stage.LOAD)
    try:
        module.load()
    except OSError as error:
        job.find(Name.REFUSED_LOAD, os.strerror(error.errno or 0))
        return
    job.seen |= {"sections": module.sections(), "controls": module.controls}
    job.write()
    job.enter(Stage.WORKOUT)
    workout.put_qdiscs()
    workout.alone(without)
    workout.all_at_work()
    look_for_leaks(job, "workout")
    job.write()
    if not workout.unload():
        return
    job.enter(Stage.CYCLES)
    before = loaded.memory()
    job.seen["cycles"] = cycles(workout, job.asked["cycles"])
    job.seen["memory_kb"] = {"before": before, "after": loaded.memory()}
    if job.asked["cycles"]:
        look_for_leaks(job, "cycles")


def main() -> None:
    folder = os.environ["DCFLAB_RUN"]
    job = Job(folder)
    with open(f"{folder}/plan.json") as file:
        net = Net.from_plan(json.load(file))
    with net:
        net.start()
        check(net, job)
        job.write()


if __name__ == "__main__":
    main()
