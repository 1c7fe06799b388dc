# SPDX-License-Identifier: BSD-3-Clause
"""The workout: a module is loaded into the debug kernel and put to work. Runs inside the lane.

Long flows run both ways while everything happens that happens to a module: losses, other routes, a node that goes
and comes back, hundreds of short connections, changes of the congestion control, of parameters and of qdiscs, an
attempt to unload it; at the end all is taken down and it must unload. Then it is loaded and unloaded many times. The
order of things, and whatever else is drawn, follows from the seed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time

from emulation.features.check.inside import Name, Stage, loaded, queues
from emulation.features.check.inside.job import Job, reason
from emulation.features.check.inside.loaded import Module
from emulation.features.check.inside.moment import Moment
from emulation.features.check.inside.parameters import Parameters
from emulation.features.check.inside.playground import FEW, MANY, QUIET_S, Playground
from emulation.features.check.inside.queues import Queues
from emulation.lane import sockets
from emulation.lane.net import Net

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.lane.node import Node

SWITCHES, SWITCHES_S = 60, 6.0
USED_EVERY, SOME_BYTES, BRIEFLY_S = 20, 40_000, (0.01, 0.3)  # cycles, and what is done in between
ENOUGH = 200  # cycles; in fewer the kernel's own caches are still filling up
NOISE_KB, NOISE_KB_A_CYCLE = 256, 1  # by which the kernel grows and shrinks; a page is 4 kB
AFTERWARDS_S = 0.1
MOST_ALLOCATIONS = 60  # of an init function
BEGINNINGS, SHORTAGE_S = 60, 4.0
PATIENCE_S = 600.0  # for connections to end, in the lane's time


class Workout:
    """One module in one network."""

    def __init__(self, module: Module, playground: Playground, job: Job) -> None:
        self.module, self.playground, self.job = module, playground, job
        self.queues = Queues(job.asked["qdisc"], playground, job)
        self.parameters = Parameters(module, playground, job)
        playground.controls = module.controls or ["reno"]

    def workout(self, without: int) -> None:
        """Everything that happens to a module: with few flows, so that all of them move, and then with all, in an order
        of the seed's. Parameters are changed last: what is found before has nothing to do with them. `without` the
        module, a flow delivered so many bytes."""
        playground, job = self.playground, self.job
        self.queues.put_everywhere()
        self.alone(without)
        playground.crowd.listen(playground.controls)
        playground.begin(FEW)
        job.do(playground.contention)
        playground.begin(MANY, reno_too=True)
        phases = self.phases()
        for phase in playground.random.sample(phases, len(phases)):
            job.do(phase)
        if self.module.controls or self.queues.kind:
            job.do(self.memory_shortage)
        if self.parameters.before:
            job.do(self.parameters.parameters)
            job.do(self.parameters.combinations)
        job.do(self.unload_in_use)
        job.do(self.second_copy)
        job.do(self.wind_down)

    def phases(self) -> list[Callable[[], None]]:
        playground = self.playground
        found = [playground.contention, playground.reroutes, playground.outage, playground.short_connections]
        found += [self.switches] * bool(self.module.controls) + [self.queues.qdiscs] * bool(self.queues.kind)
        return found

    def alone(self, without: int) -> None:
        """Traffic must move with the module, if it does without."""
        moved = {name: self.playground.quiet(name) for name in self.playground.controls}
        self.job.seen["alone"] = {"without": without, **moved}
        for name, delivered in moved.items():
            if without and not delivered:
                text = f"a flow with {name} delivered nothing in {QUIET_S:g} s, and {without} bytes without the module"
                self.job.find(Name.STALLED_TRAFFIC, text)

    def switches(self) -> None:
        """Other congestion controls in mid-connection."""
        self.playground.some_time(SWITCHES, SWITCHES_S, self.switch)

    def switch(self) -> None:
        random = self.playground.random
        flow, congestion = random.choice(self.playground.flows), random.choice(["reno", *self.module.controls * 2])
        self.job.try_to(f"{flow.name}: {congestion} from now on", lambda: flow.switch(congestion))

    def memory_shortage(self) -> None:
        """Allocations that the module makes fail now and then, as connections and qdiscs begin and end."""
        with self.module.short_of_memory():
            self.playground.some_time(BEGINNINGS, SHORTAGE_S, self.begin_something)
        if self.queues.kind:
            self.queues.put_everywhere()

    def begin_something(self) -> None:
        if self.queues.kind:
            self.queues.renew(self.playground.random.choice(self.playground.nodes))
        self.playground.crowd.begin()

    def unload_in_use(self) -> None:
        """The kernel must refuse, as long as the module's functions may be called."""
        used = bool(self.module.controls or self.queues.kind)
        try:
            self.module.unload()
        except OSError as error:
            if not used or error.errno not in (errno.EWOULDBLOCK, errno.EBUSY):
                self.job.find(Name.REFUSED_UNLOAD, f"though nobody uses it: {reason(error)}")
            return
        if used:
            text = "it could be unloaded while connections or interfaces used it: is .owner = THIS_MODULE there?"
            self.job.find(Name.USE_AFTER_FREE, text)
        self.module.load()

    def second_copy(self) -> None:
        """The names that it registers are taken: its init function must undo what it has done, and refuse. What was
        loaded all the same stays: its exit function would take off the kernel's lists what is not there."""
        copy = self.module.copy(self.job.folder)
        self.job.seen["second copy"] = loaded = self.job.try_to(f"load {copy.name}", copy.load)
        if not loaded:
            return
        if self.module.controls or self.job.asked["qdisc"]:
            self.job.note("its init function does not look whether it could be registered: the name may be taken")
        else:
            self.job.try_to(f"unload {copy.name}", copy.unload)

    def wind_down(self) -> None:
        """What flows wrote must arrive. Then all is closed, and nothing uses the module."""
        if stuck := self.playground.finish(PATIENCE_S):
            text = f"{len(stuck)} of {len(self.playground.flows)} flows did not come to an end in {PATIENCE_S:g} s"
            self.job.find(Name.STALLED_TRAFFIC, f"{text}, as {stuck[0].name}")
        self.queues.remove_everywhere()
        self.playground.close()

    def unload(self) -> bool:
        """Unload it for good; says whether it went."""
        try:
            self.module.unload(PATIENCE_S)
        except OSError as error:
            why = {errno.EBUSY: "it has no module_exit()"}.get(error.errno or 0, reason(error))
            if error.errno == errno.EWOULDBLOCK:
                why = f"{self.module.users()} references are left; {self.users()}"
            self.job.find(Name.REFUSED_UNLOAD, f"{PATIENCE_S:g} s after its last use: {why}")
            return False
        return True

    def users(self) -> str:
        """Who may still use the module."""
        controls = [name for node in self.playground.nodes for name in controls_in_use(node)]
        sockets = sum(name in self.module.controls for name in controls)
        qdiscs = sum(queues.kinds(node).count(self.queues.kind or "") for node in self.playground.nodes)
        found = [f"{count} {what}" for count, what in ((sockets, "connections"), (qdiscs, "qdiscs")) if count]
        return f"used by {' and '.join(found)}" if found else "no connection and no qdisc uses it: a reference was lost"

    def load_without_memory(self) -> None:
        """Each of the allocations that are made for it as it is loaded fails once."""
        text, seen = int(self.job.seen["texts"][0], 16), self.job.seen
        seen["allocations"] = 0
        try:
            while self.module.load_without(seen["allocations"] + 1, text) and seen["allocations"] < MOST_ALLOCATIONS:
                seen["allocations"] += 1
        except OSError as error:
            self.job.find(Name.REFUSED_UNLOAD, f"after memory was short as it was loaded: {reason(error)}")

    def cycles(self, count: int) -> None:
        """Load and unload it so many times, using it in between now and then, and see whether the kernel grows. After
        its use it goes at once, and for a while it is not there: that is when what it left behind comes back to it."""
        used_kb = []
        for number in range(count):
            try:
                self.module.load()
            except OSError as error:
                self.job.find(Name.REFUSED_LOAD, f"at the {number + 1}th time: {refusal(error)}")
                return
            if number % USED_EVERY == 0:
                self.use_briefly()
            self.note_text()
            if not self.unload():
                return
            if number % USED_EVERY == 0:
                time.sleep(AFTERWARDS_S)
            self.job.seen["cycles"] = number + 1
            used_kb.append(loaded.used_kb())
        if count >= ENOUGH:  # the least of each quarter, as the kernel frees late
            quarter = count // 4
            grown = self.job.seen["grown_kb"] = min(used_kb[-quarter:]) - min(used_kb[quarter : 2 * quarter])
            if grown > NOISE_KB + 2 * quarter * NOISE_KB_A_CYCLE:
                self.job.find(Name.LEAK, f"{grown} kB more in use after it was loaded and unloaded {2 * quarter} times")

    def note_text(self) -> None:
        """Keep where its code is, the latest first: it may be called from there when it is gone."""
        text, texts = self.module.text(), self.job.seen["texts"]
        if text != texts[0]:
            texts[:] = [text, *(before for before in texts if before != text)]
            self.job.write()

    def use_briefly(self) -> None:
        """One connection, over the qdisc if it is one, that is reset, so that nothing of it is left."""
        playground = self.playground
        if self.queues.kind:
            queues.put(playground.nodes[0], self.queues.kind)
        flow = playground.flow(1, 2)
        flow.unsent = flow.bytes = SOME_BYTES
        flow.start()
        playground.run(playground.random.uniform(*BRIEFLY_S))
        flow.reset()
        if self.queues.kind:
            queues.put(playground.nodes[0], "pfifo")


