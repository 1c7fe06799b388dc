# SPDX-License-Identifier: BSD-3-Clause
"""The host's side of the workout: boot the debug kernel, run `workout` in it, and read what it and the kernel report.

The stages load, workout and cycles use one lane, so one boot and one seed serve all of them.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import topologies
from emulation import files
from emulation.features.check import Finding, Name, Report, Stage, build, coverage, splats
from emulation.features.check import inside as inner
from emulation.features.check.corpus import ALONE, Search
from emulation.features.check.inside.job import SAVED_COUNTERS
from emulation.features.check.lines import Lines, explained
from emulation.features.check.subject import Kind, Module, examine
from emulation.lane import guest
from emulation.lanes import LaneError, Listener, Reason, virtual, vm
from emulation.plan import plan
from emulation.setup import Prepared, PreparedStock, kernel, prepare
from emulation.specification import specify

CYCLES = 200
MEMORY_MB = 512
WALL_LIMIT_S, IN_VM = 300.0, 3  # multiple of the limit in an emulated processor
STAGES = (Stage.LOAD, Stage.WORKOUT, Stage.CYCLES)
INNER = Path(inner.__file__).parent
PROGRAM = INNER / "workout.py"
AIR, SUBJECT = "dcf80211", "subject.ko"
NO_REASON = re.compile(r"taints kernel|version magic:")  # messages that loading any module causes once
CONSOLE, FINDING = "console.log", "dcflab: finding: "
BEGINS = re.compile(r"\bdcflab: (phase|stage) ")  # a part of the workout
MOST_LOG = 1 << 24  # bytes of it that are read: a broken module can warn without end

# All checks report in full on the console, with real addresses, between the workout's own messages.
KERNEL_ARGUMENTS = ("loglevel=7", "printk.devkmsg=on", "no_hash_pointers")

# A string of five with hidden terminals, and a sixth station beside its middle, which offers another path.
PLAYGROUND = topologies.Layout(
    stations={f"sta{i + 1}": (200.0 * i, 0.0, 0.0) for i in range(5)} | {"sta6": (400.0, 100.0, 0.0)},
    flows=[("sta1", "sta5")],
).network()
# The ends use all of Linux's TCP, the others little: a module meets recovery with and without SACK.
WITHOUT_SACK = {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_timestamps": "0", "net.ipv4.tcp_recovery": "0"}
WITH_ECN = {"net.ipv4.tcp_ecn": "1"}


Place = Prepared | PreparedStock  # where modules are exercised: the debug kernel, or a distribution's


def debug_kernel() -> Prepared:
    """Return the debug kernel with our modules for it, and those that modules under test call; build what is missing.
    Raises Failure if that fails."""
    return prepare(configuration=kernel.DEBUG, folders=(build.ORACLE_FOLDER,))


def exercise(
    prepared: Place, module: Module, folder: Path, *, seed: int = 1, cycles: int = CYCLES,
    wall_limit_s: float = WALL_LIMIT_S, progress: Callable[[str], None] = lambda what: None,
    one_is_enough: bool = False, search: Search = ALONE,
) -> list[Report]:  # fmt: skip
    """Exercise a module. Return the reports of those STAGES that were reached.

    `module` is built against `prepared`, the debug kernel or a distribution's. Those that it needs are loaded at boot.
    `folder` must be empty; it gets job.json, plan.json, subject.ko, console.log and
    workout.json. With `one_is_enough`, the workout ends after the first phase with a finding. Otherwise, if it ends the
    kernel, the cycles come in another one, as they find other mistakes; `folder` gets a folder for them. Raises
    LaneError if the lane failed for another reason than the module, OSError if the folder is unusable. `search` is for
    code that did not run.
    """
    write_job(prepared, module, folder, seed, cycles, search)
    run = partial(in_lane, prepared, module, seed=seed, wall_limit_s=wall_limit_s, progress=progress)
    reports, died = run(folder, one_is_enough=one_is_enough)
    if died and cycles and not one_is_enough and reports[-1].stage is Stage.WORKOUT:
        alone = folder / Stage.CYCLES
        alone.mkdir()
        write_job(prepared, module, alone, seed, cycles, workout=False)
        reports += (report for report in run(alone)[0] if report.stage is Stage.CYCLES)
    return reports


def in_lane(
    prepared: Place, module: Module, folder: Path, *, seed: int, wall_limit_s: float,
    progress: Callable[[str], None], one_is_enough: bool = False,
) -> tuple[list[Report], bool]:  # fmt: skip
    """Run the folder's job. Return the reports of the stages that were reached, and whether the kernel died."""
    clock = Clock(progress)
    error = None

    def hear(line: str) -> None:
        clock.hear(line)
        if one_is_enough and found_already(folder):
            raise Enough

    try:
        boot(prepared, module, folder, seed, hear, wall_limit_s)
    except LaneError as caught:
        error = caught
    clock.hear("")
    if error and error.reason is Reason.CRASHED and went_on(folder):
        error = None
    reports = read(prepared, folder, module, seed, clock.seconds)
    died = error is not None and error.reason is Reason.CRASHED
    return failure_findings(reports, error, wall_limit_s, seed), died


