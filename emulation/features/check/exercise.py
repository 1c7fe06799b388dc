# SPDX-License-Identifier: BSD-3-Clause
"""The host's side of the workout: boot the debug kernel, let `workout` run in it, and read what it and the kernel say.

The stages load, workout and cycles come out of one lane, so that one boot and one seed stand for all of them.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import topologies
from emulation import files
from emulation.features.check import Finding, Name, Report, Stage, coverage, splats
from emulation.features.check import inside as inner
from emulation.features.check.inside.job import KEPT_COUNTERS
from emulation.features.check.lines import Lines, explained
from emulation.features.check.subject import Module, examine
from emulation.lane import guest
from emulation.lanes import LaneError, Listener, Reason, virtual, vm
from emulation.plan import plan
from emulation.setup import Prepared, PreparedStock, kernel, prepare
from emulation.specification import specify

CYCLES = 200
MEMORY_MB = 512
WALL_LIMIT_S, IN_VM = 300.0, 3  # so many times that in an emulated processor
STAGES = (Stage.LOAD, Stage.WORKOUT, Stage.CYCLES)
INNER = Path(inner.__file__).parent
BALANCE = Path(__file__).parent / "balance"
PROGRAM = INNER / "workout.py"
AIR, SUBJECT = "dcf80211", "subject.ko"
NO_REASON = re.compile(r"taints kernel|version magic:")  # what loading any module makes the kernel, or gcov, say once
CONSOLE, FINDING = "console.log", "dcflab: finding: "

# A whole report of every check on the console, with addresses as they are, and the workout's own words in between.
KERNEL_ARGUMENTS = ("loglevel=7", "printk.devkmsg=on", "no_hash_pointers")

# A string of five with hidden terminals, and a sixth station beside its middle, by which there is another way.
PLAYGROUND = topologies.Layout(
    stations={f"sta{i + 1}": (200.0 * i, 0.0, 0.0) for i in range(5)} | {"sta6": (400.0, 100.0, 0.0)},
    flows=[("sta1", "sta5")],
).network()
# The ends know all that Linux's TCP knows, the others little: a module meets recovery with and without SACK.
WITHOUT_SACK = {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_timestamps": "0", "net.ipv4.tcp_recovery": "0"}
WITH_ECN = {"net.ipv4.tcp_ecn": "1"}


Place = Prepared | PreparedStock  # where modules are put to work: the debug kernel, or a distribution's


def debug_kernel() -> Prepared:
    """The debug kernel and our modules for it, also what modules under test call there, built if they are not there.
    Raises Failure."""
    return prepare(configuration=kernel.DEBUG, folders=(BALANCE,))


def exercise(
    prepared: Place,
    module: Module,
    folder: Path,
    *,
    before: Sequence[Module] = (),
    seed: int = 1,
    cycles: int = CYCLES,
    wall_limit_s: float = WALL_LIMIT_S,
    progress: Callable[[str], None] = lambda what: None,
    one_is_enough: bool = False,
) -> list[Report]:
    """Put a module to work; returns the reports of STAGES, of those that were reached.

    `module` is built against `prepared`, the debug kernel or a distribution's; those `before` it are loaded at boot, as
    it needs them. `folder` is empty and keeps job.json, plan.json, subject.ko, console.log and workout.json. It ends
    with the first phase in which something is found, if `one_is_enough`. Raises LaneError if the lane did not end well
    for another reason than the module, and OSError if the folder is unusable.
    """
    write_job(prepared, module, folder, seed, cycles)
    clock = Clock(progress)
    error = None

    def hear(line: str) -> None:
        clock.hear(line)
        if one_is_enough and found_already(folder):
            raise Enough

    try:
        boot(prepared, module, folder, before, seed, hear, wall_limit_s)
    except LaneError as caught:
        error = caught
    clock.hear("")
    if error and error.reason is Reason.CRASHED and went_on(folder):
        error = None
    reports = read(prepared, folder, module, seed, clock.seconds)
    return blame(reports, error, wall_limit_s, seed)


class Enough(Exception):
    """A listener has heard what it waited for."""


def boot(
    prepared: Place, module: Module, folder: Path, before: Sequence[Module], seed: int,
    hear: Callable[[str], None], wall_limit_s: float = WALL_LIMIT_S,
) -> None:  # fmt: skip
    """Let the folder's job be done, unless who hears of it has had Enough. Raises LaneError."""
    lane: Any = vm.LANE if isinstance(prepared, PreparedStock) else virtual
    limit_s = IN_VM * wall_limit_s if isinstance(prepared, PreparedStock) else wall_limit_s
    with contextlib.suppress(Enough):
        lane.run(
            prepared.kernel.linux, modules_of(prepared, module, before), folder, ["script", str(PROGRAM)], seed=seed,
            wall_limit_s=limit_s, listener=Listener(hear), memory_mb=MEMORY_MB, kernel_arguments=KERNEL_ARGUMENTS,
        )  # fmt: skip


def built_against(prepared: Place) -> Path:
    """What modules for it are built against."""
    return prepared.kernel.headers if isinstance(prepared, PreparedStock) else prepared.kernel.folder


def found_already(folder: Path) -> bool:
    """Whether the kernel or the workout has told of anything."""
    return any(FINDING in line for line in console_of(folder)) or not all(map(splats.meant, told(folder)))


