# SPDX-License-Identifier: BSD-3-Clause
"""Replay: repeat the runs of a run folder, and compare. One seed gives one result, to the byte, except wall times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from analysis.results import result
from analysis.results.result import Result, Run, Script
from emulation import files, lanes
from emulation.files.compressed import Stream, pieces
from emulation.lane.errors import Misuse
from emulation.lanes import Lane, Listener
from emulation.lanes.virtual.scratch import scratch
from emulation.play.script import SCRIPT_COPY, play_script
from emulation.play.session import check_programs, failures, play_with_progress, provide
from emulation.play.tasks import tasks_again
from emulation.play.trust import trust_to_play
from emulation.setup import require_all_packages
from topologies.files import Trust, run_by

SHOWN = 20  # differences


@dataclass(frozen=True)
class Verdict:
    """The first differences between a run folder and its repetition (none: identical), and the names of inputs that
    have changed since."""

    differences: Sequence[str]
    changed: Sequence[str]


def replay(folder: Path, lane: Lane | None = None, trusted: bool = False) -> Verdict:
    """Repeat the runs of a run folder, in the same lane or another. Raises Misuse if the folder has no result of this
    version, or names programs for this machine that are neither `trusted` nor confirmed; Failure if a run fails.
    """
    before = read(folder)
    if before.script:
        require_all_packages()
    trust = trust_to_play(folder, before, trusted, lane)
    tasks = tasks_again(before, folder, trust)
    script = script_of(before, folder)
    try:
        lane = lane or same_lane(before, trust)
    except ValueError as error:
        raise Misuse(f"{folder}: {error}; --lane names one of your own by its path") from None
    kept = [file for run in before.runs for file in (run.trace, run.views) if file]
    for missing in (file for file in kept if not (folder / file).is_file()):
        raise Misuse(f"{folder / missing}: the trace of this run is gone")
    with failures():
        for task in tasks:
            check_programs(task.plan)
    with scratch("replay") as again:
        lab = provide(folders=tasks[0].specification.kernel.modules, lane=lane)
        if script:
            played = play_script(lab, script, Path(again), Listener(line=lambda line: None))
            if played.error:
                raise played.error
            outcomes = played.outcomes
        else:
            outcomes = play_with_progress(lab, tasks, Path(again))
        if len(outcomes) != len(before.runs):
            return Verdict([f"{len(before.runs)} runs before, {len(outcomes)} now"], [])
        runs = [
            outcome.run.model_copy(update={"changes": run.changes})
            for run, outcome in zip(before.runs, outcomes, strict=True)
        ]
        after = before.model_copy(update={"runs": runs})
        found = list(differences(before.comparable(), after.comparable()))
        for run, now in zip(before.runs, runs, strict=True):
            for old, new in ((run.trace, now.trace), (run.views, now.views)):
                if old and new:
                    found += first_difference(folder / old, Path(again) / new)
    return Verdict(found[:SHOWN], changed(before.runs, runs))


def read(folder: Path) -> Result:
    """Return the result of a run folder. Raises Misuse if there is none of this version."""
    try:
        return result.read(folder / "result.json")
    except OSError as error:
        raise Misuse(f"{folder}: no result.json there: {error.strerror}") from None
    except ValueError as error:  # the error names the place
        raise Misuse(f"{error}: this version of dcflab cannot read that result") from None


def same_lane(before: Result, trust: Trust) -> Lane:
    """Return the lane of these runs. Raises ValueError if there is none with its name."""
    name = before.host.lane
    lane = lanes.find(run_by(name, trust) if name.endswith(".py") else name)
    settings = {"stock": before.host.kernel, "clock": lanes.Clock(before.host.clock)}
    return lanes.with_settings(lane, {name: settings[name] for name in settings.keys() & lanes.settings_of(lane)})


def script_of(before: Result, folder: Path) -> Script | None:
    """Return the script of these runs: the original if unchanged, else its copy. Raises Misuse if the copy is
    missing."""
    if before.script is None:
        return None
    copy, original = folder / SCRIPT_COPY, Path(before.script.path)
    if not copy.is_file():
        raise Misuse(f"{copy}: the script of these runs is gone")
    if before.script.shell:
        raise Misuse(f"{folder}: a person typed the input of these runs at a prompt, so they cannot be replayed")
    same = original.is_file() and original.read_bytes() == copy.read_bytes()
    return before.script if same else before.script.model_copy(update={"path": str(copy.resolve())})


def changed(before: Sequence[Run], now: Sequence[Run]) -> list[str]:
    """Return the names of the inputs of runs that have changed."""
    pairs = [(old.made_of, new.made_of) for old, new in zip(before, now, strict=True)]
    return list(dict.fromkeys(name for old, new in pairs for name in {**old, **new} if old.get(name) != new.get(name)))


def differences(a: Any, b: Any, path: str = "result") -> Iterator[str]:
    """Yield a line for each difference between two JSON values."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in {**a, **b}:
            yield from differences(a.get(key), b.get(key), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{path}[{index}]")
    elif a != b:
        yield f"{path}: {a!r} before, {b!r} now"


def first_difference(a: Path, b: Path) -> list[str]:
    """Return where the contents of two files begin to differ; empty if they are equal. Raises Damaged if one is
    malformed, OSError if one is unreadable."""
    with files.opened(a) as x, files.opened(b) as y:
        one, other = (BufferedReader(Stream(pieces(file, path))) for file, path in ((x, a), (y, b)))
        at = 0
        while True:
            p, q = one.read(1 << 16), other.read(1 << 16)
            if p != q:
                at += next((i for i, (m, n) in enumerate(zip(p, q, strict=False)) if m != n), min(len(p), len(q)))
                return [f"{a}: the trace differs from byte {at} on"]
            if not p:
                return []
            at += len(p)