class Enough(Exception):
    """A listener has heard what it waited for."""


def boot(
    prepared: Place, module: Module, folder: Path, seed: int, hear: Callable[[str], None],
    wall_limit_s: float = WALL_LIMIT_S,
) -> None:  # fmt: skip
    """Run the folder's job until its end, or until `hear` raises Enough. Raises LaneError if the lane fails."""
    lane: Any = vm.LANE if isinstance(prepared, PreparedStock) else virtual
    limit_s = IN_VM * wall_limit_s if isinstance(prepared, PreparedStock) else wall_limit_s
    with contextlib.suppress(Enough):
        lane.run(
            prepared.kernel.linux, modules_of(prepared, module), folder, ["script", str(PROGRAM)], seed=seed,
            wall_limit_s=limit_s, listener=Listener(hear), memory_mb=MEMORY_MB, kernel_arguments=KERNEL_ARGUMENTS,
        )  # fmt: skip


def built_against(prepared: Place) -> Path:
    """Return the folder against which modules for it are built."""
    return prepared.kernel.headers if isinstance(prepared, PreparedStock) else prepared.kernel.folder


def found_already(folder: Path) -> bool:
    """Return whether the kernel or the workout has reported anything before the present phase. What it reports in this
    one is not whole yet, and a busy host may hear of a phase when it is half over."""
    lines = console_of(folder)
    began = max((at for at, line in enumerate(lines) if BEGINS.search(line)), default=0)
    return any(FINDING in line for line in lines[:began]) or not all(map(splats.meant, splats.find(lines[:began])))


def went_on(folder: Path) -> bool:
    """Return whether the kernel reported only warnings that the workout provokes."""
    return bool(found := reported(folder)) and all(map(splats.meant, found))


def reported(folder: Path, seed: int | None = None) -> list[Finding]:
    """Return all that the kernel reported."""
    return splats.find(console_of(folder), seed)


def console_of(folder: Path) -> list[str]:
    with files.opened(folder / CONSOLE) as log:
        return log.read(MOST_LOG).decode(errors="replace").splitlines()


def write_job(
    prepared: Place, module: Module, folder: Path, seed: int, cycles: int, search: Search = ALONE,
    moment_us: int | None = None, workout: bool = True,
) -> None:  # fmt: skip
    """Write the workout's files: the plan (docs/interfaces.md, section 1), the job, and the module. If there is a
    `moment_us`, in the lane's time, the air is recorded before it and the workout ends there. Without a `workout` the
    cycles follow the load."""
    traced = moment_us is not None
    made = plan(specify(PLAYGROUND, {"rts": "none", "trace": traced, "seed": seed})) | {"name": "workout"}
    for node in made["nodes"]:
        node["sysctl"] |= WITHOUT_SACK if node["name"] in ("sta2", "sta4") else WITH_ECN
    (folder / "plan.json").write_text(json.dumps(made))
    leaks = "CONFIG_DEBUG_KMEMLEAK=y" in (built_against(prepared) / ".config").read_text().splitlines()
    job = {"name": module.name, "path": shown(module, folder), "qdisc": module.qdisc, "seed": seed,
           "classful": module.classful, "options": module.options, "cycles": cycles, "leaks": leaks,
           "moment_us": moment_us, "workout": workout,
           "registers": str(module.kind) if module.kind is not Kind.OTHER else "",
           "rounds": search.rounds, "corpus": search.corpus.get(module.kind, []),
           "counted": coverage.counted(module.path.parent)}  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job))


def shown(module: Module, folder: Path) -> str:
    """Copy a module into the run folder; return its path in the lane, which does not load it at boot."""
    shutil.copy(module.path, folder / SUBJECT)
    return f"{guest.RUN}/{SUBJECT}"


