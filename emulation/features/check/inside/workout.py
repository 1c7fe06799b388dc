# SPDX-License-Identifier: BSD-3-Clause
"""The workout: a module is loaded into the debug kernel and exercised. It runs inside the lane.

Long flows run both ways while everything happens that a module may meet: losses, route changes, a node that leaves and
returns, hundreds of short connections, changes of congestion control, parameters and qdiscs, and an attempt to unload
it. At the end all is taken down, and it must unload. Then it is loaded and unloaded many times. The seed determines the
order, and all random choices.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import time

from emulation.features.check.inside import Name, Stage, kunit, queues, setups, shorter, tested_module
from emulation.features.check.inside.children import use_children, use_grandchildren
from emulation.features.check.inside.departures import Departures
from emulation.features.check.inside.job import Job, reason
from emulation.features.check.inside.moment import Moment
from emulation.features.check.inside.parameters import Parameters
from emulation.features.check.inside.playground import FEW, MANY, QUIET_S, REGAIN_S, SOME_BYTES, Playground
from emulation.features.check.inside.queues import Queues
from emulation.features.check.inside.reach import Reach
from emulation.features.check.inside.shorter import ShorterPath
from emulation.features.check.inside.tested_module import WRAPPED, Module
from emulation.lane import sock_diag
from emulation.lane.net import Net

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.lane.node import Node

SWITCHES, SWITCHES_S = 60, 6.0
USED_EVERY, BRIEFLY_S = 20, (0.01, 0.3)  # cycles between uses; the time of a use
REGAINED = 8  # a window after a timeout is at least one in this many of that before, or Reno's; Westwood: one in 3
ENOUGH, READINGS = 200, 3  # cycles; those at the end of each half after which used memory is read
NOISE_KB = 128  # by which the kernel grows without a leak
ABSENT_S = 0.1
SETTLED_S = 65.0  # longer than TIME_WAIT: then nothing of the connections before is left to be freed
SECTIONS = {"texts": ".text", "data": ".data"}  # whose addresses are recorded
MOST_ALLOCATIONS = 60  # of an init function
BEGINNINGS, SHORTAGE_S = 60, 4.0
TIMEOUT_S = 600.0  # for connections to end, in the lane's time


class Workout:
    """One module in one network."""

    def __init__(self, module: Module, playground: Playground, job: Job) -> None:
        self.module, self.playground, self.job = module, playground, job
        self.queues = Queues(job.settings["qdisc"], playground, job, module.links)
        self.parameters = Parameters(module, playground, job)
        playground.controls = module.controls or ["reno"]
        self.shown: dict[tuple[str, str], list[int]] = {}  # numbers when a file was first read, by file and node
        self.wrong_files: set[str] = set()

    def workout(self, baseline_bytes: int) -> None:
        """Do everything that happens to a module: first with few flows, so that all of them move, then with all, in a
        random order. Parameters change last, so that earlier findings do not depend on them. `baseline_bytes` is what a
        flow delivered without the module."""
        playground, job = self.playground, self.job
        self.queues.put_everywhere()
        if self.module.controls:
            job.do(self.never_connected)
        self.check_alone(baseline_bytes)
        if self.module.controls:
            job.do(self.timeouts)
        playground.crowd.listen(playground.controls)
        playground.begin(FEW)
        job.do(playground.contention)
        self.check_files()
        playground.begin(MANY, with_reno=True)
        phases = self.phases()
        for phase in playground.random.sample(phases, len(phases)):
            job.do(phase)
        if self.module.controls:
            job.do(playground.loopback)
        if self.queues.kind:
            job.do(self.children)
        if self.module.controls or self.queues.kind:
            job.do(self.memory_shortage)
        if self.parameters.before:
            job.do(self.parameters.parameters)
            job.do(self.parameters.combinations)
        job.do(self.unload_in_use)
        job.do(self.second_copy)
        job.do(self.wind_down)
        if self.module.controls:
            job.do(self.shorter_path)
            job.do(self.pauses)
        if self.queues.kind:
            job.do(Departures(self.queues, playground, job).departures)
        if any(True for _ in job.counters()):
            self.queues.use_apart()
            job.do(Reach(playground, self.queues, self.parameters, job).reach)
            self.queues.kind = None if self.queues.apart else self.queues.kind

    def phases(self) -> list[Callable[[], None]]:
        playground = self.playground
        found = [playground.contention, playground.reroutes, playground.outage, playground.short_connections]
        found += [self.switches] * bool(self.module.controls) + [self.queues.qdiscs] * bool(self.queues.kind)
        return found

    def check_alone(self, baseline_bytes: int) -> None:
        """Check that traffic moves with the module, if it does without."""
        moved = {name: self.playground.deliver_alone(name) for name in self.playground.controls}
        self.job.results["alone"] = {"without": baseline_bytes, **moved}
        if baseline_bytes and self.job.settings["classful"] and not any(moved.values()):
            if not setups.find_classes(self.playground.nodes[0], self.queues.kind or ""):
                self.queues.give_up("no packet passes it without a class")
                return
            self.queues.put_everywhere()
            moved = {name: self.playground.deliver_alone(name) for name in self.playground.controls}
        for name, delivered in moved.items():
            if baseline_bytes and not delivered:
                text = f"a flow with {name} delivered nothing in {QUIET_S:g} s, "
                text += f"and {baseline_bytes} bytes without the module"
                self.job.find(Name.STALLED_TRAFFIC, text)
        if all(moved.values()):
            self.queues.check_idle()

    def never_connected(self) -> None:
        """Close sockets without a connection: a congestion control is released that was not initialised. This is the
        first thing that happens, so that what is counted then is below 0."""
        self.check_files()
        for name in self.module.controls:
            with self.playground.nodes[0], socket.socket() as unused:
                unused.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        self.check_files()

    def timeouts(self) -> None:
        """Check that windows grow again after a timeout, if they were larger before, and Reno's does."""
        job, playground = self.job, self.playground
        job.results["timeouts"] = seen = {name: playground.after_timeout(name) for name in playground.controls}
        for name, (before, after) in seen.items():
            if after * REGAINED < before and after * REGAINED < (renos := playground.after_timeout("reno")[1]):
                text = f"{name}'s congestion window stays below {after + 1} segments for {REGAIN_S:g} s after timeouts "
                text += f"on a link without losses; its mean was {before} before, and Reno's reaches {renos} again"
                job.find(Name.WRONG_WINDOW, text)

    def shorter_path(self) -> None:
        """Check that a flow fills some of an idle path, also when its round-trip time falls, if Reno does."""
        job, path = self.job, ShorterPath(self.playground)
        job.results["shorter path"] = seen = {name: path.windows(name) for name in self.module.controls}
        for name, windows in seen.items():
            renos = windows
            if any(map(shorter.too_small, windows, shorter.HOLDS)):  # again, as cdg leaves its backoff to chance
                (before, after), renos = map(max, windows, path.windows(name)), path.windows("reno")
                windows = before, after
            for window, holds, of_reno in zip(windows, shorter.HOLDS, renos, strict=True):
                if shorter.too_small(window, min(holds, of_reno)):
                    text = f"{name}'s congestion window is {window} segments on an idle path that holds {holds}, "
                    text += f"with a round-trip time of {shorter.rtt_ms(holds)} ms; Reno's is {of_reno}"
                    job.find(Name.WRONG_WINDOW, text)
                    break

    def pauses(self) -> None:
        """Check that a pause does not count as growth."""
        job, path = self.job, ShorterPath(self.playground)
        job.results["pauses"] = seen = {name: path.pauses(name) for name in self.module.controls}
        for name, windows in seen.items():
            if shorter.grew(windows) and shorter.grew(path.pauses(name)):
                (short_s, long_s), (short, long) = shorter.PAUSES_S, windows
                text = f"{name}'s congestion window grows to {long} segments within {shorter.AFTER_PAUSE_S:g} s after "
                text += (
                    f"a pause of {long_s:g} s, and to {short} after one of {short_s:g} s: does a pause count as growth?"
                )
                job.find(Name.WRONG_WINDOW, text)

    def switches(self) -> None:
        """Change congestion controls of open connections."""
        self.playground.at_random_times(SWITCHES, SWITCHES_S, self.switch)

    def switch(self) -> None:
        random = self.playground.random
        flow, congestion = random.choice(self.playground.flows), random.choice(["reno", *self.module.controls * 2])
        self.job.attempt(f"{flow.name}: {congestion} from now on", lambda: flow.switch(congestion))

    def memory_shortage(self) -> None:
        """Let some of the module's allocations fail, while connections and qdiscs begin and end."""
        with self.module.failing_allocations():
            self.playground.at_random_times(BEGINNINGS, SHORTAGE_S, self.begin_something)
            self.queues.set_each_option(self.playground.nodes[-1])
        if self.queues.kind:
            self.queues.put_everywhere()

    def children(self) -> None:
        """Put other qdiscs below it, and delete its classes, while they hold packets."""
        use_children(self.queues, self.playground.nodes[-1])
        use_grandchildren(self.queues, self.playground.nodes[-1])
        self.queues.put_everywhere()

    def begin_something(self) -> None:
        if self.queues.kind:
            self.queues.renew(self.playground.random.choice(self.playground.nodes))
        self.playground.crowd.begin()

    def unload_in_use(self) -> None:
        """Check that the kernel refuses while the module's functions may be called."""
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
        """Load a second copy. The names that it registers are taken, so its init function must undo what it did, and
        refuse. A copy that is loaded nevertheless stays: its exit function would remove entries that are not on the
        kernel's lists."""
        copy, registered = self.module.copy(self.job.folder), tested_module.registrations()
        self.job.results["second copy"] = loaded = self.job.attempt(f"load {copy.name}", copy.load)
        if not loaded:
            return
        if registered != tested_module.registrations():  # under a name of its own, as sch_teql
            self.job.attempt(f"unload {copy.name}", copy.unload)
            return
        text = "its init function does not check whether registering failed: the name may be taken"
        if self.job.settings["qdisc"]:
            self.job.find(Name.EMPTY_LOAD, text)
        elif self.module.controls:  # some of the kernel's do not
            self.job.note(text)
        else:
            self.job.attempt(f"unload {copy.name}", copy.unload)

    def wind_down(self) -> None:
        """Check that written data arrives. Then close all, so that nothing uses the module."""
        if stuck := self.playground.finish(TIMEOUT_S):
            text = f"{len(stuck)} of {len(self.playground.flows)} flows did not come to an end in {TIMEOUT_S:g} s"
            self.job.find(Name.STALLED_TRAFFIC, f"{text}, as {stuck[0].name}")
        self.check_files()
        self.queues.remove_everywhere()
        self.playground.close()
        self.check_files()

    def check_files(self) -> None:
        """Read what it shows in debugfs and /proc/net, and check the numbers."""
        seen = set()
        for node in self.playground.nodes:
            with node:
                for path, lines, numbers in self.module.numbers():
                    key = (path, node.name if path.startswith("/proc/net") else "")
                    if key not in seen and path not in self.wrong_files:
                        self.check_numbers(key, lines, numbers)
                    seen.add(key)

    def check_numbers(self, file: tuple[str, str], lines: list[str], numbers: list[int]) -> None:
        """Check that nothing was counted down below 0. A number that was negative at first may be meant to be."""
        first = self.shown.setdefault(file, numbers)
        comparable = len(first) == len(numbers)
        for before, number in zip(first if comparable else numbers, numbers, strict=True):
            if number in WRAPPED or (comparable and before >= 0 > number):
                line = next(line for line in lines if str(number) in line)
                text = f"{' at '.join(filter(None, file))} shows {line.strip()!r}: {number} was counted down below 0"
                self.job.find(Name.WRONG_COUNT, text)
                self.wrong_files.add(file[0])
                return

    def unload(self) -> bool:
        """Unload it for good; return whether that succeeded."""
        try:
            self.module.unload(TIMEOUT_S)
        except OSError as error:
            why = {errno.EBUSY: "it has no module_exit()"}.get(error.errno or 0, reason(error))
            if error.errno == errno.EWOULDBLOCK:
                why = f"{self.module.reference_count()} references are left; {self.users()}"
            self.job.find(Name.REFUSED_UNLOAD, f"{TIMEOUT_S:g} s after its last use: {why}")
            return False
        return True

    def users(self) -> str:
        """Describe what may still use the module."""
        controls = [name for node in self.playground.nodes for name in controls_in_use(node)]
        sockets = sum(name in self.module.controls for name in controls)
        qdiscs = sum(queues.kinds(node).count(self.queues.kind or "") for node in self.playground.nodes)
        found = [f"{count} {what}" for count, what in ((sockets, "connections"), (qdiscs, "qdiscs")) if count]
        return f"used by {' and '.join(found)}" if found else "no connection and no qdisc uses it: a reference was lost"

    def load_without_memory(self) -> None:
        """Let each allocation made while it is loaded fail once."""
        text, seen = int(self.job.results["texts"][0], 16), self.job.results
        seen["allocations"] = 0
        try:
            while (
                self.module.load_with_failure(seen["allocations"] + 1, text) and seen["allocations"] < MOST_ALLOCATIONS
            ):
                seen["allocations"] += 1
        except OSError as error:
            self.job.find(Name.REFUSED_UNLOAD, f"after memory was short as it was loaded: {reason(error)}")

    def cycles(self, count: int) -> None:
        """Load and unload it this many times, using it now and then, and check whether the kernel grows. After a use it
        is unloaded at once, and for a while it is absent: whatever it left behind then strikes."""
        half, used_kb = count // 2, {}
        if count >= ENOUGH:
            time.sleep(SETTLED_S)
        for number in range(count):
            try:
                self.module.load()
            except OSError as error:
                self.job.find(Name.REFUSED_LOAD, f"at the {number + 1}th time: {refusal(error)}")
                return
            if number % USED_EVERY == 0:
                self.use_briefly()
            self.record_address()
            if not self.unload():
                return
            if number % USED_EVERY == 0:
                time.sleep(ABSENT_S)
            self.job.results["cycles"] = number + 1
            if count >= ENOUGH and any(end - READINGS <= number < end for end in (half, count)):
                time.sleep(ABSENT_S)
                used_kb[number] = tested_module.used_kb()
        if count >= ENOUGH:  # the least of some readings, as the kernel frees late
            before, after = (min(used_kb[end - back] for back in range(1, READINGS + 1)) for end in (half, count))
            grown, times = after - before, count - half
            self.job.results["grown_kb"] = grown
            if grown > NOISE_KB:
                self.job.find(Name.LEAK, f"{grown} kB more in use after it was loaded and unloaded {times} times")

    def record_address(self) -> None:
        """Record the addresses of its code and data, the latest first: they may be used after it is gone."""
        for what, section in SECTIONS.items():
            start, starts = self.module.text(section), self.job.results[what]
            if start != starts[0]:
                starts[:] = [start, *(before for before in starts if before != start)]
                self.job.write()

    def use_briefly(self) -> None:
        """Make one connection, over the qdisc if it is one, and reset it, so that nothing of it is left."""
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
def without_preemption() -> Iterator[None]:
    """Prevent all else from running, unless this program waits. So deferred work of the kernel, such as RCU callbacks,
    is still pending when a module is unloaded right after its use."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def refusal(error: OSError) -> str:
    """Return why a module was not loaded, and what to do."""
    if error.errno == errno.EEXIST:
        what = "the .id of its qdisc, the .name of its congestion control, or what else it registers"
        return f"{reason(error)}: the kernel has built in what goes by the same name; give {what} another"
    return reason(error)


def controls_in_use(node: Node) -> list[str]:
    """Return the congestion control of each connection of a node, in any state."""
    with node:
        return sock_diag.congestion_controls()


def search_for_leaks(job: Job) -> None:
    """Save kmemleak's reports, which the host reads, and clear them."""
    if job.settings["leaks"]:
        job.announce("phase search for leaks")
        job.results["leaks"][job.stage] = tested_module.leaks()
        tested_module.clear_leaks()
        job.write()


