# SPDX-License-Identifier: BSD-3-Clause
"""A hostile guest: what root in a lane can do to all files that it can write, drawn at random.

An attack is a few actions in a run's folder: names that lead elsewhere or block; things that are deep, many or large;
files with other bytes; JSON with other values. `Ways` draws them. `Lane` is a lane in which they are carried out, to
test the host's side.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from emulation.files import tree
from emulation.lanes import LaneResult, Listener
from emulation.lanes.virtual.ownership import lent_to_lane

LARGE = 1 << 24
WATCHED_S = 120  # a reader that takes longer hangs
DEPTHS = (3, 1100, 1100, 3000)
HOST_WRITES = (
    "run.json", "run.json.new", "air.pcapng.gz", "views.gz", "result.json", "report.html", "film.html",
    "graph.svg", "timeline.html", "console.log", "script.py", "new.pcapng", ".writable",
)  # fmt: skip
KINDS = ("link",) * 12 + ("fifo", "fifo", "socket", "folder", "folder", "deep", "many", "closed", "nothing")
PROGRAMS = (  # keys that name a program in a specification
    ("network", "motion", '{"model": "EVIL"}'), ("network", "topology", '"EVIL"'),
    ("network", "routing", '{"kind": "EVIL"}'), ("network", "applications", '[{"kind": "EVIL"}]'),
    ("kernel", "plugins", '["EVIL/.."]'), ("kernel", "modules", '["EVIL/.."]'), ("medium", "program", '"EVIL"'),
)  # fmt: skip
PREY = ("precious", "link", "fifo", "below", "evil.py", "not-there", "below/run.json", "below/air.trace")
ELSEWHERE = ("/dev/zero", "/dev/full", "/proc/self/mem", "/", "..", ".", "../run", "lane.json")
NAMES = ("sub", "lent.json", "-rf", "a\nb", b"\xff\xfe".decode(errors="surrogateescape"), "n" * 255, "evil.py")
EVIL = """
import pathlib
pathlib.Path({marker!r}).touch()
"""

Deed = Callable[[Path], str]  # an action in a folder; returns its description


class Hang(BaseException):
    """The host took too long."""


@contextmanager
def watched() -> Iterator[None]:
    """Raises Hang if the block takes far too long."""

    def hang(_: int, __: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, WATCHED_S, 1)  # again, if it is held up
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Return all files of a folder with owners, modes and content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        is_ = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if stat.S_ISREG(is_.st_mode) else None
        found[str(path)] = is_.st_mode, is_.st_uid, is_.st_nlink, content
    return found


def prey(folder: Path) -> None:
    """Make files of all kinds on the host, for a guest to attack."""
    folder.mkdir()
    (folder / "precious").write_text("mine")
    (folder / "precious").chmod(0o644)
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o4755)
    (folder / "link").symlink_to("precious")
    os.mkfifo(folder / "fifo")
    (folder / "below").mkdir()
    (folder / "below" / "air.trace").write_bytes(b"\x18\0" * 100)
    (folder / "below" / "run.json").write_text("{}")
    (folder / "evil.py").write_text(EVIL.format(marker=str(folder / "it-ran")))


@dataclass
class Ways:
    """Draws actions of a guest; `outside` is the folder of the host's files."""

    random: random.Random
    outside: Path
    said: list[str] = field(default_factory=list)

    def do(self, folder: Path) -> None:
        """Carry out a few actions in a folder or its subfolders."""
        for _ in range(self.random.choice((1, 1, 2, 3))):
            within = [folder, *(each for each in sorted(folder.iterdir()) if each.is_dir() and not each.is_symlink())]
            where = self.random.choice(within[:5])
            deed = self.random.choice((self.trap, self.trap, self.bytes, self.json, self.json, self.json, self.lump))
            with suppress(OSError, ValueError, RecursionError):  # some actions are not possible everywhere
                self.said.append(f"{where.name}: {deed(where)}")

    def place(self, where: Path) -> Path:
        """Return a name: an existing one, one that the host is about to write, or another."""
        there = sorted(each.name for each in where.iterdir())
        name = self.random.choice((*there, *HOST_WRITES, *HOST_WRITES, *NAMES))
        path = where / name
        if os.path.lexists(path):
            if path.is_dir() and not path.is_symlink():
                path.rename(where / f"{name[:200]}.moved")
            else:
                path.unlink()
        return path

    def trap(self, where: Path) -> str:
        """Make something that leads elsewhere, blocks, or is of an unexpected type."""
        path = self.place(where)
        kind = self.random.choice(KINDS)
        if kind == "link":
            prey = [str(self.outside / each) for each in PREY]
            target = self.random.choice([*prey, *ELSEWHERE, path.name, os.path.relpath(prey[0], where)])
            path.symlink_to(target)
            return f"{path.name} -> {target}"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as made, tree.handle(str(where)) as there:
                made.bind(f"{tree.place(there)}/{path.name}")
        elif kind != "nothing":
            path.mkdir()
        if kind == "deep":
            self.deep(path, self.random.choice(DEPTHS))
        elif kind == "many":
            for number in range(300):
                (path / f"{number}").symlink_to(self.outside)
        elif kind == "closed":
            (path / "out").symlink_to(self.outside)
            path.chmod(0)
        return f"{path.name} is {kind}"

    def deep(self, path: Path, depth: int) -> None:
        """Make nested folders; the last one has links out."""
        at = os.open(path, tree.FOLDER)
        for _ in range(depth):
            os.mkdir("d", dir_fd=at)
            below = os.open("d", tree.FOLDER, dir_fd=at)
            os.close(at)
            at = below
        os.symlink(self.outside, "out", dir_fd=at)
        os.mkfifo("fifo", dir_fd=at)
        os.close(at)

    def file(self, where: Path, suffix: str = "") -> Path:
        """Return one of the files. Raises ValueError if there is none."""
        there = [each for each in sorted(where.iterdir()) if each.is_file() and not each.is_symlink()]
        found = [each for each in there if each.name.endswith(suffix) and each.stat().st_size < LARGE]
        if not found:
            raise ValueError(where)
        return self.random.choice(found)

    def bytes(self, where: Path) -> str:
        """Change a file's bytes: some, cut, doubled, none, or endless zeros; or its mode."""
        path = self.file(where)
        data = bytearray(path.read_bytes())
        how = self.random.choice(("flip", "flip", "flip", "cut", "twice", "empty", "sparse", "mode", "noise"))
        if how == "flip":
            for _ in range(self.random.choice((1, 3, 30))):
                if data:
                    data[self.random.randrange(len(data))] = self.random.randrange(256)
        elif how == "cut":
            del data[self.random.randrange(len(data) + 1) :]
        elif how == "twice":
            data = data + data
        elif how == "empty":
            data.clear()
        elif how == "noise":
            data = bytearray(self.random.randbytes(self.random.choice((1, 24, 5000))))
        path.write_bytes(data)
        if how == "sparse":
            os.truncate(path, 1 << 40)
        elif how == "mode":
            path.chmod(self.random.choice((0, 0o200, 0o6755)))
        return f"{path.name} {how}"

    def json(self, where: Path) -> str:
        """Change values in a JSON file, or nest it too deeply."""
        path = self.file(where, ".json")
        if self.random.random() < 0.1:
            path.write_text(self.random.choice(("[" * 200_000, '{"a":' * 50_000, "null", "[]", "7", '"\\ud800"')))
            return f"{path.name} is other JSON"
        made = json.loads(path.read_text())
        if not isinstance(made, dict | list):
            raise ValueError(path)
        said = [self.change(made) for _ in range(self.random.choice((1, 1, 2, 5)))]
        path.write_text(json.dumps(made))
        return f"{path.name}: {', '.join(said)}"

    def change(self, made: Any) -> str:
        """Change a value; where a specification names a program, put another one there."""
        way, evil = "", str(self.outside / "evil.py")
        if isinstance(made, dict) and "specification" in made and self.random.random() < 0.5:
            section, name, value = self.random.choice(PROGRAMS)
            with suppress(KeyError, TypeError, AttributeError):
                made["specification"][section][name] = json.loads(value.replace("EVIL", evil))
                return f"specification.{section}.{name} = {value}"
        while True:
            keys = list(made) if isinstance(made, dict) else range(len(made))
            if not keys:
                return "nothing"
            key = self.random.choice(list(keys))
            way += f".{key}"
            if isinstance(made[key], dict | list) and made[key] and self.random.random() < 0.8:
                made = made[key]
                continue
            if self.random.random() < 0.15:
                del made[key]
                return f"{way} is gone"
            made[key] = self.value(made[key])
            return f"{way} = {str(made[key])[:60]}"

    def value(self, before: Any) -> Any:
        """Return a value of another type, too large, or naming something that is not the guest's."""
        evil = str(self.outside / "evil.py")
        choices: Sequence[Any] = (
            None, True, 0, -1, 1, 2**63, -(2**63) - 1, 10**400, 1e308, math.nan, math.inf, "", "x", "\ud800", "\0",
            "n" * 100_000, "../outside/below", str(self.outside / "precious"), "/dev/zero", evil, [evil],
            {"model": evil}, {"kind": evil}, {"topology": evil}, [], {}, [[]], [None], {"": None}, [before, before],
            {"a": before},
        )  # fmt: skip
        return self.random.choice(choices)

    def lump(self, where: Path) -> str:
        """Put a folder in the place of a run's, or make a run that never existed."""
        path = where / self.random.choice(("run1-1", "run2-1", "run1-1.moved", ".lane-x"))
        if path.is_dir() and not path.is_symlink():
            path.rename(where / "elsewhere")
        path.symlink_to(self.random.choice((str(self.outside / "below"), "elsewhere", "..", "/")))
        return f"{path.name} -> {os.readlink(path)}"