def modules_of(prepared: Place, module: Module) -> dict[str, Path]:
    """Return what the lane loads at boot: the air, and what the module under test needs."""
    return {AIR: prepared.modules[AIR], **beside(prepared, module)}


def beside(prepared: Place, module: Module) -> dict[str, Path]:
    """Return the modules `before` a module and the kernel's that they need, in loading order."""
    own = {one.name: one.path for one in module.before}
    names = [name for one in (*module.before, module) for name in needed(prepared, one) if name not in own]
    return {**{name: prepared.modules[name] for name in names}, **own}


def needed(prepared: Place, module: Module) -> Iterator[str]:
    """Yield the modules of the kernel and ours that a module needs, in loading order."""
    for name in module.needs:
        if name in prepared.modules:
            yield from needed(prepared, examine(prepared.modules[name]))
            yield name


class Clock:
    """Measures the wall time of each stage, from the workout's output."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self.progress = progress
        self.seconds: dict[Stage, float] = {}
        self.stage, self.since = Stage.LOAD, time.monotonic()

    def hear(self, line: str) -> None:
        now = time.monotonic()
        self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.since = now
        if line.startswith("stage "):
            self.stage = Stage(line.removeprefix("stage "))
        if line:
            self.progress(line)


def read(prepared: Place, folder: Path, module: Module, seed: int, seconds: dict[Stage, float]) -> list[Report]:
    """Read what the workout and the kernel left in the run folder."""
    console = console_of(folder)
    path = folder / "workout.json"
    seen: dict[str, Any] = files.read_json(path) if path.exists() else {}
    found = [splats.with_cause(one, module.name) for one in reported(folder, seed) if not splats.meant(one)]
    for f in seen.pop("findings", []):
        when_s = splats.time_of(console, f"{FINDING}{f['name']}: {f['text']}")
        found.append(explain(Finding(Stage(f["stage"]), Name(f["name"]), f["text"], seed, time_s=when_s), console))
    for when, lines in seen.pop("leaks", {}).items():
        found += splats.leaks(Stage(when), lines, module.name, seed)
    if found:
        texts, data_ = ([int(text, 16) for text in seen.get(what, [])] for what in ("texts", "data"))
        lines = Lines(module.name, module.path, built_against(prepared), texts, data_)
        found = [explained(finding, lines) for finding in found]
    seen["coverage"] = coverage.read(folder / SAVED_COUNTERS, module.path.parent)
    notes = seen.pop("notes", [])
    if (folder / CONSOLE).stat().st_size > MOST_LOG:
        notes.append(f"the kernel's log has more than {MOST_LOG >> 20} MB; what comes later was not read")
    data, reports = {Stage.WORKOUT: seen, Stage.CYCLES: {"cycles": seen.get("cycles", 0)}}, []
    reached = {*seconds, *(one.stage for one in found)}  # one that ended early may have gone further than was heard
    for stage in (stage for stage in STAGES if stage in reached):
        mine = tuple(one for one in found if one.stage is stage)
        said = tuple(notes) if stage is Stage.WORKOUT else ()
        reports.append(Report(stage, mine, said, seconds.get(stage, 0.0), data.get(stage, {})))
    return reports


def explain(finding: Finding, console: Sequence[str]) -> Finding:
    """Add the kernel's message about a refused load, which says more than an errno."""
    if finding.name is not Name.REFUSED_LOAD:
        return finding
    ours = [at for at, line in enumerate(console) if "] dcflab: " in line]
    said = tuple(line for line in console[ours[-2] + 1 : ours[-1]] if not NO_REASON.search(line))
    last = f": {said[-1].partition('] ')[2]}" if said else ""
    return replace(finding, text=finding.text + last, console=said)


def failure_findings(reports: list[Report], error: LaneError | None, limit_s: float, seed: int) -> list[Report]:
    """Add why the lane died to the last stage's findings. Raises the error if the module cannot have caused it."""
    if error is None:
        return reports
    *others, last = reports
    if error.reason is Reason.WALL_LIMIT:
        text = f"no end after {limit_s:g} s{splats.last_lines(error.console)}"
        found = Finding(last.stage, Name.HANG, text, seed, error.console)
    elif any(report.findings for report in reports):
        return reports
    elif error.reason is Reason.CRASHED:
        found = Finding(last.stage, Name.OOPS, error.detail, seed, error.console)
    else:
        raise error
    return [*others, replace(last, findings=(*last.findings, found))]