@contextlib.contextmanager
def in_haste() -> Iterator[None]:
    """Nothing else runs, unless we wait: so what the kernel puts off, RCU's callbacks for one, is still to come when a
    module is unloaded right after its use."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def refusal(error: OSError) -> str:
    """Why a module was not loaded, and what to do."""
    if error.errno == errno.EEXIST:
        what = "the .id of its qdisc, the .name of its congestion control, or what else it registers"
        return f"{reason(error)}: the kernel has built in what goes by the same name; give {what} another"
    return reason(error)


def controls_in_use(node: Node) -> list[str]:
    """The congestion control of each connection of a node, in whatever state."""
    with node:
        return sockets.congestion_controls()


def look_for_leaks(job: Job) -> None:
    """Keep kmemleak's reports, which the host reads, and let it forget them."""
    if job.asked["leaks"]:
        job.announce("phase search for leaks")
        job.seen["leaks"][job.stage] = loaded.leaks()
        loaded.forget()
        job.write()


def check(net: Net, job: Job) -> None:
    """All stages."""
    module = Module(job.asked["name"], job.asked["path"])
    playground = Playground(net, job)
    if job.asked["moment_us"]:
        Moment(job, job.asked["moment_us"])
    without = playground.quiet("reno")
    if job.asked["leaks"]:
        loaded.scan()
        loaded.forget()
    job.enter(Stage.LOAD)
    try:
        module.load()
    except OSError as error:
        job.find(Name.REFUSED_LOAD, refusal(error))
        return
    job.seen |= {"sections": module.sections(), "texts": [module.text()], "controls": module.controls}
    job.write()
    job.enter(Stage.WORKOUT)
    workout = Workout(module, playground, job)
    workout.workout(without)
    look_for_leaks(job)
    job.announce("phase unload")
    job.keep_counters()
    if not workout.unload():
        return
    job.enter(Stage.CYCLES)
    if job.asked["cycles"]:
        with in_haste():
            workout.cycles(job.asked["cycles"])
        job.do(workout.load_without_memory)
        job.keep_counters()
        look_for_leaks(job)


def main() -> None:
    job = Job(os.environ["DCFLAB_RUN"])
    with open(f"{job.folder}/plan.json") as file:
        net = Net.from_plan(json.load(file))
    with net:
        net.start()
        try:
            check(net, job)
        finally:
            job.write()


if __name__ == "__main__":
    main()
