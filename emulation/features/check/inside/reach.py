# SPDX-License-Identifier: BSD-3-Clause
"""Reach: run code of the module that never ran.

Each round sends traffic over a node's loopback, whose delay, losses, rate and queue are settings, as are the module's
parameters, the options of its qdisc, TCP's sysctls and the kind of traffic. The kernel counts what ran (gcov). Settings
that ran something new are kept, and later rounds change them a little. The seed decides all choices. No other traffic
goes on meanwhile, so only packets take processor time, and the rounds bound their number.
"""

from __future__ import annotations

import array
import contextlib
import select
import socket
import struct
import time
from functools import partial
from random import Random

from emulation.features.check.inside import queues, setups, tested_module
from emulation.features.check.inside.crowd import Connections
from emulation.features.check.inside.devices import Loopback
from emulation.features.check.inside.packets import Packets
from emulation.lane import netem, rtnetlink, sock_diag
from emulation.lane.netlink import CREATE, DUMP, EXCLUSIVE, Netlink, NetlinkError, attributes, build
from emulation.lane.node import LOOPBACK
from traffic.applications import bulk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from emulation.features.check.inside.job import Job
    from emulation.features.check.inside.parameters import Parameters
    from emulation.features.check.inside.playground import Playground
    from emulation.features.check.inside.queues import Queues
    from emulation.lane.node import Node

    Settings = dict[str, Any]

# What each setting may be; the first value is the usual one.
CHOICES: dict[str, tuple[Any, ...]] = {
    "delay_ms": (10, 0, 1, 50, 300, 2000),
    "jitter": (0.0, 0.3, 1.0),  # of the delay; reorders
    "lost": (0.0, 0.002, 0.03, 0.3),
    "marked": (False, True),  # marked by ECN instead of lost
    "kbps": (0, 300, 3000, 30_000),
    "queue": (1000, 1, 2, 10, 100),  # packets
    "outage_s": (0.0, 0.25, 1.5),
    "mtu": (1500, 576, 9000, 65_536),
    "gso": (True, False),
    "initcwnd": (0, 1, 2, 100, 1_000_000),
    "clamp": (0, 1, 2, 10),
    "tcp_ecn": (1, 0),
    "tcp_sack": (1, 0),
    "tcp_timestamps": (1, 0),
    "tcp_slow_start_after_idle": (1, 0),
    "traffic": ("bulk", "pauses", "short", "slow reader", "switches"),
    "lasting": (False, True),  # connections with pauses that stay for longer than congestion controls remember
    "packets": ("", "few flows", "many flows", "datagrams", "timed"),
    "place": ("bucket", "root", "prio"),  # of the qdisc
    "flows": (1, 2, 6),
    "bytes": (100_000, 1000, 20_000, 300_000),
}
USUAL = {name: values[0] for name, values in CHOICES.items()} | {"parameters": {}, "options": "", "changed": False}
FOR_CONTROLS = ("delay_ms", "jitter", "lost", "marked", "queue", "outage_s", "clamp", "lasting")  # and not for qdiscs
FOR_QUEUES = ("place",)
NO_MEMORY = "/proc/sys/net/ipv4/tcp_no_metrics_save"  # of earlier connections
SYSCTLS = tuple(name for name in CHOICES if name.startswith("tcp_"))
MOST_CHANGED = 6  # settings at once
FRESH = 0.3  # of the rounds begin with the usual settings
STALE = 25  # rounds in a row without anything new after which all ends
EXTENSIONS = 0xFF  # of sock_diag: all, among them what `get_info` of a congestion control says
DESCRIBED = 4  # times in half a round
PROBABILITY = 0.5  # that a parameter or an option gets a value
LONGEST_S, ROUND_TRIPS, CLOSING_S = 2.0, 6, 0.01  # of a round
CHUNK, PORT, BURST, FEW, DATAGRAM = 16_384, 4100, 60, 5, 1200
# Of what lasts: BBR measures the round-trip time anew after 10 s.
LASTING_S, LASTING_BYTES, LASTING_CHUNK, LASTING_PAUSES_S = 14.0, 1 << 30, 6000, (0.05, 0.25, 0.5, 1.0)
SO_TXTIME, TXTIME, TIME = 61, struct.Struct("=iI"), struct.Struct("=Q")  # struct sock_txtime; a time in ns
CLOCKS, DEADLINE_OR_ERRORS = (time.CLOCK_TAI, time.CLOCK_TAI, time.CLOCK_MONOTONIC), (0, 0, 1, 2)  # its flags
AHEAD_S = (-0.001, 0.0, 0.0005, 0.002, 0.02, 0.02, 0.2, 30.0)
PAUSES_S = 0.05, 0.5, 1.0
LOCAL, LOCAL_TABLE, HOST = 2, 255, 254  # RTN_LOCAL, RT_TABLE_LOCAL, RT_SCOPE_HOST
TCA_NETEM_ECN = 7
PARENTS = {"bucket": queues.CHILD, "root": rtnetlink.ROOT, "prio": queues.BAND}
SMALL = (1, 2, 3)
SLOWEST = 10_000  # bytes/s of the bucket over a qdisc, if no rate is set


