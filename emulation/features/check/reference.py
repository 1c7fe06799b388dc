# SPDX-License-Identifier: BSD-3-Clause
"""The stage reference: what a changed copy of a module does otherwise.

In virtual time, equal behaviour leaves equal bytes. So the module and its reference get the same load with the same
seed (`inside.behaviour`), in the ordinary kernel; `witness` writes down each call of both, and the first line that
differs is what the change did. The reference is the file of the same name in the lab's kernel, or what the user names.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from emulation import files
from emulation.features.check import Finding, Name, Report, Stage, build, calls
from emulation.features.check.changes import Changes, Source
from emulation.features.check.exercise import INNER, MEMORY_MB, SUBJECT, beside
from emulation.features.check.inside.behaviour import LOG
from emulation.features.check.subject import Kind, Module, Subject, examine
from emulation.features.check.subject import find as find_subject
from emulation.lane import guest
from emulation.lane.errors import Failure
from emulation.lanes import LaneError, Listener, Reason, virtual
from emulation.play import processes
from emulation.setup import Prepared, cache, prepare
from emulation.setup.kernel import archive

KERNELS, NONE = "kernel", "none"
WITNESS = Path(__file__).parent / "witness"
PROGRAM = INNER / "behaviour.py"
FOLDERS = ("net/ipv4", "net/sched")
WANTED = "net/ipv4/tcp_*.[ch]", "net/sched/*.[ch]"
ROUNDS, LANES, WALL_LIMIT_S = 150, 4, 20.0
PATIENCE = 10  # times this limit, before a module that differs is said to hang: the host may be busy
ANOTHER = 0.2  # of the lines: with more changes it is another module
MOST_LOG = 1 << 28  # bytes
CONTROL_NAME = re.compile(r"struct\s+tcp_congestion_ops\s+\w+[^=]*=\s*\{[^}]*?\.name\s*=\s*\"(\w+)\"")
SPOKEN = "tcp_register_congestion_control", "register_qdisc", "qdisc_tree_reduce_backlog"
MOST_PLACES = 3
ROUND = "= round "


@dataclass(frozen=True)
class Reference:
    """What a module is compared with: its C file, what it is called, and whether nobody named it."""

    file: Path
    name: str
    automatic: bool


def sources() -> Path:
    """Return a folder with the kernel's congestion controls and qdiscs, as in its source. Raises Failure."""
    source = archive()
    if source is None:
        raise Failure("there is no kernel source: ./dcflab setup build installs it")
    return build.from_source("sources", source, WANTED)


def names_of(module: str, subject: Subject) -> list[str]:
    """Return the names that the file of the kernel's own module may have: the module's, and those that follow from what
    it registers."""
    texts = [file.read_text(errors="replace") for file in subject.files if file.suffix == ".c"]
    found = [match[1] for text in texts if (match := CONTROL_NAME.search(text))]
    return [module, *(f"tcp_{name}" for name in found)]


def find(wish: str, module: Module, subject: Subject, release: str) -> Reference | str | None:
    """Return the reference that a user wishes, or why there is none; None if the kernel has no such module. Raises
    Misuse if the file named is not there."""
    if wish == NONE:
        return "--reference none"
    if wish == KERNELS:
        if module.kind is Kind.OTHER:
            return None
        try:
            root = sources()
        except Failure as error:
            return str(error)
        names = [*names_of(module.name, subject), *([f"sch_{module.qdisc}"] if module.qdisc else [])]
        there = (root / folder / f"{name}.c" for name in names for folder in FOLDERS)
        file = next((path for path in there if path.is_file()), None)
        return Reference(file, f"{file.relative_to(root)} of Linux {release}", True) if file else None
    given = find_subject(Path(wish))
    named = [file for file in given.files if file.suffix == ".c"]
    file = next((file for file in named if file.stem == module.name), named[0])
    return Reference(file, wish, False)


