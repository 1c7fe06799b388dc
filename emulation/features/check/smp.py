# SPDX-License-Identifier: BSD-3-Clause
"""The stage smp: a kernel with several CPUs, in QEMU and in real time, under `inside.smp`.

QEMU runs each CPU in a thread, so what two CPUs do at once follows from this machine, and not from the seed. A try
may miss a race, and the next one finds it: a finding says in how many tries it came. The kernel checks its memory
(`slub_debug`), and ends at its first oops. In a distribution's unmodified kernel, our module `stagger` makes races more
frequent, and names data races. In the debug kernel (`smp_kernel`), KCSAN does both, and lockdep checks locks.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from emulation import files, lanes
from emulation.features.check import Finding, Name, Report, Stage, kcsan, smp_kernel, splats
from emulation.features.check import inside as inner
from emulation.features.check.build import Target, kcsan_target, smp_target
from emulation.features.check.exercise import CONSOLE, beside, built_against, console_of, shown
from emulation.features.check.lines import FRAME, Lines, explained
from emulation.features.check.subject import Module
from emulation.lanes import Clock, LaneError, Listener, Reason
from emulation.lanes.vm import Vm
from emulation.setup import Group, PreparedStock, modules, packages, stock

CPUS, CONNECTIONS, LARGEST = 4, 450, 64 << 10  # bytes of one write
SLOWER = 3  # connections are fewer by this factor in the debug kernel, where a packet takes longer
SHORT = 4 << 10  # bytes of one write there
WALL_LIMIT_S, QUIET_S = 900.0, 300.0  # the kernel finds most hangs; how long the log of another one is quiet
PROGRAM = Path(inner.__file__).parent / "smp.py"
STAGGER = Path(__file__).parent / "stagger"
PROGRESS, WORKOUT = "connections ", "workout.json"
# It may switch tasks anywhere in the kernel. Another program may have this machine's CPUs for long, so limits are long.
KERNEL_ARGUMENTS = (
    *("loglevel=7", "printk.devkmsg=on", "no_hash_pointers", "oops=panic", "preempt=full"),
    "rcupdate.rcu_cpu_stall_timeout=200",
)
# It checks objects as they are allocated and freed: those of all caches, if the module has one of its own, or else
# memory and packets. All take twice as long.
OBJECTS, OWN_CACHE = "slub_debug=FZPU,kmalloc-*,skbuff_*", (b"kmem_cache_create", "slub_debug=FZPU")
# Only the module is watched, so KCSAN can watch more of its accesses than in a whole kernel, and longer: one in this
# many. A qdisc accesses more, and waits with its lock held.
WATCHING, SKIPPED, SKIPPED_OF_QDISC = ("kcsan.udelay_task=1500", "kcsan.udelay_interrupt=1000"), 8, 64
BOOTS = 4  # attempts of one try, if the emulator fails
FAST = 2.0  # a clock that is wrong by this factor
# QEMU's CPUs may run code that another one has just replaced: a breakpoint that the kernel no longer knows.
STALE = re.compile(r"Oops: int3: ")
REPORT_S = 3.0  # in which a CPU writes a report
LAST_LINE = re.compile(r"^---\[ end trace|^FIX |^=+$")
OURS, RACE, NOTE = "dcflab: ", "dcflab: race: ", "dcflab: note: "
FREED = "BUG: freed meanwhile: "
SEEN = "without a lock that both hold: "
UNSTABLE = "tries differ, as CPUs run at once"
PLACE = re.compile(r"[\w./-]+\.[ch]:\d+")
STOCK, DEBUG = KERNELS = "stock", "debug"


@dataclass(frozen=True)
class Try:
    """One load: what was found, how many connections began, and how often the module was loaded again."""

    findings: tuple[Finding, ...]
    connections: int = 0
    reloads: int = 0
    notes: tuple[str, ...] = ()


def release_for(targets: Sequence[Target], wanted: str | None = None) -> tuple[str, str]:
    """Return the wanted kernel, or else the latest among the targets that can be booted here; or "", and why there is
    none."""
    if wanted is not None:
        return stock.release_of(stock.find(wanted)), ""
    if lacking := packages.missing(Group.VM):
        return "", f"not installed: {', '.join(lacking)}; ./dcflab doctor says how to"
    there = {stock.release_of(image) for image in stock.installed()}
    fit = [target.name for target in targets if target.name in there]
    return (fit[-1], "") if fit else ("", "no stock kernel to build for can be booted here")


def place_of(release: str) -> PreparedStock:
    """Return a kernel that is ready to boot, with its own modules and `stagger`. Raises SetupError if that fails."""
    kernel = stock.obtain(release)
    return PreparedStock(kernel, kernel.modules | modules.obtain(STAGGER, kernel))


def debug_place() -> PreparedStock:
    """Return the debug kernel, built if it is missing. Raises SetupError if that fails."""
    kernel = smp_kernel.obtain()
    return PreparedStock(kernel, kernel.modules)


def chosen(kind: str, targets: Sequence[Target], wanted: str | None = None) -> PreparedStock | str:
    """Return the kernel of one of KERNELS, a stock one as `release_for` finds it, or why there is none. Raises
    SetupError if it cannot be made ready."""
    if kind == DEBUG:
        return debug_place()
    release, lacking = release_for(targets, wanted)
    return place_of(release) if release else lacking


def debugs(place: PreparedStock) -> bool:
    return isinstance(place.kernel, smp_kernel.Debug)


def connections_in(place: PreparedStock) -> int:
    """Return how many connections a try has."""
    return CONNECTIONS // SLOWER if debugs(place) else CONNECTIONS


def target(place: PreparedStock) -> Target:
    """Return the kernel to build for: the module waits at some of its accesses to memory."""
    if debugs(place):
        return kcsan_target(place.kernel.headers)
    return smp_target(place.kernel.headers, place.modules[STAGGER.name])


def check(
    place: PreparedStock, module: Module, folder: Path, *, seed: int = 1, tries: int = 1,
    connections: int | None = None, progress: Callable[[float], None] = lambda done: None,
) -> Report:  # fmt: skip
    """Put a module under load, `tries` times, each in a folder of its own in `folder`; progress is in connections.

    Raises LaneError if the lane failed for another reason than the module, OSError if the folder is unusable.
    """
    began, done = time.monotonic(), []
    connections = connections or connections_in(place)
    for number in range(tries):
        mine = folder / str(number + 1)
        mine.mkdir(parents=True)
        report = partial(lambda earlier, here: progress(earlier + here), number * connections)
        done.append(attempt(place, module, mine, seed + number, connections, report))
    data = {
        "kernel": place.kernel.release, "cpus": CPUS, "tries": tries, "found": sum(bool(one.findings) for one in done),
        "connections": sum(one.connections for one in done), "reloads": sum(one.reloads for one in done),
    }  # fmt: skip
    notes = tuple(dict.fromkeys(note for one in done for note in one.notes))
    return Report(Stage.SMP, tuple(counted(done, folder.name)), notes, time.monotonic() - began, data)


def attempt(
    place: PreparedStock, module: Module, folder: Path, seed: int, connections: int, progress: Callable[[int], None]
) -> Try:
    """Put a module under load once. `folder` gets job.json, subject.ko, console.log and workout.json."""
    job = {"name": module.name, "path": shown(module, folder), "qdisc": module.qdisc, "options": module.options,
           "seed": seed, "connections": connections, "largest": SHORT if debugs(place) else LARGEST}  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job))
    kernel = place.kernel.linux
    lane: Any = lanes.ready(Vm(stock=place.kernel.release, clock=Clock.REAL, cpus=CPUS), kernel)[0]
    began = 0

    def hear(line: str) -> None:
        nonlocal began
        if line.startswith(PROGRESS):
            began = int(line.removeprefix(PROGRESS))
            progress(began)

    for _ in range(BOOTS):
        error, at = None, time.monotonic()
        (folder / WORKOUT).unlink(missing_ok=True)
        try:
            lane.run(
                kernel, beside(place, module), folder, ["script", str(PROGRAM)], seed=seed,
                wall_limit_s=WALL_LIMIT_S, listener=Listener(hear),
                kernel_arguments=(*KERNEL_ARGUMENTS, checks_for(module), *watching(place, module)),
            )  # fmt: skip
        except LaneError as caught:
            error = caught
        console = console_of(folder)
        fast = runs_fast(console, time.monotonic() - at)
        if not fast and not emulator_failed(console, error):
            break
    if fast:
        raise LaneError(Reason.LATE, f"the kernel's clock was wrong at {BOOTS} boots; is this machine busy?")
    return read(folder, module, built_against(place), began, error)


def emulator_failed(console: Sequence[str], error: LaneError | None) -> bool:
    """Return whether the kernel crashed and the module cannot have caused it."""
    crashed = error is not None and error.reason is Reason.CRASHED
    return crashed and (not loads(console) or any(STALE.search(line) for line in console))


def watching(place: PreparedStock, module: Module) -> tuple[str, ...]:
    """Return the kernel's arguments that say how often and how long KCSAN watches."""
    return (*WATCHING, f"kcsan.skip_watch={SKIPPED_OF_QDISC if module.qdisc else SKIPPED}") if debugs(place) else ()


