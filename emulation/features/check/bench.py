# SPDX-License-Identifier: BSD-3-Clause
"""The whole bench: all stages of a check, in order.

A module is built, exercised in the debug kernel under several seeds in parallel, and compared. Pointless stages are
skipped: what does not compile is not loaded, and what breaks a kernel is not compared.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from analysis.figures import figures
from emulation import lanes
from emulation.features.check import (
    Report,
    Stage,
    build,
    compare,
    corpus,
    coverage,
    exercise,
    gdb,
    moment,
    reference,
    smp,
)
from emulation.features.check.build import Target
from emulation.features.check.corpus import ALONE, Search
from emulation.features.check.exercise import Place
from emulation.features.check.report import Done, merge
from emulation.features.check.subject import Module, Subject, examine, in_order
from emulation.files import tree
from emulation.lane.errors import Failure
from emulation.lanes import LaneError, Reason
from emulation.play import processes
from emulation.play.lab import Lab
from emulation.setup import Prepared, PreparedStock, kernel, stock
from emulation.setup.errors import say
from emulation.setup.tools import TELL_EVERY_S

CURVES = "curves.png"
REPORTS_OF_WORKOUT, OVER = 18, "over"  # approximate number of progress reports of a workout; the last one
IN_DEBUG_KERNEL = (Stage.LOAD, Stage.WORKOUT, Stage.CYCLES)


@dataclass(frozen=True)
class Options:
    """What is asked for. `seeds` are those of the workout and the comparison, `hops` the lengths of its strings.
    `optional` names the `stock` kernels that the module need not support. `of_qdisc` has its options, in hex. The
    `reference` is the file of which it is a copy, or `kernel` or `none`."""

    subject: Subject
    stages: frozenset[Stage]
    stock: Sequence[build.Target]
    optional: Collection[str]
    seeds: Sequence[int]
    hops: Sequence[int]
    cycles: int
    against: str
    strict: bool
    smp_tries: int = 1
    search: Search = ALONE
    of_qdisc: str = ""
    reference: str = reference.KERNELS


@dataclass
class Bench:
    """One check: its inputs, its folders, and the results so far. `debug` may be None if no stage needs the debug
    kernel. `many` has several CPUs; a text says why there is none."""

    options: Options
    lab: Lab
    debug: Place | None
    folder: Path
    scratch: Path
    progress: Progress
    draw: Callable[..., None]
    many: PreparedStock | str = ""
    done: list[Done] = field(default_factory=list)
    built: dict[str, dict[str, Module]] = field(default_factory=dict)

    def check(self) -> list[Done]:
        """Run all stages. Raises LaneError, Failure, Misuse or OSError for what the module did not cause."""
        self.build()
        built = [modules.keys() for name, modules in self.built.items() if name in (self.ordinary, self.workplace)]
        if any(set(self.options.subject.modules) - modules for modules in built):
            for stage in (*IN_DEBUG_KERNEL, Stage.REFERENCE, Stage.SMP, Stage.COMPARE):
                self.leave_out(stage, "it is not built for the lane's kernel")
            return self.done
        self.exercise()
        self.differ()
        self.smp()
        self.compare()
        return self.done

    def leave_out(self, stage: Stage, why: str, module: str = "") -> None:
        """Record that a requested stage is skipped."""
        if stage in self.options.stages:
            self.done.append(Done(stage, why, module))

    @property
    def stock(self) -> bool:
        """Whether the module is exercised and compared in a distribution's kernel."""
        return isinstance(self.debug, PreparedStock) or lanes.stock(self.lab.lane) is not None

    @property
    def ordinary(self) -> str:
        """The target in which it is compared."""
        return str(self.lab.release) if self.stock else build.LANE

    @property
    def workplace(self) -> str:
        """The target in which it is exercised."""
        return str(self.lab.release) if self.stock else build.DEBUG

    @contextmanager
    def working(self, what: str, steps: int = 0) -> Iterator[Callable[[float], None]]:
        """Show that something is going on, and how much is done; without a terminal, as a line now and then."""
        task = self.progress.add_task(what, total=steps or None)
        printed = time.monotonic()
        if self.progress.disable:
            say(what)

        def advance(done: float) -> None:
            nonlocal printed
            self.progress.update(task, completed=done)
            if self.progress.disable and time.monotonic() - printed >= TELL_EVERY_S:
                printed = time.monotonic()
                say(f"{what}: {min(100 * done / steps, 99):.0f} %")

        yield advance
        self.progress.update(task, total=1, completed=1)

    def build(self) -> None:
        wish, wanted = self.options, Stage.BUILD in self.options.stages
        needed = self.targets()
        others = [target for target in wish.stock if target.name not in {one.name for one in needed}]
        targets = [*needed, *others] if wanted else [replace(target, sparse=False) for target in needed]
        shown = [target.name for target in targets if target.name not in build.HIDDEN]
        hidden = [self.many.kernel.release] if isinstance(self.many, PreparedStock) else []
        names = ", ".join(shown or hidden or [target.folder.parent.name for target in targets])
        with self.working(f"building against {names}"):
            report = build.build(wish.subject, targets, self.scratch, wanted and wish.strict, wish.optional)
        (self.folder / "build").mkdir()
        for log in self.scratch.glob("*/*.log"):
            shutil.copyfile(log, self.folder / "build" / f"{log.parent.name}-{log.name}")
        sources = [file for file in wish.subject.files if file.suffix == ".c"]
        for target, paths in report.data["modules"].items():
            built = {name: replace(examine(Path(path), sources), options=wish.of_qdisc) for name, path in paths.items()}
            self.built[target] = {
                name: replace(built[name], before=tuple(in_order(built, name)[:-1])) for name in built
            }
        if wanted or report.findings:
            data = {"kernels": report.data["kernels"]}
            self.done.append(Done(Stage.BUILD, f"against {names}", report=replace(report, data=data)))

    def targets(self) -> list[Target]:
        """Return the kernels that the lanes boot."""
        many = [] if isinstance(self.many, str) else [smp.target(self.many)]
        if self.stock:
            return [Target(self.ordinary, stock.modules_of(self.ordinary) / "build"), *many]
        debug = [build.debug_target(self.debug.kernel)] if isinstance(self.debug, Prepared) else []
        lane = [build.lane_target(kernel.Kernel(self.lab.kernel.parent))] if self.options.stages - {Stage.SMP} else []
        return [*lane, *debug, *many]

    def exercise(self) -> None:
        """Run the workout of each module under each seed; load and unload it many times under the first."""
        wish = self.options
        if not wish.stages.intersection(IN_DEBUG_KERNEL) or not self.debug:
            return
        jobs = [(name, seed) for name in wish.subject.modules for seed in wish.seeds]
        count, over = 0, 0
        with self.working(f"putting load on it in {self.where()}", len(jobs) * REPORTS_OF_WORKOUT) as working:

            def heard(index: int, line: str) -> None:
                nonlocal count, over
                count += 1
                over += line == OVER
                working(count)

            workouts = [self.call(self.debug, name, seed) for name, seed in jobs]
            beforehand = self.baseline_runs(lambda: over < len(jobs))
            reports = processes.run_all(itertools.chain(workouts, beforehand), heard)
        for name in wish.subject.modules:
            mine = [found for (of, _), found in zip(jobs, reports, strict=False) if of == name and found]
            self.keep(name, itertools.chain(*mine))
            merged = merge(mine)
            self.add(name, {report.stage: report for report in self.with_moment(self.debug, name, merged)})

    def keep(self, name: str, reports: Iterable[Report]) -> None:
        """Keep the settings that ran something new."""
        new = [settings for one in reports for settings in one.data.get("reach", {}).get("corpus", ())]
        if new:
            corpus.keep(self.built[self.workplace][name].kind, new)

    def with_moment(self, debug: Place, name: str, reports: list[Report]) -> list[Report]:
        """Add a recording of the air before the first finding."""
        found = moment.of([finding for report in reports for finding in report.findings])
        if found is None or found.seed is None:
            return reports
        module, folder = self.built[self.workplace][name], self.folder / f"moment-{name}-{found.seed}"
        folder.mkdir()
        with self.working("again, to record the frames before the finding"):
            file = moment.record(debug, module, folder, found, self.cycles(found.seed), self.options.search)
        with_it = replace(found, pcapng=str(file or ""))
        return [
            replace(report, findings=tuple(with_it if one is found else one for one in report.findings))
            for report in reports
        ]

    def call(self, debug: Place, name: str, seed: int) -> processes.Call[list[Report]]:
        module, folder, cycles = self.built[self.workplace][name], self.workout_folder(name, seed), self.cycles(seed)
        folder.mkdir()

        def work_out(parent: processes.Parent) -> list[Report]:
            found = exercise.exercise(
                debug, module, folder, seed=seed, cycles=cycles, progress=parent.report, search=self.options.search
            )
            parent.report(OVER)
            return found

        return work_out

    def baseline_runs(self, wanted: Callable[[], bool]) -> Iterator[processes.Call[None]]:
        """Yield work for idle CPUs: the comparison's runs of the baseline."""
        wish = self.options
        for name in wish.subject.modules if Stage.COMPARE in wish.stages else ():
            folder, module = self.folder / f"compare-{name}", self.built[self.ordinary][name]
            yield from compare.baseline_runs(self.lab, module, wish.against, wish.hops, wish.seeds, folder, wanted)

    def workout_folder(self, name: str, seed: int) -> Path:
        return self.folder / f"workout-{name}-{seed}"

    def cycles(self, seed: int) -> int:
        """Return how often a module is loaded and unloaded under a seed: many times under the first only, as all are
        alike."""
        return self.options.cycles if Stage.CYCLES in self.options.stages and seed == self.options.seeds[0] else 0

    def stop_at_finding(self) -> str:
        """Repeat what led to the debug kernel's first finding in gdb. Return gdb's output if nobody is at the
        terminal."""
        found = ((one, finding) for one in self.done if one.report and one.module for finding in one.report.findings)
        done, finding = next(((one, each) for one, each in found if each.stage in IN_DEBUG_KERNEL), (None, None))
        if done is None or finding is None or finding.seed is None or not isinstance(self.debug, Prepared):
            return "nothing was found in the debug kernel, so there is nothing to stop at\n"
        module, folder = self.built[self.workplace][done.module], (self.folder / "gdb").resolve()
        folder.mkdir()
        try:
            sections = gdb.sections_of(self.workout_folder(done.module, finding.seed))
        except Failure as error:
            return f"{error}\n"
        return gdb.debug(
            self.debug, module, folder, sections, finding=finding, seed=finding.seed,
            cycles=self.cycles(finding.seed), batch=not sys.stdin.isatty(), search=self.options.search,
        )  # fmt: skip

    def add(self, name: str, reports: dict[Stage, Report]) -> None:
        """Add the results of a module's workouts."""
        saw, cycles = (reports[stage].data if stage in reports else {} for stage in (Stage.WORKOUT, Stage.CYCLES))
        what = {
            Stage.LOAD: f"into {self.where()}, {self.seeds()}",
            Stage.WORKOUT: f"{activity(saw)}, {self.seeds()}",
            Stage.CYCLES: f"loaded and unloaded {cycles.get('cycles', 0)} times",
        }
        for stage in IN_DEBUG_KERNEL:
            if stage not in reports:
                self.leave_out(stage, "not reached", name)
            elif stage in self.options.stages or reports[stage].findings:
                report = self.without_scratch(reports[stage])
                if ran := coverage.summary(report.data.get("coverage", {})):
                    report = replace(report, notes=(ran, *report.notes))
                self.done.append(Done(stage, what[stage], name, report))

    def where(self) -> str:
        return self.workplace if self.stock else "the debug kernel"

    def seeds(self) -> str:
        return f"seed{'s' * (len(self.options.seeds) > 1)} {listed(self.options.seeds)}"

    def without_scratch(self, report: Report) -> Report:
        """Remove the build folder, which has another name each time, from a report."""
        folders = f"{self.scratch}/{self.workplace}/source/", f"{self.options.subject.folder}/"

        def short(text: str) -> str:
            return text.replace(folders[0], "").replace(folders[1], "")

        findings = [
            replace(one, text=short(one.text), place=short(one.place), console=tuple(map(short, one.console)))
            for one in report.findings
        ]
        return replace(report, findings=tuple(findings), notes=tuple(map(short, report.notes)))

    def differ(self) -> None:
        """Compare what each module answers with what its reference does."""
        wish = self.options
        for name in wish.subject.modules if Stage.REFERENCE in wish.stages else ():
            if self.stock:
                self.leave_out(Stage.REFERENCE, "it is for the lane virtual", name)
                continue
            module = self.built[self.ordinary][name]
            found = reference.find(wish.reference, module, wish.subject, str(self.lab.release))
            if found is None:
                continue
            if isinstance(found, str):
                self.leave_out(Stage.REFERENCE, found, name)
                continue
            with self.working(f"comparing each call with {found.name}"):
                try:
                    report = reference.check(
                        reference.place(), module, wish.subject, found, self.folder / f"reference-{name}",
                        seed=wish.seeds[0],
                    )  # fmt: skip
                except (Failure, LaneError) as error:
                    self.leave_out(Stage.REFERENCE, str(error), name)
                    continue
            what = f"each call beside that of {found.name}, seed {wish.seeds[0]}"
            self.done.append(Done(Stage.REFERENCE, what, name, self.without_scratch(report)))

    def smp(self) -> None:
        """Put each module under load on several CPUs, except one with findings."""
        tries = self.options.smp_tries
        for name in self.options.subject.modules if Stage.SMP in self.options.stages else ():
            if isinstance(self.many, str):
                self.leave_out(Stage.SMP, self.many, name)
                continue
            release = self.many.kernel.release
            if self.has_findings(name):
                self.leave_out(Stage.SMP, "fix the findings first", name)
                continue
            if name not in self.built[build.SMP]:
                self.leave_out(Stage.SMP, f"it is not built for {release}", name)
                continue
            if self.many.modules.get(name) == self.many.kernel.linux:
                self.leave_out(Stage.SMP, f"{release} has a {name} built in", name)
                continue
            try:
                with self.working(
                    f"putting load on it on {smp.CPUS} CPUs of {release}", tries * smp.connections_in(self.many)
                ) as working:
                    report = smp.check(
                        self.many, self.built[build.SMP][name], self.folder / f"smp-{name}",
                        seed=self.options.seeds[0], tries=tries, progress=working,
                    )  # fmt: skip
            except LaneError as error:
                if error.reason not in (Reason.CRASHED, Reason.NOT_STARTED, Reason.WALL_LIMIT):
                    raise
                self.leave_out(Stage.SMP, f"not the module's fault: {error}", name)
                continue
            report, saw = self.without_scratch(report), report.data
            what = f"{saw['connections']} short connections on {smp.CPUS} CPUs of {release}, loaded again "
            what += f"{saw['reloads']} times; {tries} {'try' if tries == 1 else 'tries'}"
            self.done.append(Done(Stage.SMP, what, name, report))

    def has_findings(self, name: str) -> bool:
        """Return whether something is wrong with a module. Another behaviour than the reference's may be meant."""
        return any(
            one.module == name and one.report and one.report.findings and one.stage is not Stage.REFERENCE
            for one in self.done
        )

    def compare(self) -> None:
        """Compare each module, except one with findings."""
        wish = self.options
        for name in wish.subject.modules if Stage.COMPARE in wish.stages else ():
            folder = self.folder / f"compare-{name}"
            if self.has_findings(name):
                with suppress(OSError):
                    tree.remove(str(folder))
                self.leave_out(Stage.COMPARE, "fix the findings first", name)
                continue
            module = self.built[self.ordinary][name]
            with self.working(f"comparing it with {wish.against}", 1) as working:
                report = compare.compare(self.lab, module, wish.against, wish.hops, wish.seeds, folder, working)
            if report.notes and not report.data:
                self.leave_out(Stage.COMPARE, report.notes[0], name)
                continue
            what = f"beside {wish.against} over {listed(wish.hops)} hops, {compare.SECONDS:g} s each, {self.seeds()}"
            self.done.append(Done(Stage.COMPARE, what, name, report))
            if report.data:
                curves = self.folder / (CURVES if len(wish.subject.modules) == 1 else f"{name}-{CURVES}")
                note = f"seed {report.data['seeds'][0]}; {compare.SECONDS:g} s; beside {wish.against}"
                self.draw(figures.tcp_flows, curves, compare.flows_over_time(folder, report.data), note)


def listed(numbers: Sequence[int]) -> str:
    """Return numbers as text: a list, or a range."""
    first, last = numbers[0], numbers[-1]
    in_a_row = len(numbers) > 2 and list(numbers) == list(range(first, last + 1))
    return f"{first} to {last}" if in_a_row else ", ".join(map(str, numbers))


def activity(records: Mapping[str, Any]) -> str:
    """Describe what happened in a workout, from its records."""
    counts = {
        "short connections": sum(records.get("short", {}).values()),
        "values of parameters": sum(map(len, records.get("parameters", {}).values())),
        "rounds for code that never ran": records.get("reach", {}).get("rounds", 0),
    }
    return ", ".join(["losses, outages, other routes", *(f"{count} {what}" for what, count in counts.items() if count)])


def bar() -> Progress:
    """Return a progress bar that disappears at the end; without a terminal it is disabled."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
