# SPDX-License-Identifier: BSD-3-Clause
"""The load of the stage reference: rounds of traffic over a loopback, while `witness` writes down each call.

It is the same for the module and for its reference. Each round begins at a fixed time with the seed's random numbers
from their start, so that a difference in one round makes none in the next. The seed decides all settings.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from functools import partial
from random import Random

from emulation.features.check.inside import children, queues, setups
from emulation.features.check.inside.children import FIRST, HANDLE
from emulation.features.check.inside.crowd import CLOSED_PORT
from emulation.features.check.inside.job import Job
from emulation.features.check.inside.queues import PRIORITIES, Queues
from emulation.features.check.inside.reach import (
    CHOICES,
    FEW,
    FOR_CONTROLS,
    FOR_QUEUES,
    PARENTS,
    USUAL,
    Reach,
    send_timed,
)
from emulation.features.check.inside.smp import Island
from emulation.features.check.inside.tested_module import Module
from emulation.lane.clock import settle
from emulation.lane.netlink import NetlinkError
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.features.check.inside.reach import Settings

WITNESS, LOG, ROUND = "/sys/kernel/debug/witness", "calls.log", "round"
MOST_READ = 1 << 22
FLOODS, FLOOD, FLOWS, LENGTHS, BETWEEN_S = 2, 40, 12, (10, 100, 1400), (0.0, 0.001, 0.1)
ORDERS = 8  # commands in a row
OTHER = 0.35  # of the settings of a round have another value than the usual one
# A delay that varies by all of itself can be 0, and packets then go round without an end at one time.
VALUES = CHOICES | {"jitter": (0.0, 0.3, 0.6)}


class Ground:
    """What `Reach` and `Queues` use of a playground."""

    def __init__(self, node: Island, job: Job) -> None:
        self.nodes, self.job, self.loop = [node], job, Loop()
        self.random = Random(job.settings["seed"])
        self.controls: list[str] = []

    def run(self, seconds: float) -> None:
        self.loop.run(time.monotonic_ns() + int(seconds * 1e9))


class Parameters:
    """The parameters that root may write, and the values that each accepts."""

    def __init__(self, module: Module, job: Job) -> None:
        self.module, self.job = module, job
        self.before = {name: module.get(name) or "" for name in module.parameters()}
        self.accepted = {name: list(filter(partial(self.accepts, name), module.values(name))) for name in self.before}

    def accepts(self, name: str, value: str) -> bool:
        done = self.set({name: value})
        self.restore(name)
        return done

    def set(self, values: dict[str, str]) -> bool:
        try:
            for name, value in values.items():
                self.module.set(name, value)
        except OSError:
            return False
        return True

    def restore(self, name: str) -> None:
        self.set({name: self.before[name]})


class Rounds(Reach):
    """Rounds whose settings do not depend on what the module does."""

    places = CHOICES["place"]  # of the qdisc
    parent = False  # whether it takes children

    def next(self) -> Settings:
        self.more: list[str] = []
        self.ordered: list[str] = []
        random = self.random = Random(f"round {self.round} {self.job.settings['seed']}")
        self.word = random.randrange(1000)
        besides = FOR_CONTROLS if self.queues.kind else FOR_QUEUES
        settings = USUAL | {"place": self.places[0]}
        settings |= {
            name: random.choice(values)
            for name, values in (VALUES | {"place": self.places}).items()
            if name not in besides and random.random() < OTHER
        }
        if random.random() < OTHER:
            settings["parameters"] = self.some(self.parameters.accepted)
        if self.queues.kind and random.random() < 2 * OTHER:
            settings["options"], *self.more = (self.options(b"").hex() for _ in range(1 + FLOODS))
            settings["changed"] = random.random() < 2 * OTHER
        if self.commands() and random.random() < OTHER:
            chosen = random.choices(self.commands(), k=1 + FLOODS)
            settings["options"], *self.more = (options.hex() for options in chosen)
            settings["changed"] = True
        if self.queues.kind and random.random() < OTHER:
            self.ordered = self.orders(random)
        return settings

    def orders(self, random: Random) -> list[str]:
        """Return changes that follow each other while there are packets: commands in any order, or one change twice."""
        if self.commands():
            return [options.hex() for options in random.choices(self.commands(), k=ORDERS)]
        return [self.options(b"").hex()] * 2

    def look(self) -> None:
        """Find out what the qdisc takes."""
        kind = self.queues.kind or ""
        if self.job.settings["classful"] and not setups.of(kind).classes:
            setups.find_classes(self.node, kind)
        self.places = tuple(place for place in PARENTS if self.put_queue(USUAL | {"place": place})) or self.places
        self.queues.find_options(self.node)
        queues.put(self.node, "pfifo")
        self.put_queue(USUAL | {"place": self.places[0]})
        self.parent = self.job.attempt("a child", partial(queues.put, self.node, "pfifo", None, HANDLE + FIRST))

    def pass_time(self, settings: Settings) -> None:
        """Send datagrams to a qdisc under test, more than a short queue holds, and change it meanwhile."""
        for number in range(FLOODS if self.queues.kind else 0):
            self.flood(FLOOD, settings)
            self.playground.run(self.random.choice(BETWEEN_S))
            if settings["changed"] and self.more:
                self.set_options(settings | {"options": self.more[number]})
            if self.parent and self.random.random() < OTHER:
                self.change_below()
        for order in self.ordered:
            self.flood(FEW, settings)
            self.set_options(settings | {"options": order})
            self.playground.run(self.random.choice(BETWEEN_S))
        if self.queues.kind:
            self.flood(FLOOD, settings, flows=1)  # more than some queues keep of one
        super().pass_time(settings)

    def flood(self, count: int, settings: Settings, flows: int = FLOWS) -> None:
        """Send datagrams of all priorities and lengths; some with a sending time, and some by the module's links."""
        with self.node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            for _ in range(count):
                udp.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, self.random.randrange(PRIORITIES))
                udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.random.randrange(256))
                with contextlib.suppress(OSError):
                    port = CLOSED_PORT + self.random.randrange(flows)
                    udp.sendto(bytes(self.random.choice(LENGTHS)), (self.address(), port))
        if settings["packets"] == "timed" or setups.of(self.queues.kind or "").timed:
            send_timed(self.node, self.address(), self.random, count)
        self.send_by_masters()

    def change_below(self) -> None:
        """Change something below the qdisc: a child, a class, or what sorts packets into classes."""
        kind, number = self.queues.kind or "", self.random.randint(1, setups.CLASSES)
        classes = setups.of(kind).classes
        options = self.with_another_number(self.random.choice(classes)) if classes else b""
        child, of_child = self.random.choice(list(children.CHILDREN.items()))
        what, action = self.random.choice((
            (f"{child} below class {number}", partial(queues.put, self.node, child, of_child, HANDLE + number)),
            (f"other options of class {number}", partial(
                self.node.route.add_class, self.node.radio.index, kind, options, HANDLE, HANDLE + number)),
            (f"no class {number}", partial(setups.delete_class, self.node, number)),
            ("filters", partial(setups.spread, self.node)),
            (f"a losing child below class {number}", partial(children.put_losing, self.node, HANDLE + number)),
        ))  # fmt: skip
        self.job.attempt(what, action)


