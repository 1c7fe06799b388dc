# SPDX-License-Identifier: BSD-3-Clause
"""The load of the stage smp: processes on all CPUs open short connections by the thousand, while the module is
inspected, changed, unloaded and loaded. It runs in a kernel with several CPUs, in real time.

Each island is a network namespace, whose loopback carries the connections of its processes, and datagrams if it has a
qdisc under test. The processes share only the kernel and the module. The qdisc of the last island has a backlog, and
its options of 0 are 1, as they may be periods of timers; it changes only when the module is loaded again. The load ends
after a number of connections, however long they take.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import select
import socket
import time
from functools import partial
from random import Random
from types import SimpleNamespace

from emulation.features.check.inside import Name, Stage, queues
from emulation.features.check.inside.crowd import CLOSED_PORT, RESET
from emulation.features.check.inside.job import Job, reason
from emulation.features.check.inside.parameters import described
from emulation.features.check.inside.queues import Queues
from emulation.features.check.inside.reach import describe
from emulation.features.check.inside.setups import WORD
from emulation.features.check.inside.tested_module import Module, read, write
from emulation.lane import netem
from emulation.lane.netlink import build
from emulation.lane.node import LOOPBACK, Node
from emulation.lane.vm_init import load as load_of_distribution
from traffic.applications.bulk import NOWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

ISLANDS, CALLERS = 4, 2  # namespaces; processes in each
OPEN = 16  # connections of a process at once
SWITCHED, SENDERS, RECEIVERS = 2, 2, 4  # how many of them leave the module and come back, send and receive at a step
MTU, LOST = 1500, 0.02
FAST, SLOW = 20_000_000, 200_000  # bytes/s of a bucket above the qdisc; less than is sent
DATAGRAMS, LONGEST = 8, 1000  # of a process at each connection; bytes of one
BETWEEN, REPORT_EVERY = 12, 25  # connections between two actions, and between two reports of progress
UNLOADS, PATIENCE = 100, 800  # attempts to unload at each connection; connections until the module is left loaded
AT_ONCE = 0.5  # how often all begin to use it only once it is loaded, and then together
SETTLE_S = 0.5  # for timers and work that a module has left behind
STUCK_MS, UNLOAD_S = 300_000, 120.0  # without a connection: all hang; for references to be returned
USING, OVER = 0, 1  # bytes of the signs that all processes see
OF_DISTRIBUTION = ("sch_netem", "sch_tbf", "inet_diag", "tcp_diag")
# A CPU or a task that hangs ends the kernel, which then says where.
SETTINGS = {
    "watchdog_thresh": "60", "soft_watchdog": "1", "softlockup_panic": "1", "panic_on_rcu_stall": "1",
    "hung_task_timeout_secs": "120", "hung_task_panic": "1",
}  # fmt: skip
TAINTED, DAMAGED = "/proc/sys/kernel/tainted", 1 << 5  # what slub_debug sets (TAINT_BAD_PAGE)
HELPER = "/proc/sys/kernel/modprobe"  # would load the distribution's module of the same name while this one is away


class Island(Node):
    """A namespace whose network is its loopback."""

    @property
    def radio(self) -> SimpleNamespace:
        return SimpleNamespace(index=LOOPBACK)


class Caller:
    """One process: clients and servers of an island. It counts each connection in the eventfd `counted`."""

    def __init__(
        self, random: Random, controls: Sequence[str], largest: int, datagrams: int, signs: mmap.mmap, counted: int
    ) -> None:  # fmt: skip
        self.random, self.controls, self.largest, self.datagrams = random, controls, largest, datagrams
        self.signs, self.counted = signs, counted
        self.clients: list[socket.socket] = []
        self.servers: list[socket.socket] = []
        self.using = -1

    def run(self) -> None:
        """Begin and end connections until it is over."""
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(4 * OPEN)
        self.address = self.listener.getsockname()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        while not self.signs[OVER]:
            self.step()
        for left in (*self.clients, *self.servers):
            reset(left)
        self.listener.close()

    def step(self) -> None:
        """Begin a connection, serve some, and end one."""
        random = self.random
        if self.using != self.signs[USING]:
            self.using = self.signs[USING]
            for each in (self.listener, *self.clients, *self.servers):  # what is accepted has the listener's
                self.control(each)
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.control(client)
        client.connect_ex(self.address)
        self.clients.append(client)
        with contextlib.suppress(BlockingIOError):
            while True:
                server, _ = self.listener.accept()
                server.setblocking(False)
                self.servers.append(server)
        for sender in (client, *random.choices(self.clients, k=SENDERS)):
            with contextlib.suppress(OSError):
                sender.send(memoryview(NOWHERE)[: random.randrange(1, self.largest)])
        for receiver in random.choices(self.servers, k=RECEIVERS) if self.servers else ():
            with contextlib.suppress(OSError):
                receiver.recv_into(NOWHERE, 0, socket.MSG_TRUNC)
        for switched in random.choices(self.clients, k=SWITCHED):
            switched.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
            self.control(switched)
        for some in (self.clients, self.servers):
            if len(some) > OPEN:
                self.end(some.pop(random.randrange(len(some))))
        for _ in range(self.datagrams):
            self.send_datagram()
        os.eventfd_write(self.counted, 1)

    def send_datagram(self) -> None:
        """Send one of any priority, of one of many flows."""
        random = self.random
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, random.randrange(queues.PRIORITIES))
        with contextlib.suppress(OSError):
            address = f"127.0.{random.randrange(256)}.1", CLOSED_PORT
            self.udp.sendto(memoryview(NOWHERE)[: random.randrange(LONGEST)], address)

    def control(self, connection: socket.socket) -> None:
        """Give a connection the module's congestion control, or Reno's while the module is to be unloaded."""
        name = self.random.choice(self.controls) if self.using else "reno"
        with contextlib.suppress(OSError):  # it is unloaded
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())

    def end(self, connection: socket.socket) -> None:
        if self.random.random() < 0.5:
            reset(connection)
        else:
            connection.close()


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()


class Load:
    """The load on one module, and what happens to the module meanwhile. `done` counts connections."""

    def __init__(self, module: Module, job: Job) -> None:
        self.module, self.job = module, job
        self.random = Random(job.settings["seed"])
        self.nodes: list[Node] = [Island(f"island{number}") for number in range(ISLANDS)]
        for number, node in enumerate(self.nodes):
            node.make()
            node.route.set_link(LOOPBACK, mtu=MTU, gso_max_segs=1 if number % 2 else None)
        around: Any = self  # has what is used here of a playground
        self.queues = Queues(job.settings["qdisc"], around, job)
        self.words = b""  # the qdisc's options, if they are a structure
        self.signs, self.counted = mmap.mmap(-1, mmap.PAGESIZE), os.eventfd(0)
        self.signs[USING] = 1
        self.callers: list[int] = []
        self.before = {name: module.get(name) for name in module.parameters()}
        self.done = self.since = 0

    def begin(self) -> None:
        """Put the qdisc, or else losses, on the way of all connections, and start the processes."""
        self.queues.put_everywhere()
        if kind := self.queues.kind:
            self.queues.find_options(self.nodes[0])
            shown = queues.new_options(self.nodes[0], kind)
            self.words = b"" if queues.is_nested(shown) else shown
        self.put_everywhere()
        for number in range(ISLANDS * CALLERS):
            if (child := os.fork()) == 0:
                status = 1
                try:
                    with self.nodes[number % ISLANDS]:
                        random, largest = Random(f"{self.job.settings['seed']} {number}"), self.job.settings["largest"]
                        controls, datagrams = self.module.controls or ["reno"], DATAGRAMS * bool(self.queues.kind)
                        Caller(random, controls, largest, datagrams, self.signs, self.counted).run()
                    status = 0
                finally:
                    os._exit(status)
            self.callers.append(child)

    def put_everywhere(self) -> None:
        if not self.queues.kind:
            for node in self.nodes:
                queues.put(node, "netem", netem.pack({}, lost=LOST))
            return
        for node in self.nodes[:-1]:
            queues.put(node, self.queues.kind)
        self.put_with_timers(self.nodes[-1], self.queues.kind)

    def put_with_timers(self, node: Node, kind: str) -> None:
        """Put it behind a bucket that gives it a backlog, with each option of 0 that may be 1."""
        options = self.words
        for at in self.places_of_words():
            if not any(options[at : at + WORD.size]):
                wanted = with_word(options, at, self.random)
                if self.put_behind_bucket(node, kind, SLOW, wanted):
                    options = wanted
        self.put_behind_bucket(node, kind, SLOW, options)

    def places_of_words(self) -> range:
        return range(0, len(self.words) - WORD.size + 1, WORD.size)

    def put_behind_bucket(self, node: Node, kind: str, rate: int, options: bytes = b"") -> bool:
        what = f"qdisc {kind} at {node.name} behind a token bucket {options.hex()}"
        return self.job.attempt(what, lambda: queues.put_behind_bucket(node, kind, rate, options or None))

    def short_connections(self) -> None:
        """Do something to the module after every few connections, until there were enough, or memory is damaged."""
        actions, enough = self.actions(), self.job.settings["connections"]
        while self.done < enough and not int(read(TAINTED)) & DAMAGED and self.wait(BETWEEN):
            self.random.choices([*actions], [*actions.values()])[0]()
        self.job.results["connections"] = self.done

    def actions(self) -> dict[Callable[[], None], int]:
        """Return what may happen to this module, with weights."""
        found = {self.inspect: 9, self.reload: 2}
        found |= {self.set_parameter: 5} if self.before else {}
        return found | ({self.change_queue: 9} if self.queues.kind else {})

    def wait(self, connections: int) -> bool:
        """Wait until this many more connections have begun. Return whether they have: all processes may hang."""
        wanted, poller = self.done + connections, select.poll()
        poller.register(self.counted, select.POLLIN)
        while self.done < wanted:
            if not poller.poll(STUCK_MS):
                self.job.find(Name.HANG, f"no connection began for {STUCK_MS // 1000} s, after {self.done}")
                return False
            self.done += os.eventfd_read(self.counted)
        if self.done // REPORT_EVERY > self.since:
            self.since = self.done // REPORT_EVERY
            print(f"connections {self.done}", flush=True)
        return True

    def inspect(self) -> None:
        """Let the module describe its connections and qdiscs."""
        describe(self.random.choice(self.nodes))

    def set_parameter(self) -> None:
        """Give a parameter an unusual value for some connections."""
        name = self.random.choice(sorted(self.before))
        value = self.random.choice(self.module.values(name))
        if self.job.attempt(described({name: value}), lambda: self.module.set(name, value)):
            self.wait(BETWEEN)
            if first := self.before[name]:
                self.job.attempt(described({name: first}), lambda: self.module.set(name, first))

    def change_queue(self) -> None:
        """Change the qdisc of all islands but the last, or put it again, or behind a bucket, which peeks."""
        kind, action = self.queues.kind or "", self.random.choice(("options", "put again", "behind a token bucket"))
        for node in self.nodes[:-1]:
            what = f"qdisc {kind} at {node.name} {action}"
            if action == "behind a token bucket":
                self.put_behind_bucket(node, kind, self.random.choice((SLOW, FAST)))
                continue
            if self.words or action == "put again":  # many with such options cannot be changed
                self.job.attempt(what, partial(queues.put, node, "pfifo"))
            options = self.some_options() if action == "options" else None
            self.job.attempt(what, partial(queues.put, node, kind, options))

    def some_options(self) -> bytes:
        """Return options with some values, of those that it accepted, or with one small word."""
        random, accepted = self.random, self.queues.accepted
        if self.words:
            return with_word(self.words, random.choice(self.places_of_words()), random)
        numbers = random.sample(sorted(accepted), min(random.randint(0, queues.MOST_CHANGED), len(accepted)))
        return build([(number, random.choice(accepted[number])) for number in numbers])

    def reload(self) -> None:
        """Unload the module as soon as its last user has gone, and load it, while all go on. They begin to use it one
        by one, or all at once, as what only the first user does must happen once."""
        job, at_once = self.job, self.random.random() < AT_ONCE
        job.say("unload")
        self.signs[USING] = 0
        for node in self.nodes if self.queues.kind else ():
            queues.put(node, "pfifo")
        unloaded, end = False, self.done + PATIENCE
        while not unloaded and self.done < end:
            unloaded = any(self.unloaded() for _ in range(UNLOADS)) or not self.wait(1)
        self.signs[USING] = not (unloaded and at_once)
        if unloaded:
            self.wait(BETWEEN)
            job.say("load")
            try:
                self.module.load()
            except OSError as error:
                job.find(Name.REFUSED_LOAD, f"under load, after it was unloaded: {reason(error)}")
                self.done = job.settings["connections"]
                return
            self.signs[USING] = 1
        if self.queues.kind:
            self.put_everywhere()

    def unloaded(self) -> bool:
        try:
            self.module.unload()
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EBUSY):
                raise
            return False
        return True

    def wind_down(self) -> None:
        """End all connections and qdiscs; then nothing uses the module."""
        self.signs[OVER] = 1
        for caller in self.callers:
            os.waitpid(caller, 0)
        for node in self.nodes:
            queues.put(node, "pfifo")
        try:
            self.module.unload(UNLOAD_S)
        except OSError as error:
            left = f"{self.module.reference_count()} references are left, though nothing uses it any more"
            self.job.find(Name.REFUSED_UNLOAD, left if error.errno == errno.EWOULDBLOCK else reason(error))
        time.sleep(SETTLE_S)

    def run(self, seconds: float) -> None:
        """Do nothing: connections go on by themselves (`Queues`)."""


def with_word(options: bytes, at: int, random: Random) -> bytes:
    """Return a structure with a small number as one of its words: 1 instead of 0, as it may be a period in seconds."""
    small = random.choice(queues.SMALL_LIMITS) if any(options[at : at + WORD.size]) else 1
    return options[:at] + WORD.pack(small) + options[at + WORD.size :]


def check(job: Job) -> None:
    """Put a module under load."""
    for name in OF_DISTRIBUTION:
        load_of_distribution(name)
    for name, value in SETTINGS.items():
        with contextlib.suppress(OSError):
            write(f"/proc/sys/kernel/{name}", value)
    write(HELPER, "\n")
    module = Module(job.settings["name"], job.settings["path"])
    job.enter(Stage.SMP)
    try:
        module.load()
    except OSError as error:
        job.find(Name.REFUSED_LOAD, reason(error))
        return
    load = Load(module, job)
    load.begin()
    job.do(load.short_connections)
    job.do(load.wind_down)


def main() -> None:
    job = Job(os.environ["DCFLAB_RUN"])
    try:
        check(job)
    finally:
        job.write()


if __name__ == "__main__":
    main()