def went_on(folder: Path) -> bool:
    """Whether the kernel warned of what was to happen, and of nothing else."""
    return bool(found := told(folder)) and all(map(splats.meant, found))


def told(folder: Path, seed: int | None = None) -> list[Finding]:
    """All that the kernel told of."""
    return splats.find(console_of(folder), seed)


def console_of(folder: Path) -> list[str]:
    return files.read(folder / CONSOLE).decode(errors="replace").splitlines()


def write_job(
    prepared: Place, module: Module, folder: Path, seed: int, cycles: int, moment_us: int | None = None
) -> None:
    """The workout's files: docs/interfaces.md, section 1, what it is to do, and the module. A `moment` before which the
    air is recorded, in the lane's time, is the workout's last."""
    traced = moment_us is not None
    made = plan(specify(PLAYGROUND, {"rts": "none", "trace": traced, "seed": seed})) | {"name": "workout"}
    for node in made["nodes"]:
        node["sysctl"] |= WITHOUT_SACK if node["name"] in ("sta2", "sta4") else WITH_ECN
    (folder / "plan.json").write_text(json.dumps(made))
    leaks = "CONFIG_DEBUG_KMEMLEAK=y" in (built_against(prepared) / ".config").read_text().splitlines()
    job = {"name": module.name, "path": shown(module, folder), "qdisc": module.qdisc, "seed": seed,
           "cycles": cycles, "leaks": leaks, "moment_us": moment_us,
           "built": str(module.path.parent.resolve())}  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job))


def shown(module: Module, folder: Path) -> str:
    """Where a module is in a lane that does not load it at boot: in the run folder, a copy."""
    shutil.copy(module.path, folder / SUBJECT)
    return f"{guest.RUN}/{SUBJECT}"


def modules_of(prepared: Place, module: Module, before: Sequence[Module]) -> dict[str, Path]:
    """What the lane loads at boot: the air, and what the module under test needs."""
    own = {one.name: one.path for one in before}
    names = [name for one in (*before, module) for name in needed(prepared, one) if name not in own]
    return {AIR: prepared.modules[AIR], **{name: prepared.modules[name] for name in names}, **own}


def needed(prepared: Place, module: Module) -> Iterator[str]:
    """What a module needs of the kernel's modules and ours, in the order of loading."""
    for name in module.needs:
        if name in prepared.modules:
            yield from needed(prepared, examine(prepared.modules[name]))
            yield name


class Clock:
    """The wall time of each stage, from what the workout prints."""

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
    """What the workout and the kernel left in the run folder."""
    console = console_of(folder)
    path = folder / "workout.json"
    seen: dict[str, Any] = files.read_json(path) if path.exists() else {}
    found = [splats.with_cause(one, module.name) for one in told(folder, seed) if not splats.meant(one)]
    for f in seen.pop("findings", []):
        when_s = splats.told_at(console, f"{FINDING}{f['name']}: {f['text']}")
        found.append(explain(Finding(Stage(f["stage"]), Name(f["name"]), f["text"], seed, time_s=when_s), console))
    for when, lines in seen.pop("leaks", {}).items():
        found += splats.leaks(Stage(when), lines, module.name, seed)
    if found:
        texts = [int(text, 16) for text in seen.get("texts", [])]
        lines = Lines(module.name, module.path, built_against(prepared), texts)
        found = [explained(finding, lines) for finding in found]
    seen["coverage"] = coverage.read(folder / KEPT_COUNTERS, module.path.parent)
    notes = seen.pop("notes", [])
    return [
        Report(
            stage,
            tuple(one for one in found if one.stage is stage),
            tuple(notes if stage is Stage.WORKOUT else ()),
            seconds[stage],
            seen if stage is Stage.WORKOUT else {},
        )
        for stage in STAGES
        if stage in seconds
    ]


def explain(finding: Finding, console: Sequence[str]) -> Finding:
    """Add to a refused load what the kernel says of it, which is more than an errno."""
    if finding.name is not Name.REFUSED_LOAD:
        return finding
    ours = [at for at, line in enumerate(console) if "] dcflab: " in line]
    said = tuple(line for line in console[ours[-2] + 1 : ours[-1]] if not NO_REASON.search(line))
    last = f": {said[-1].partition('] ')[2]}" if said else ""
    return replace(finding, text=finding.text + last, console=said)


def blame(reports: list[Report], error: LaneError | None, limit_s: float, seed: int) -> list[Report]:
    """Add what the lane died of to the last stage's findings; raise it, if it cannot have been the module."""
    if error is None:
        return reports
    last = reports[-1]
    if error.reason is Reason.WALL_LIMIT:
        during = splats.last_words(error.console)
        text = f"no end after {limit_s:g} s of wall time{during}"
        hang = Finding(last.stage, Name.HANG, text, seed, error.console)
        return [*reports[:-1], add(last, hang)]
    if any(report.findings for report in reports):
        return reports
    if error.reason is Reason.CRASHED:
        return [*reports[:-1], add(last, Finding(last.stage, Name.OOPS, error.detail, seed, error.console))]
    raise error


def add(report: Report, finding: Finding) -> Report:
    return replace(report, findings=(*report.findings, finding))
