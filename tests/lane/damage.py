# SPDX-License-Identifier: BSD-3-Clause
"""Damage files of run folders in many ways, each with a number, and let each command read them:

    ./dcflab python tests/lane/damage.py FOLDER [FIRST [COUNT]]

Each damage after which a command does not end with a message is printed on a line.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from emulation import features

MEMORY = 6 << 30  # address space; libraries take 2
WORDS: list[Any] = [
    None, True, False, 0, 1, -1, 2, 255, 65536, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**400,
    0.5, -0.5, 1e9, 1e18, 1e308, -1e308, 5e-324, float("nan"), float("inf"), "", "x", "0", "sta1", "flow1", "a/b", "..",
    "\0", "\ud800", "é" * 300, "10.0.0.300/24", "10.0.0.1", "fe80::1/64", "ff:ff", [], {}, [[]], [None], [0], [{}],
    {"x": 1}, {"kind": "x"}, [1, "x"], [[0, 0, 0, 0]],
]  # fmt: skip
NUMBERS = [b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0", b"\xff" * 8]
TEXTS = [b"", b"[" * 200_000, b'{"a":' * 200_000, b"null", b"[]", b"{}", b"\xff\xfe", b"\0" * 64, b"1", b'"x"']


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each part of a JSON value; of a long list only to some parts."""
    yield path
    inside = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, part in inside[:6] + inside[6:][-1:]:
        yield from places(part, (*path, key))


def other(value: Any, rng: random.Random) -> Any:
    """Return the same JSON value with some parts changed."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        found = list(places(value))[1:]
        if not found:
            return rng.choice(WORDS)
        depth = rng.choice(sorted({len(path) for path in found}))
        *above, last = rng.choice([path for path in found if len(path) == depth])
        holder = value
        for key in above:
            holder = holder[key]
        match rng.randrange(6):
            case 0:
                del holder[last]
            case 1 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
            case 1:
                holder[str(rng.choice(WORDS))[:40]] = holder.pop(last)
            case 2:
                holder[last] = copy.deepcopy(
                    rng.choice([part for _, part in zip(range(200), parts(value), strict=False)])
                )
            case _:
                holder[last] = copy.deepcopy(rng.choice(WORDS))
    return value


def parts(value: Any) -> Iterator[Any]:
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes that were cut, flipped, repeated or removed."""
    found = bytearray(data)
    at = rng.randrange(len(found) + 1)
    match rng.randrange(8):
        case 0:
            return rng.choice(TEXTS)
        case 1:
            return bytes(found[:at])
        case 2:
            del found[at : at + rng.choice((1, 2, 4, 8, 80))]
        case 3:
            found[at:at] = found[at : at + rng.choice((1, 4, 8, 80, 4000))]
        case 4:
            at &= ~3
            found[at : at + 4] = rng.choice(NUMBERS)
        case _:
            for _ in range(rng.choice((1, 1, 2, 8, 100)) if found else 0):
                found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def damaged(file: Path, rng: random.Random) -> bytes:
    """Return the changed content of a file."""
    data = file.read_bytes()
    if file.suffix == ".json" and rng.random() < 0.85:
        return json.dumps(other(json.loads(data), rng)).encode()
    if file.suffix == ".jsonl" and rng.random() < 0.7:
        lines = [json.loads(line) for line in data.splitlines()]
        found = other(lines, rng)
        return "\n".join(map(json.dumps, found if isinstance(found, list) else [found])).encode()
    if file.suffix == ".csv" and rng.random() < 0.7:
        rows = [line.split(",") for line in data.decode().splitlines()]
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = str(rng.choice(WORDS)).replace("\ud800", "?")
        return "\n".join(map(",".join, rows)).encode()
    if file.suffix == ".gz" and rng.random() < 0.8:
        return gzip.compress(damaged_bytes(gzip.decompress(data), rng), 1)
    return damaged_bytes(data, rng)