class Reach:
    """The rounds. `kept` has the settings that ran something new."""

    def __init__(self, playground: Playground, queues_: Queues, parameters: Parameters, job: Job) -> None:
        self.playground, self.queues, self.parameters, self.job = playground, queues_, parameters, job
        self.random = Random(f"reach {job.settings['seed']}")
        self.node: Any = queues_.apart or Loopback(playground.nodes[-1])
        self.controls = [name for name in playground.controls if name != "reno"]
        self.kept: list[Settings] = []
        self.deck: list[tuple[str, Any]] = []  # settings to try
        self.round = self.received = self.word = 0
        self.changeable = True  # whether the qdisc's options can change

    def reach(self) -> None:
        """Try settings until nothing new is reached, or until there were enough rounds."""
        known, earlier = self.ran(), list(self.job.settings["corpus"])
        first, since = len(known), 0
        while self.round < self.job.settings["rounds"] and since < STALE:
            settings = sound(earlier.pop(0)) if earlier else self.next()
            self.round += 1
            since += 1
            self.try_out(settings)
            if new := self.ran() - known:
                known |= new
                since = 0
                self.kept.append(settings)
        self.remove()
        seen = {"rounds": self.round, "new": len(known) - first, "bytes": self.received, "corpus": self.kept}
        self.job.results["reach"] = seen

    def ran(self) -> set[tuple[str, int]]:
        """Return the places of all counters that are not 0."""
        return {
            (name, at)
            for name, data in self.job.counters()
            for at, word in enumerate(array.array("I", data[: len(data) & ~3]))
            if word
        }

    # Settings.

    def next(self) -> Settings:
        """Return new settings: the usual ones, or kept ones, with some changes."""
        random = self.random
        fresh = not self.kept or random.random() < FRESH
        settings = dict(USUAL if fresh else random.choice(self.kept))
        settings |= dict(self.draw() for _ in range(random.randint(1, MOST_CHANGED)))
        if fresh or random.random() < PROBABILITY:
            settings["parameters"] = self.some(self.parameters.accepted)
        if self.queues.kind and (fresh or random.random() < PROBABILITY):
            before = bytes.fromhex(settings["options"])
            settings["options"] = self.options(before).hex()
            settings["changed"] = self.changeable and random.random() < PROBABILITY
            if self.commands() and random.random() < PROBABILITY:
                settings |= {"options": random.choice(self.commands()).hex(), "changed": True}
        return settings

    def commands(self) -> tuple[bytes, ...]:
        return setups.of(self.queues.kind or "").commands

    def draw(self) -> tuple[str, Any]:
        """Return a setting and its value. All values come before any comes again, so that few rounds have all."""
        if not self.deck:
            others = FOR_CONTROLS if self.queues.kind else FOR_QUEUES
            self.deck = [(name, value) for name in CHOICES if name not in others for value in CHOICES[name]]
            self.random.shuffle(self.deck)
        return self.deck.pop()

    def some(self, accepted: dict[Any, list[Any]]) -> dict[Any, Any]:
        """Return accepted values of one, of some or of no parameters or options."""
        names = [name for name, values in accepted.items() if values]
        number = self.random.choice((0, 1, 1, 2, len(names)))
        return {name: self.random.choice(accepted[name]) for name in self.random.sample(names, min(number, len(names)))}

    def options(self, before: bytes) -> bytes:
        """Return options of the qdisc: some that it accepted, or those that it shows or had before, with one change."""
        shown = before if before and self.random.random() < PROBABILITY else self.shown()
        if not shown or (queues.is_nested(shown) and self.random.random() < PROBABILITY):
            known = self.queues.shown or self.queues.accepted  # others may be accepted and ignored
            accepted = {number: values for number, values in self.queues.accepted.items() if number in known}
            return setups.of(self.queues.kind or "").options(self.some(accepted).items())
        return self.with_another_number(shown)

    def with_another_number(self, options: bytes) -> bytes:
        """Return options with another number in one of them, but not in a long table."""
        try:
            found = attributes(options)
        except NetlinkError:  # a structure
            return self.changed(options)
        at = self.random.choice([n for n, (_, value) in enumerate(found) if len(value) <= setups.LONG] or [0])
        return build([(number, self.changed(value) if at == n else value) for n, (number, value) in enumerate(found)])

    def shown(self) -> bytes:
        """Return the options that a new qdisc cannot be without, or shows."""
        return queues.new_options(self.node, self.queues.kind or "")

    def changed(self, value: bytes) -> bytes:
        """Return a value with another number in it, each time at the next place."""
        if not value:
            return value
        width = self.random.choice([width for width in (1, 1, 2, 4, 4) if width <= len(value)])
        self.word += 1
        at = self.word % (len(value) // width) * width
        values = SMALL if self.random.random() < PROBABILITY else setups.VALUES
        number = self.random.choice([n for n in values if n < 1 << 8 * width])
        return value[:at] + number.to_bytes(width, "little") + value[at + width :]

    # A round.

    def try_out(self, settings: Settings) -> None:
        """Run one round. Its settings are in the kernel's log, as an error may follow."""
        unusual = {name: value for name, value in settings.items() if value != USUAL[name]}
        self.job.say(f"round {self.round}: " + ", ".join(f"{name} {value}" for name, value in unusual.items()))
        parameters = {name: value for name, value in settings["parameters"].items() if name in self.parameters.accepted}
        if parameters:
            self.parameters.set(parameters)
        if self.prepare(settings):
            traffic = Traffic(self, settings)
            traffic.start()
            self.pass_time(settings)
            traffic.close()
            self.playground.run(CLOSING_S)
        for name in parameters:
            self.parameters.restore(name)

    def prepare(self, settings: Settings) -> bool:
        """Make the path. Return whether the qdisc accepts its options."""
        with self.node:
            for name in SYSCTLS:
                tested_module.write(f"/proc/sys/net/ipv4/{name}", str(settings[name]))
        index = self.node.radio.index
        self.node.route.set_link(index, mtu=settings["mtu"], gso_max_segs=65_535 if settings["gso"] else 1)
        metrics = {"initcwnd": settings["initcwnd"], "cwnd": settings["clamp"]}
        if self.node.receives:
            add_local_route(self.node, self.address(), {name: value for name, value in metrics.items() if value})
        if self.queues.kind:
            return self.put_queue(settings)
        if settings["clamp"]:
            self.let_remember()
        self.set_path(settings, settings["lost"])
        return True

    def let_remember(self) -> None:
        """Open and close a connection: TCP takes a route's window from what it remembers of earlier connections."""
        queues.put(self.node, "pfifo")
        there = self.address(), PORT + 1
        with self.node:
            tested_module.write(NO_MEMORY, "0")
            with socket.create_server(there) as listener, socket.create_connection(there), listener.accept()[0]:
                pass
        self.playground.run(CLOSING_S)
        with self.node:
            tested_module.write(NO_MEMORY, "1")

    def address(self) -> str:
        """Return a new address each time, of which TCP has remembered nothing."""
        return str(self.node.address(self.round))

    def set_path(self, settings: Settings, lost: float) -> None:
        delay_ns = int(settings["delay_ms"] * 1e6)
        delays = {"latency_ns": delay_ns, "jitter_ns": int(delay_ns * settings["jitter"])}
        options = netem.pack(delays, limit=settings["queue"], lost=lost, rate_bps=1000 * settings["kbps"])
        queues.put(self.node, "netem", options + build([(TCA_NETEM_ECN, int(settings["marked"]))]))

    def put_queue(self, settings: Settings) -> bool:
        """Put the qdisc at its place, with its options at once, or with the usual ones if they are to change later.
        Return whether it accepts them."""
        kind, rate = self.queues.kind or "", settings["kbps"] * 125 or SLOWEST
        place, parent = settings["place"], PARENTS[settings["place"]]
        options = None if settings["changed"] else bytes.fromhex(settings["options"]) or None

        def put() -> None:
            self.remove()
            if place == "prio":
                queues.put_behind_prio(self.node, "pfifo", rate)
            elif place == "bucket":
                queues.put_behind_bucket(self.node, "pfifo", rate)
            queues.put(self.node, kind, options, parent, setups.HANDLE)
            for link in self.queues.beside:
                queues.put(link, kind, options)
            if self.queues.masters:
                self.queues.masters.switch_on()

        return self.job.attempt(f"{place} with these options", put)

    def remove(self) -> None:
        """Remove the qdiscs. What sent by them then gets packets again."""
        for link in (self.node, *self.queues.beside):
            queues.put(link, "pfifo")
        self.send_by_masters()

    def send_by_masters(self) -> None:
        """Send datagrams by the links that the module brings."""
        if masters := self.queues.masters:
            with self.node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
                for number in range(FEW):
                    with contextlib.suppress(OSError):
                        udp.sendto(bytes(10), (masters.address(number), PORT))

    def set_options(self, settings: Settings) -> None:
        """Give the qdisc its options."""
        if options := bytes.fromhex(settings["options"]):
            kind, parent = self.queues.kind or "", PARENTS[settings["place"]]
            if not self.job.attempt("these options now", lambda: queues.put(self.node, kind, options, parent)):
                self.changeable = self.changeable and self.accepts_its_own()

    def accepts_its_own(self) -> bool:
        """Return whether the qdisc can be changed at all, to what it shows."""
        kind, shown = self.queues.kind or "", self.shown()
        return self.job.attempt("its own options", lambda: queues.put(self.node, kind, shown))

    def pass_time(self, settings: Settings) -> None:
        """Let time pass: an outage or a change of options is in the middle."""
        half_s = (LONGEST_S + ROUND_TRIPS * 2 * settings["delay_ms"] * (not self.queues.kind) / 1000) / 2
        half_s += LASTING_S / 2 if settings["lasting"] else 0
        self.watch(half_s)
        if self.queues.kind and settings["changed"]:
            self.set_options(settings)
        elif settings["outage_s"] and not self.queues.kind:
            self.set_path(settings, 1.0)
            self.playground.run(settings["outage_s"])
            self.set_path(settings, settings["lost"])
        self.watch(half_s)

    def watch(self, seconds: float) -> None:
        """Let time pass; list connections and qdiscs meanwhile."""
        for _ in range(DESCRIBED):
            self.playground.run(seconds / DESCRIBED)
            describe(self.node)


class Traffic(Connections):
    """The connections and packets of one round."""

    def __init__(self, reach: Reach, settings: Settings) -> None:
        super().__init__(reach.playground.loop)
        self.reach, self.settings, self.random = reach, settings, reach.random

    def start(self) -> None:
        node, settings = self.reach.node, self.settings
        if node.receives:
            listener = self.new(node)
            listener.bind((self.reach.address(), PORT))
            listener.listen(64)
            self.watch(listener, select.EPOLLIN, lambda: self.accept(listener, self.drain))
            for _ in range(settings["flows"]):
                self.connect()
        if settings["packets"] == "timed":
            send_timed(node, self.reach.address(), self.random)
        elif settings["packets"] == "datagrams":
            with node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
                for _ in range(BURST):
                    with contextlib.suppress(OSError):
                        udp.sendto(bytes(self.random.randrange(DATAGRAM)), (self.reach.address(), PORT))
        elif settings["packets"]:
            flows = 4 if settings["packets"] == "few flows" else 1000
            Packets(self.random, flows).send(node, BURST)

    def new(self, node: Node) -> socket.socket:
        made = super().new(node)
        if self.reach.controls:
            self.control(made, self.random.choice(self.reach.controls))
        if self.settings["traffic"] == "slow reader":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        return made

    @staticmethod
    def control(connection: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):  # memory may be short
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())

    def watch(self, which: socket.socket, events: int, action: Callable[[], None]) -> None:
        self.loop.watch(which.fileno(), events, action)

    def after(self, seconds: float, which: socket.socket, action: Callable[[], None]) -> None:
        """Do something later, if the connection is open then."""
        self.loop.at(time.monotonic_ns() + int(seconds * 1e9), lambda: action() if which.fileno() >= 0 else None)

    def came(self, connection: socket.socket, count: int) -> None:
        self.reach.received += count
        if self.settings["traffic"] == "slow reader":
            self.loop.forget(connection.fileno())
            again = partial(self.watch, connection, select.EPOLLIN, lambda: self.drain(connection))
            self.after(0.2, connection, again)

    def connect(self) -> None:
        client = self.new(self.reach.node)
        client.connect_ex((self.reach.address(), PORT))
        left = [LASTING_BYTES if self.settings["lasting"] else self.settings["bytes"]]
        self.watch(client, select.EPOLLOUT, lambda: self.send(client, left))

    def send(self, client: socket.socket, left: list[int]) -> None:
        """Send some of what is left; then end, or do what the kind of traffic is."""
        traffic, lasting = self.settings["traffic"], self.settings["lasting"]
        try:
            left[0] -= client.send(bulk.CHUNK[: min(LASTING_CHUNK if lasting else CHUNK, left[0])])
        except BlockingIOError:
            return
        except OSError:
            self.drop(client)
            return
        if lasting:
            self.pause(client, left, LASTING_PAUSES_S)
        elif left[0] <= 0 or traffic == "short":
            self.drop(client, reset=traffic == "short" and self.random.random() < PROBABILITY)
            if left[0] > 0:
                again, left[0] = left[0], 0
                self.settings = self.settings | {"bytes": again}
                self.connect()
        elif traffic == "pauses":
            self.pause(client, left, PAUSES_S)
        elif traffic == "switches":
            self.control(client, self.random.choice(["reno", *self.reach.controls]))

    def pause(self, client: socket.socket, left: list[int], lengths_s: Sequence[float]) -> None:
        self.loop.forget(client.fileno())
        again = partial(self.watch, client, select.EPOLLOUT, lambda: self.send(client, left))
        self.after(self.random.choice(lengths_s), client, again)

    def close(self) -> None:
        """Reset what is left, so that nothing of a round meets the next one."""
        for connection in list(self.open.values()):
            self.drop(connection, reset=True)