def runs_fast(console: Sequence[str], wall_s: float) -> bool:
    """Return whether the kernel's clock ran far ahead. On a busy machine it may take the processor's counter for 50
    times slower than it is. Then timers are wrong, and a second is a hang."""
    return ends_s(console) > FAST * wall_s


def checks_for(module: Module) -> str:
    """Return the kernel's argument that switches its checks of objects on."""
    call, of_all = OWN_CACHE
    return of_all if call in module.path.read_bytes() else OBJECTS


def read(folder: Path, module: Module, kernel: Path, connections: int = 0, error: LaneError | None = None) -> Try:
    """Read what the load and the kernel left. Raises the error if the module cannot have caused it."""
    races, console = kcsan.take(calm(console_of(folder)), module.name)
    path = folder / WORKOUT
    seen: Mapping[str, Any] = files.read_json(path) if path.exists() else {}
    lines = Lines(module.name, module.path, kernel)
    found = list(once(race.finding(lines) for race in races if race.lost(lines)))
    found += [one for one in splats.find(console) if one.stage is Stage.SMP]
    found += [Finding(Stage.SMP, Name(one["name"]), one["text"]) for one in seen.get("findings", ())]
    if error and emulator_failed(console, error):
        raise error
    if error and not found and not (error.reason is Reason.CRASHED and seen):  # of a warning before the load
        hangs = error.reason is Reason.WALL_LIMIT and is_quiet(console)
        if not (hangs or error.reason is Reason.CRASHED) or not loads(console):
            raise error
        text = f"no end after {WALL_LIMIT_S:g} s{splats.last_lines(console)}" if hangs else error.detail
        found = [Finding(Stage.SMP, Name.HANG if hangs else Name.OOPS, text, console=error.console)]
    reads = [line for line in console if NOTE in line and FRAME.search(line)]
    found += [update(line, lines) for line in reads if of_one_line(line, lines)]
    said = [places(line.partition(NOTE)[2], lines) for line in reads if not of_one_line(line, lines)]
    said += [race.said(lines) for race in races if not race.lost(lines)]
    notes = (*seen.get("notes", ()), *dict.fromkeys(f"{SEEN}{text}" for text in said))
    return Try(
        tuple(explained(with_both(one, lines), lines) for one in found),
        seen.get("connections", connections), loads(console) - 1, notes,
    )  # fmt: skip