def commands(run: Path, out: Path) -> dict[str, Callable[[], object]]:
    """Yield every reader of a run folder, for one run of it."""
    folder = run.parent

    def command(*words: object) -> Callable[[], object]:
        from emulation.cli.main import cli

        return lambda: cli.main([*map(str, words)], prog_name="dcflab", standalone_mode=False)

    def tables() -> None:
        from dcflab import load
        from emulation.features.export.schema import TABLES

        found = load(folder)
        for name in TABLES:
            found.table(name)

    def python() -> None:
        from analysis.load import load

        found = next(each for each in load(folder).runs if each.folder == run)
        for what in ("observation", "flight", "flows", "series", "air", "paths", "routes"):
            getattr(found, what)
        for number, _ in enumerate(found.frames()):
            if number > 20:
                break

    def resumed() -> None:
        from emulation.play.finished import load_finished

        load_finished(run, json.loads((PRISTINE / run.name / "plan.json").read_bytes()), {}, "no")

    there = {
        "report": command("view", folder, "--report", "--no-open", "--out", out / "report.html"),
        "timeline": command("view", run, "--timeline", "--no-open", "--out", out / "timeline.html"),
        "perfetto": command("view", run, "--perfetto", out / "a.json"),
        "film": command("film", run, "--out", out / "film.html"),
        "still": command("film", run, "--at", "0.5", "--out", out / "film.svg"),
        "export": command("export", folder, "--out", out / "tables"),
        "flent": command("export", folder, "--to", "flent", "--out", out / "flent"),
        "pcapng": command("export", folder, "--to", "pcapng", "--out", out / "pcapng"),
        "taps": command("taps", run),
        "scapy": command("taps", run, "--scapy"),
        "replay": command("replay", folder),
        "tables": tables,
        "python": python,
        "resume": resumed,
    }
    for feature in OF_FEATURES.keys() - {*features.names()}:
        for what in OF_FEATURES[feature]:
            del there[what]
    return there


PRISTINE = Path()
OF_FEATURES = {"film": ("film", "still"), "export": ("export", "flent", "pcapng", "tables")}
READ = {  # which readers read which files; other files are read by the readers of the run
    "result.json": ("report", "export", "flent", "tables", "python", "film", "replay"),
    "run.json": ("resume",),
    "flows.csv": ("export", "flent", "tables", "python"),
    "tcp.trace.gz": ("report", "timeline", "export", "tables", "python"),
    "manet.trace.gz": ("film", "export", "tables", "python"),
    "routes.jsonl": ("film", "export", "tables", "python"),
}
OF_RUN = (
    "report",
    "pcapng",
    "timeline",
    "perfetto",
    "film",
    "still",
    "export",
    "flent",
    "taps",
    "tables",
    "python",
    "resume",
)


class Slow(BaseException):
    pass


def late(*_: object) -> None:
    raise Slow


def said(call: Callable[[], object]) -> str:
    """Return what a command raised that is not a proper error; empty if none."""
    from emulation.files.foreign import Damaged
    from emulation.lane.errors import Failure, Misuse

    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call()
    except (Damaged, Misuse, Failure, OSError, click.UsageError, SystemExit):
        return ""
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:100]!r}, {Path(last.filename).name}, line {last.lineno}"
    return ""


def once(folder: Path, number: int, slow: int = 0) -> Iterator[str]:
    """Apply one damage, and return the result; the folder is restored afterwards."""
    rng = random.Random(number)
    files = sorted(file for file in folder.glob("**/*") if file.suffix in (".json", ".jsonl", ".csv", ".gz", ".trace"))
    of = rng.choice(sorted({file.name for file in files}))
    file = rng.choice([each for each in files if each.name == of])
    runs = sorted(path.parent for path in folder.glob("*/lane.json"))
    run = file.parent if file.parent in runs else rng.choice(runs)
    was = file.read_bytes()
    with tempfile.TemporaryDirectory() as out:
        there = commands(run, Path(out))
        readers = sorted(there.keys() & {*READ.get(file.name, OF_RUN)})
        names = rng.sample(readers, min(2, len(readers)))
        if file.suffix == ".gz" and rng.random() < 0.1:
            names.append("scapy")
        try:
            file.write_bytes(damaged(file, rng))
            for name in names:
                signal.setitimer(signal.ITIMER_REAL, slow)
                if found := said(there[name]):
                    yield f"{number}: {file.relative_to(folder)}: {name}: {found}"
                signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            file.write_bytes(was)


def main(pristine: Path, first: int = 1, count: int = 1000) -> int:
    global PRISTINE
    PRISTINE = pristine
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, late)
    warnings.simplefilter("ignore")
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "run")
        shutil.copytree(pristine, folder)
        for number in range(first, first + count):
            for line in once(folder, number, 30):
                print(line, flush=True)
                bad += 1
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), *map(int, sys.argv[2:]))))