def sound(settings: Settings) -> Settings:
    """Return settings of a corpus without those that are not valid here."""
    found = {name: settings[name] for name in CHOICES if settings.get(name) in CHOICES[name]}
    if isinstance(parameters := settings.get("parameters"), dict):
        found["parameters"] = {str(name): str(value) for name, value in parameters.items()}
    with contextlib.suppress(ValueError):
        found["options"] = bytes.fromhex(str(settings.get("options"))).hex()
    return USUAL | found | {"changed": bool(settings.get("changed"))}


def send_timed(node: Any, address: str, random: Random, count: int = BURST) -> None:
    """Send datagrams, each with the time at which it may leave, by one of CLOCKS."""
    for clock in CLOCKS:
        with node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            udp.setsockopt(socket.SOL_SOCKET, SO_TXTIME, TXTIME.pack(clock, random.choice(DEADLINE_OR_ERRORS)))
            for _ in range(count // len(CLOCKS)):
                when = time.clock_gettime_ns(clock) + int(random.choice(AHEAD_S) * 1e9)
                with contextlib.suppress(OSError):
                    udp.sendmsg([bytes(random.randrange(DATAGRAM))], [(socket.SOL_SOCKET, SO_TXTIME, TIME.pack(when))],
                                0, (address, PORT))  # fmt: skip


def describe(node: Node) -> None:
    """Let congestion controls describe a node's connections, and qdiscs themselves and their statistics."""
    request = sock_diag.REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, EXTENSIONS, sock_diag.ALL)
    with node, Netlink(sock_diag.NETLINK_SOCK_DIAG) as diag:
        diag.request(sock_diag.SOCK_DIAG_BY_FAMILY, request, DUMP, "sock_diag")
    node.route.qdiscs()
    setups.show_classes(node)


def add_local_route(node: Any, address: str, metrics: dict[str, int]) -> None:
    """Give the connections to an address of the node itself these metrics."""
    nested: list[tuple[int, Any]] = [(rtnetlink.METRICS[name], value) for name, value in metrics.items()]
    if "cwnd" in metrics:  # TCP uses it only if it is locked
        nested.append((rtnetlink.RTAX_LOCK, 1 << rtnetlink.METRICS["cwnd"]))
    head = rtnetlink.ROUTE.pack(socket.AF_INET, 32, 0, 0, LOCAL_TABLE, rtnetlink.BY_ADMINISTRATOR, HOST, LOCAL, 0)
    values: list[tuple[int, Any]] = [(rtnetlink.RTA_DST, socket.inet_aton(address)), (rtnetlink.RTA_OIF, LOOPBACK)]
    payload = head + build([*values, (rtnetlink.RTA_METRICS, nested)])
    node.route.request(rtnetlink.RTM_NEWROUTE, payload, CREATE | EXCLUSIVE, f"route to {address}")