def is_quiet(console: Sequence[str]) -> bool:
    """Return whether the log ends long before the time limit. On a busy machine a load goes on until then."""
    return ends_s(console) < WALL_LIMIT_S - QUIET_S


def ends_s(console: Sequence[str]) -> float:
    """Return when the last line was written, by the kernel's clock."""
    return max((line.time_s or 0.0 for line in map(splats.split, console)), default=0.0)


def once(races: Iterable[Finding]) -> Iterator[Finding]:
    """Yield each race once: of these places, whatever the load was doing."""
    known = set()
    for race in races:
        if (key := race.text.partition(" (during ")[0]) not in known:
            known.add(key)
            yield race


def with_both(finding: Finding, lines: Lines) -> Finding:
    """Add the places of both accesses to what `stagger` saw: a data race, or a use of memory that is freed
    meanwhile."""
    title = finding.console[0] if finding.console else ""
    if finding.name is Name.DATA_RACE and RACE in title:
        return replace(finding, text=places(title.partition(RACE)[2], lines))
    if FREED in title:
        return replace(finding, text=f"{places(title.partition(FREED)[2], lines)}{kcsan.freed(finding.console, lines)}")
    return finding


def of_one_line(note: str, lines: Lines) -> bool:
    """Return whether a read and a write are of one line, which updates a variable (`count++`)."""
    both = {lines.of(frame[0]) for frame in FRAME.finditer(note)}
    return len(both) == 1 and both != {""}


