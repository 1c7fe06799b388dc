# SPDX-License-Identifier: BSD-3-Clause
"""Run and build students' programs, in lanes only: a lane confines them and limits their time. The compiler runs there
too, as it reads a stranger's file. Errors become a sentence for the student."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.load import Recorded
from analysis.traces import views
from analysis.traces.pcapng import AIR
from emulation import files
from emulation.features.labs.inside import student
from emulation.lane.errors import Misuse
from emulation.lanes import Lane, LaneError, LaneResult, Listener, Reason, run
from emulation.play.lab import Lab
from emulation.play.session import failures

PROGRAM = Path(student.__file__)
TAP_LIMIT_S, BUILD_LIMIT_S, RUN_LIMIT_S = 30.0, 60.0, 40.0  # wall time
MOST_BYTES = 1 << 26  # of a module
PLACE = re.compile(r'File "[^"]*/(?P<file>[^"/]+)", line (?P<line>\d+)')
ERROR = re.compile(r"(?:[^\s:]*/)?(?P<file>[\w.-]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)")
POSTED = re.compile(r"ERROR: modpost: (?P<what>.*)")


@dataclass(frozen=True)
class TimeLimited:
    """A lane with a shorter limit of wall time."""

    lane: Lane
    limit_s: float

    @property
    def name(self) -> str:
        return self.lane.name

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], **more: Any
    ) -> LaneResult:
        more["wall_limit_s"] = min(more.get("wall_limit_s") or self.limit_s, self.limit_s)
        return run(self.lane, kernel, modules, run_folder, command, **more)


def time_limited(lab: Lab, limit_s: float = RUN_LIMIT_S) -> Lab:
    """Return the lab with a lane that ends after `limit_s` of wall time."""
    return replace(lab, lane=TimeLimited(lab.lane, limit_s))


def student_message(error: LaneError, what: str) -> str:
    """Return the message for a student whose program ended the lane."""
    if error.reason is Reason.WALL_LIMIT:
        return f"{what} did not end: is there a loop that waits for something that never comes?"
    if error.reason in (Reason.CRASHED, Reason.KILLED):
        first = next((line.strip() for line in error.console if re.search("BUG|Oops|panic|WARNING", line)), "")
        return f"{what} brought the kernel down: {first or error.detail}; ./dcflab module check says where"
    return f"{what} failed: {error.detail or error.reason.value}"


def in_lane(lab: Lab, folder: Path, limit_s: float, what: str, *command: str) -> dict[str, Any]:
    """Run `student` with this command in a lane, and return its result. Raises Misuse."""
    quiet = Listener(line=lambda line: None)
    try:
        lab.lane.run(lab.kernel, {}, folder, ["script", str(PROGRAM), *command], wall_limit_s=limit_s, listener=quiet)
        said = files.read_json(folder / student.SAID)
        if not isinstance(said, dict):
            raise ValueError(said)
    except LaneError as error:
        if error.reason in (Reason.INTERRUPTED, Reason.NOT_STARTED, Reason.DISK_FULL):
            with failures():
                raise
        raise Misuse(student_message(error, what)) from None
    except (OSError, ValueError):
        raise Misuse(f"{what} wrote no result") from None
    return said


def tap(lab: Lab, name: str, program: bytes, of: Recorded, place: Path) -> str:
    """Return what this program prints about a run. Raises Misuse."""
    shown = place / "run"
    shown.mkdir(parents=True)
    for file in (AIR, views.FILE):
        if (of.folder / file).is_file():
            shutil.copyfile(of.folder / file, shown / file)
    (place / name).write_bytes(program)
    said = in_lane(lab, place, TAP_LIMIT_S, name, "tap", name, shown.name)
    if said.get("status") != 0:
        lines = str(said.get("wrong", "")).strip().splitlines()
        places = [match["line"] for line in lines if (match := PLACE.search(line)) and match["file"] == name]
        at = f", line {places[-1]}" if places else ""
        ended = "it sleeps" if said.get("status") is None else f"it ended with status {said['status']}"
        last = lines[-1][:200] if lines else ended
        raise Misuse(f"{name}{at}: {last}")
    return str(said.get("said", ""))


def build(lab: Lab, name: str, source: bytes, place: Path) -> Path:
    """Build this C file as a module for the lane's kernel. Raises Misuse."""
    (place / "build").mkdir(parents=True)
    (place / "build" / f"{name}.c").write_bytes(source)
    said = in_lane(lab, place, BUILD_LIMIT_S, f"to build {name}.c", "build", name)
    built = place / "build" / f"{name}.ko"
    if not built.is_file() or built.is_symlink() or built.stat().st_size > MOST_BYTES:
        text = str(said.get("wrong", ""))
        match = ERROR.search(text) or POSTED.search(text)
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("make")]
        last = lines[-1] if lines else "the compiler was ended, or had nothing to build"
        found = match.groupdict() if match else {"what": last}
        at = f"{found['file']}, line {found['line']}: " if "line" in found else ""
        raise Misuse(f"{name}.c does not build: {at}{found['what'][:200]}")
    return built