class Behaviour:
    """One module, and the file of its calls."""

    def __init__(self, module: Module, job: Job, log: int) -> None:
        self.job, self.log = job, log
        self.node = Island("island")
        self.node.make()
        ground: Any = Ground(self.node, job)
        ground.controls = module.controls or ["reno"]
        self.queues = Queues(job.settings["qdisc"], ground, job, module.links)
        parameters: Any = Parameters(module, job)
        self.begin("options")
        if self.queues.kind:
            self.queues.put_everywhere()
            self.queues.use_apart()
        self.rounds = Rounds(ground, self.queues, parameters, job)
        if self.queues.kind:
            self.rounds.look()

    def run(self) -> None:
        self.save()
        for number in range(self.job.settings["first"], self.job.settings["rounds"] + 1):
            settle()
            self.rounds.round = number
            settings = self.rounds.next()
            unusual = [f"{name} {value}" for name, value in settings.items() if value != USUAL[name]]
            self.begin(f"{ROUND} {number}: {', '.join(unusual)}")
            self.rounds.try_out(settings)
            with contextlib.suppress(NetlinkError):
                self.rounds.remove()
            self.save()

    def begin(self, what: str) -> None:
        os.write(self.log, f"= {what}\n".encode())

    def save(self) -> None:
        """Move the calls to the run folder."""
        with open(WITNESS, "r+b", buffering=0) as calls:
            while some := calls.read(MOST_READ):
                os.write(self.log, some)
            calls.write(b"\n")


def main() -> None:
    job = Job(os.environ["DCFLAB_RUN"])
    module = Module(job.settings["name"], job.settings["path"])
    module.load()
    log = os.open(f"{job.folder}/{LOG}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    Behaviour(module, job, log).run()


if __name__ == "__main__":
    main()