def update(note: str, lines: Lines) -> Finding:
    """Return the finding that an update meets another one."""
    line = splats.split(note)
    text = line.text.partition(NOTE)[2]
    where = splats.culprit([text])
    return Finding(Stage.SMP, Name.DATA_RACE, places(text, lines), None, (line.text,), where, time_s=line.time_s)


def places(text: str, lines: Lines) -> str:
    """Replace the addresses in a text by functions and places."""
    return FRAME.sub(lambda frame: f"{frame['function']} ({lines.of(frame[0]) or frame['module']})", text)


def loads(console: Sequence[str]) -> int:
    """Return how often the module was loaded. Before it was, it cannot have caused anything."""
    return sum(line.endswith((f"{OURS}stage {Stage.SMP}", f"{OURS}load")) for line in console)


def calm(console: Sequence[str]) -> list[str]:
    """Return a log with each report in one piece and at one time: meanwhile other CPUs go on, and write to the log."""
    lines = [splats.split(line) for line in console]
    calmed, at = [], 0
    while at < len(lines):
        began, end = lines[at].time_s, at + 1
        if began is not None and splats.name_of(lines, at) and not lines[at].text.startswith(OURS):
            end = end_of_report(lines, at, began)
        between = [line for line in lines[at:end] if line.text.startswith(OURS)] if end > at + 1 else []
        calmed += [f"[{line.time_s}] {line.text}" for line in between]
        calmed += console[at:end] if end == at + 1 else [
            f"[{began}] {line.text}" for line in lines[at:end] if line not in between
        ]  # fmt: skip
        at = end
    return calmed


def end_of_report(lines: Sequence[splats.Line], start: int, began: float) -> int:
    for at in range(start, min(start + splats.LONGEST, len(lines))):
        if (lines[at].time_s or began) - began > REPORT_S:
            return at
        if LAST_LINE.match(lines[at].text):
            return at + 1
    return min(start + splats.LONGEST, len(lines))


def counted(tries: Sequence[Try], folder: str) -> Iterator[Finding]:
    """Yield each finding once, and say in how many tries it came, and where the log of the first is."""
    often = Counter(itertools.chain(*({key(one) for one in each.findings} for each in tries)))
    for number, each in enumerate(tries):
        for one in each.findings:
            if count := often.pop(key(one), 0):
                log = f"{folder}/{number + 1}/{CONSOLE}"
                yield replace(one, text=f"{one.text} (in {count} of {len(tries)} tries; {UNSTABLE}; {log})")


def key(finding: Finding) -> tuple[Name, str]:
    """Return what distinguishes a finding from others: of a data race, its two places."""
    race = finding.name is Name.DATA_RACE
    both = " ".join(sorted(PLACE.findall(finding.text))) if race else ""
    return finding.name, both or finding.where or finding.text