def changes_of(reference: Reference, subject: Subject) -> Changes | None:
    """Return how the module's file of the same name differs, or its only one; None if it has several."""
    own = [file for file in subject.files if file.suffix == ".c"]
    same = [file for file in own if file.name == reference.file.name] or own
    if len(same) != 1:
        return None
    texts = (file.read_text(errors="replace") for file in (reference.file, same[0]))
    return Changes(*(Source(str(same[0].relative_to(subject.folder)), text) for text in texts))


def same_headers(reference: Reference, subject: Subject) -> bool:
    """Return whether each header of the module equals the one beside the reference."""

    def lines(file: Path) -> list[str] | None:
        return Source("", file.read_text(errors="replace")).lines if file.is_file() else None

    headers = (file for file in subject.files if file.suffix == ".h")
    return all(lines(file) == lines(reference.file.parent / file.name) for file in headers)


def place() -> Prepared:
    """Return the ordinary kernel with `witness`. Raises Failure."""
    return prepare(folders=(WITNESS,))


def built(reference: Reference, prepared: Prepared) -> Path:
    """Return the reference's module, built for the ordinary kernel. Raises Failure if it does not compile."""
    headers = sorted(reference.file.parent.glob("*.h"))
    parts = (file.read_bytes() for file in (reference.file, *headers))

    def make(folder: Path) -> Iterable[str]:
        source = folder / "source"
        source.mkdir()
        for file in (reference.file, *headers):
            shutil.copy(file, source)
        target = replace(build.lane_target(prepared.kernel), sparse=False)
        report = build.build(find_subject(source / reference.file.name), [target], folder / "built", style=False)
        if not (made := report.data["modules"][build.LANE]):
            raise Failure(f"{reference.name} does not compile: {report.findings[0].text}")
        file = Path(shutil.copy(next(iter(made.values())), folder))
        shutil.rmtree(folder / "built")
        return [file.name]

    entry = cache.obtain(f"reference-{cache.key(prepared.kernel.key, reference.file.name, *parts)}", make)
    return next(entry.glob("*.ko"))


def behave(
    prepared: Prepared, module: Module, folder: Path, seed: int, rounds: int, limit_s: float = WALL_LIMIT_S
) -> tuple[calls.Log, bool]:
    """Put a module under load, and return its calls, and whether a lane reached the limit of wall time. Where it ends
    the kernel, the next round has a new one. Raises LaneError if the lane fails otherwise."""
    logs: list[str] = []
    late = False
    first = 1
    for number in range(LANES):
        where = folder / str(number)
        where.mkdir(parents=True)
        spoken = [f"--redefine-sym={name}=witness_{name}" for name in SPOKEN]
        subprocess.run(["objcopy", *spoken, str(module.path), str(where / SUBJECT)], check=True)
        job = {"name": module.name, "path": f"{guest.RUN}/{SUBJECT}", "qdisc": module.qdisc, "seed": seed,
               "classful": module.classful, "options": module.options, "rounds": rounds, "first": first,
               "corpus": (), "counted": ()}  # fmt: skip
        (where / "job.json").write_text(json.dumps(job))
        modules = {**beside(prepared, module), WITNESS.name: prepared.modules[WITNESS.name]}
        error = None
        try:
            virtual.run(prepared.kernel.linux, modules, where, ["script", str(PROGRAM)], seed=seed,
                        wall_limit_s=limit_s, listener=Listener(), memory_mb=MEMORY_MB)  # fmt: skip
        except LaneError as caught:
            if caught.reason not in (Reason.CRASHED, Reason.WALL_LIMIT):
                raise
            error = caught
        with files.opened(where / LOG) as log:
            text = log.read(MOST_LOG).decode(errors="replace")
        _, mark, rest = text.partition(ROUND)  # what comes before the rounds is the same in each lane
        logs.append(f"{mark}{rest}" if number else text)
        if error is None:
            break
        late |= error.reason is Reason.WALL_LIMIT
        logs.append(f"0 {calls.DIED} 0\n")
        last = [line for line in logs[-2].splitlines() if line.startswith(calls.HEADING)][-1:]
        match = re.match(rf"{ROUND}(\d+)", last[0]) if last else None
        if match is None or (late and limit_s > WALL_LIMIT_S):
            break
        first = int(match[1]) + 1
    return calls.read("".join(logs)), late


