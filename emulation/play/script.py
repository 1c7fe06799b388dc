# SPDX-License-Identifier: BSD-3-Clause
"""Run a script in a lane, and make of its output what every run leaves; `emulation.net` writes it to the run folder.

The run folder also keeps the script. What it does in addition to running flows is part of its runs, so repeating them
means running it again. With several seeds it runs several times, each in its own lane."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from analysis.results.result import Result, Script
from analysis.results.shapes import ScriptRun, object_of, read_lane, read_plan
from emulation import features, files, lanes
from emulation.files import compressed, tree
from emulation.lane.errors import Failure
from emulation.lane.measurement import REQUEST_FILE
from emulation.lanes import LaneResult, Listener
from emulation.lanes.virtual.ownership import take_back
from emulation.lanes.virtual.scratch import scratch
from emulation.play.finished import finish_run
from emulation.play.lab import Lab
from emulation.play.run import FINISHED, Outcome, Task
from emulation.play.session import failures, write_result
from emulation.play.traces import RAW, TRACE, TraceConverter, reading_lane
from emulation.specification import Specification, explain
from topologies.files import Trust

SCRIPT_COPY = "script.py"  # in the run folder
CONSOLE = "console.log"
MOST_FILES = 10_000  # in a folder of plug-ins that a script names


@dataclass
class ScriptOutcome:
    """The result of a script: its exit status, its runs, and their wall time. `error` is what ended it early; the
    caller raises it after handling the finished runs."""

    status: int = 0
    tasks: list[Task] = field(default_factory=list)
    after: dict[Path, list[str]] = field(default_factory=dict)  # features that follow a run, by its folder
    outcomes: list[Outcome] = field(default_factory=list)
    wall_s: float = 0.0
    lane_result: LaneResult = field(default_factory=lambda: LaneResult(0, 0.0))  # the latest lane
    result: Result | None = None  # None: no run
    error: BaseException | None = None


def play_script(
    lab: Lab, script: Script, folder: Path, listener: Listener | None = None, name: str | None = None
) -> ScriptOutcome:
    """Run a script under its seeds, and write result.json. Remove the output of an unfinished run. If there was no run
    and the script left no file, remove the folder, unless the script failed and has changed since."""
    program = b""
    found, began, listener = ScriptOutcome(), time.monotonic(), listener or Listener()
    listener.capture = partial(capture, folder, listener.line)
    verb = "shell" if script.shell else "script"
    more: dict[str, Any] = {"options": script.options} if script.options else {}  # other lanes need not take it
    try:
        program = Path(script.path).read_bytes()
        if Path(script.path) != folder / SCRIPT_COPY:
            files.write(folder / SCRIPT_COPY, program)
        for seed in script.seeds:
            lane_began = time.monotonic()
            with failures():
                ended = lanes.run(
                    lab.lane, lab.kernel, lab.modules, folder, [verb, script.path, *script.arguments], seed=seed,
                    listener=listener, **more,
                )  # fmt: skip
            found.status, found.lane_result = ended.status, ended
            collect_runs(lab, folder, script.modules, found, time.monotonic() - lane_began)
            if found.status:
                break
    except BaseException as error:
        found.error = error
        with failures():
            take_back(folder.resolve())  # the script may have ended before it did so itself
        with suppress(Failure):  # the first error is known already
            collect_runs(lab, folder, script.modules, found, time.monotonic() - began)
    found.wall_s = time.monotonic() - began
    if found.tasks:
        runs = [outcome.run for outcome in found.outcomes]
        found.result = write_result(
            name or name_of(script), found.tasks[0].specification, found.tasks, runs, lab, folder, script
        )
        for where, after in found.after.items():
            with failures(), reading_lane(where):
                for part in features.parts("of_runs", after):
                    part.show(where)
    elif {file.name for file in folder.iterdir()} <= {SCRIPT_COPY, CONSOLE} and (
        not (found.error or found.status) or has_content(folder / SCRIPT_COPY, program)
    ):
        tree.remove(str(folder))
    return found


def has_content(file: Path, content: bytes) -> bool:
    """Return whether the file has this content, or cannot be read."""
    try:
        return files.read(file) == content
    except OSError:
        return True


def capture(folder: Path, say: Callable[[str], None], run: str, file: str, now_ns: int) -> None:
    """Write what was on the air of a run so far to a file of the folder, and print a line about it."""
    from analysis.taps.phy import radios
    from analysis.traces import pcapng, trace

    where = folder / run
    try:
        if {os.path.basename(name) for name in (run, file)} != {run, file}:
            raise ValueError("it goes into the run folder")
        records = trace.until_now(files.read(where / RAW, folder), now_ns)
        with scratch("capture") as there:  # not where the lane could redirect us
            pcapng.write(records, radios(read_plan(where)), Path(there))
            files.write(folder / file, compressed.read(Path(there) / TRACE))
        say(f"*** {len(records.tx)} frames in {folder / file}")
    except (OSError, ValueError, MemoryError) as error:  # this must not end the network
        of = getattr(error, "filename", None)
        say(f"*** capture: {Path(of).name}: {getattr(error, 'strerror', '')}" if of else f"*** capture: {error}")


def name_of(script: Script) -> str:
    return Path(script.path).stem


def specification_of(where: Path, recorded: Any, modules: Sequence[str]) -> Specification:
    """Return the specification of a run, as the script wrote it. Nothing written by a lane may run a file here:
    plug-ins are recorded but not used. Raises Failure if it is invalid."""
    try:
        recorded["specification"]["kernel"]["modules"] = modules
        return Specification.model_validate(recorded["specification"], context=Trust(folders=None))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        why = explain(error)[0] if isinstance(error, ValueError) else f"it is not a specification: {error}"
        raise Failure(f"{where / REQUEST_FILE}: {why}") from None


def collect_runs(lab: Lab, folder: Path, modules: Sequence[str], found: ScriptOutcome, wall_s: float) -> None:
    """Take the runs that were added to the folder, in order, and remove unfinished ones. Each run gets its share of the
    lane's wall time, by air time. `modules` are the script's."""
    new = []
    for where in sorted(file.parent for file in folder.glob(f"*/{REQUEST_FILE}") if not file.parent.is_symlink()):
        if not (where / "lane.json").exists():
            tree.remove(str(where))
        elif not (where / FINISHED).exists():
            with failures(), reading_lane(where):
                lane = read_lane(where, None)
            new.append((lane["started_ns"], where, lane["air_s"]))
    all_s = sum(air_s for _, _, air_s in new)
    for _, where, air_s in sorted(new):
        share_s = wall_s * air_s / all_s if all_s else 0.0
        with failures(), reading_lane(where):
            collect_run(lab, folder, where, modules, found, share_s)


def collect_run(
    lab: Lab, folder: Path, where: Path, modules: Sequence[str], found: ScriptOutcome, wall_s: float
) -> None:
    """Take one of these runs."""
    (asked, _), plan = object_of(where / REQUEST_FILE, ScriptRun), read_plan(where)
    task = Task(specification_of(where, asked, modules), asked["name"])
    if any(len(list(islice(Path(own).rglob("*"), MOST_FILES))) == MOST_FILES for own in plan["plugins"]):
        raise ValueError(f"plug-ins in a folder that has {MOST_FILES} files or more")
    made_of = {**lab.made_of(plan), "script": hashlib.sha256(files.read(folder / SCRIPT_COPY)).hexdigest()}
    with TraceConverter(where, plan, task.specification.measurement.most_views) as converter:
        found.outcomes.append(finish_run(converter, made_of, task, partial(float, wall_s), found.lane_result, lab.lane))
    found.tasks.append(task)
    found.after[where] = asked.get("after", [])