def check_suites(suites: set[str], job: Job) -> None:
    """Report what these suites of KUnit found."""
    tests = [(f"{suite}.{test}", said) for suite in sorted(suites) for test, said in kunit.read(kunit.results(suite))]
    for test, said in tests:
        if said is not None:
            job.find(Name.FAILED_TEST, f"{test} of KUnit{said and f': {said}'}")
    if suites:
        passed = sum(said is None for _, said in tests)
        job.results["kunit"] = {"tests": len(tests), "passed": passed}
        job.note(f"KUnit: {passed} of {len(tests)} tests pass")


def check(net: Net, job: Job) -> None:
    module = Module(job.settings["name"], job.settings["path"])
    playground = Playground(net, job)
    if job.settings["moment_us"]:
        Moment(job, job.settings["moment_us"])
    baseline_bytes = playground.deliver_alone("reno")
    if job.settings["leaks"]:
        tested_module.scan()
        tested_module.clear_leaks()
    job.enter(Stage.LOAD)
    suites = kunit.suites()
    try:
        module.load()
    except OSError as error:
        job.find(Name.REFUSED_LOAD, refusal(error))
        return
    check_suites(kunit.suites() - suites, job)
    if job.settings["registers"] and not module.registers:
        text = (
            f"it loads, but registers no {job.settings['registers']}: does its init function take an error for success?"
        )
        job.find(Name.EMPTY_LOAD, text)
        return
    placed = {one.name: one.sections() for one in (module, Module(tested_module.ORACLE, ""))}
    job.results |= {"sections": {name: sections for name, sections in placed.items() if sections}}
    job.results |= {what: [module.text(section)] for what, section in SECTIONS.items()}
    job.results["controls"] = module.controls
    job.write()
    job.enter(Stage.WORKOUT)
    workout = Workout(module, playground, job)
    if job.settings["workout"]:
        workout.workout(baseline_bytes)
        search_for_leaks(job)
    else:
        workout.queues.put_everywhere()
        workout.queues.remove_everywhere()
    job.announce("phase unload")
    job.save_counters()
    if not workout.unload():
        return
    job.enter(Stage.CYCLES)
    if job.settings["cycles"]:
        with without_preemption():
            workout.cycles(job.settings["cycles"])
        job.do(workout.load_without_memory)
        job.save_counters()
        search_for_leaks(job)


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