def check(
    prepared: Prepared, module: Module, subject: Subject, reference: Reference, folder: Path, *, seed: int,
    rounds: int = ROUNDS,
) -> Report:  # fmt: skip
    """Compare a module with its reference. `module` is built for the ordinary kernel. Raises LaneError for what neither
    of them caused, or Failure."""
    began = time.monotonic()
    changes = changes_of(reference, subject)
    data: dict[str, Any] = {"reference": reference.name, "seed": seed}

    def report(findings: Sequence[Finding] = (), notes: Sequence[str] = (), **more: object) -> Report:
        seconds = time.monotonic() - began
        return Report(Stage.REFERENCE, tuple(findings), tuple(notes), seconds, {**data, **more})

    if changes and not changes.lines and same_headers(reference, subject):
        return report((), (f"its source is that of {reference.name}",), same=True)
    known = built(reference, prepared)
    sides = {"module": module, "reference": replace(module, name=examine(known).name, path=known)}

    def one_side(name: str, parent: processes.Parent) -> tuple[calls.Log, bool]:
        return behave(prepared, sides[name], folder / name, seed, rounds)

    (ours, late), (theirs, _) = processes.run_all([partial(one_side, name) for name in sides])
    difference = calls.compare(theirs, ours)
    if difference and late:
        limit_s = PATIENCE * WALL_LIMIT_S
        ours, _ = behave(prepared, module, folder / "again", seed, rounds, limit_s)
        difference = calls.compare(theirs, ours)
    if difference is None:
        return report((), (f"no difference from {reference.name} in {ours.count} calls",), calls=ours.count)
    text, where, where_is = told(difference, reference, changes, module)
    measured = {"calls": ours.count, "equal": difference.equal, "rounds": difference.sections,
                "differing": difference.differing}  # fmt: skip
    if reference.automatic and changes and changes.share > ANOTHER:
        note = f"{100 * changes.share:.0f} % of the lines differ from {reference.name}: it is read as another module"
        return report((), (note, text), **measured)
    finding = Finding(Stage.REFERENCE, Name.CHANGED_BEHAVIOUR, text, seed, console=shown(difference), where=where,
                      place=where_is, time_s=difference.call.time_s)  # fmt: skip
    return report((finding,), (), **measured)


def told(
    difference: calls.Difference, reference: Reference, changes: Changes | None, module: Module
) -> tuple[str, str, str]:
    """Return a difference in words, the function that causes it, and its file and line, as far as they are known."""
    text = difference.text()
    text += f"; the {difference.equal} calls before are equal, "
    text += f"and {difference.differing} of {difference.sections} rounds differ"
    if difference.earlier:
        text += f"; the module's own state differs after {difference.earlier}"
    function, where = "", ""
    if changes:
        operations = [name for name in (difference.earlier, difference.operation) if name]
        functions = [changes.source.operations.get(name.removeprefix("class_"), name) for name in operations]
        lines = changes.nearest(functions)
        if lines:
            where = changes.place(lines[0])
            function = changes.source.function_at(lines[0])
            others = [changes.place(line) for line in lines[1:MOST_PLACES]]
            text += f"; changed is {', '.join([where, *others])}" + " and more" * (len(lines) > MOST_PLACES)
        function = function or functions[-1]
    text += f". The reference is {reference.name}"
    text += ": if the change is meant, or this is of another version, --reference none accepts it" * reference.automatic
    return text, f"{function} [{module.name}]" if function else "", where


def shown(difference: calls.Difference) -> tuple[str, ...]:
    """Return both calls as they were written down."""
    sides: Mapping[str, calls.Call | None] = {"reference": difference.expected, "module": difference.found}
    return (difference.section, *(f"{name}: {call.public if call else 'no call'}" for name, call in sides.items()))