@dataclass
class Kept:
    """A lane that copies what it leaves before the host reads it."""

    lane: Any
    left: Path
    name: str = "virtual"

    def run(self, kernel: Path, modules: Any, run_folder: Path, *more: Any, **named: Any) -> LaneResult:
        ended: LaneResult = self.lane.run(kernel, modules, run_folder, *more, **named)
        shutil.copytree(run_folder, self.left)
        return ended


@dataclass
class Lane:
    """A lane that leaves another's files, changed by a hostile guest."""

    left: Path
    as_nobody: bool
    ways: Ways | None = None
    name: str = "virtual"

    def run(
        self, kernel: Path, modules: object, run_folder: Path, command: Sequence[str], *,
        listener: Listener | None = None, **_: Any,
    ) -> LaneResult:  # fmt: skip
        assert self.ways
        heard, folder = listener or Listener(), run_folder.resolve()
        with lent_to_lane([folder], self.as_nobody):
            shutil.copytree(self.left, folder, dirs_exist_ok=True)
            if self.ways.random.random() < 0.5:  # so that the guest is not faster than the host
                heard.progress(0.5, 0.1)
            self.ways.do(folder)
            heard.progress(0.9, 0.2)
            for run, file in (("run1-1", "new.pcapng"), ("..", "x"), ("run1-1", "../x"), ("run1-1", "console.log")):
                heard.capture(run, file, self.ways.random.choice((0, 10**9, 2**62)))
        return LaneResult(self.ways.random.choice((0, 0, 1)), 0.1)
