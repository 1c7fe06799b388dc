# SPDX-License-Identifier: BSD-3-Clause
"""Faults that `module check` finds: realistic ones, planted in copies of the kernel's own modules.

Half of them are races, the others wrong numbers (`planted.py`). A module goes through load, workout and cycles
in the debug kernel, with one seed, up to the first phase with a finding; if there is none, it is compared with the
unchanged one (the stage reference; `--reference` has only that). With `--smp` only the races are planted, and
go through the stage smp alone, with `--tries` tries each; so do the modules without a fault. `--unseen` plants others,
for which no check was made (`unseen.py`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import show_table, table
from emulation.features.check import Name, Report, Stage, build, exercise, reference, smp, subject
from emulation.features.check.benchmarks.mutants import cpu_s
from emulation.features.check.benchmarks.planted import FAULTS, KNOWN, RACE, Fault, planted
from emulation.features.check.benchmarks.unseen import FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD
from emulation.lane.errors import Failure
from emulation.lanes import LaneError
from emulation.setup import Prepared, PreparedStock

CYCLES, SEED, WALL_LIMIT_S = 30, 1, 1800.0  # as other programs may run, too
HEADERS = ("net/ipv4/tcp_dctcp.h", "net/ipv4/tcp_vegas.h", "net/sched/sch_mqprio_lib.h")
SETS = {"1": FIRST, "2": SECOND, "3": THIRD, "4": FOURTH, "5": FIFTH, "6": SIXTH, "7": SEVENTH}
SETS["all"] = sum(SETS.values(), ())
TRIES = 3
TWIN, NOTHING = "nothing planted", "unchanged"


def copied(file: str, kernel: Path, folder: Path) -> Path:
    """Copy a file of the kernel's source with the headers that lie beside it. Return the copy."""
    folder.mkdir(parents=True)
    beside = (name for name in HEADERS if Path(name).parent == Path(file).parent)
    for name in (file, *beside):
        shutil.copy(kernel / name, folder)
    return folder / Path(file).name


def exercised(found: subject.Subject, debug: Prepared, scratch: Path, one_is_enough: bool) -> Sequence[Report]:
    """Return the reports of load, workout and cycles; of the build, if it fails or finds something."""
    report = build.build(found, [build.debug_target(debug.kernel)], scratch / "debug", style=False)
    if not (built := report.data["modules"][build.DEBUG]):
        return [report]
    run = scratch / "run"
    run.mkdir()
    module = subject.examine(Path(built[found.modules[0]]), found.files)
    if report.findings and one_is_enough:
        return [report]
    done = exercise.exercise(
        debug, module, run, seed=SEED, cycles=CYCLES, one_is_enough=one_is_enough, wall_limit_s=WALL_LIMIT_S
    )
    return [report, *done] if report.findings else done


def try_out(fault: Fault, kernel: Path, debug: Prepared | None, scratch: Path) -> dict[str, Any]:
    """Return what was found first, and where; without the debug kernel, by the stage reference."""
    found = written(fault, kernel, scratch)
    began = cpu_s()
    if debug:
        reports = exercised(found, debug, scratch, one_is_enough=found.modules[0] not in KNOWN)
        if reports[0].stage is Stage.BUILD and reports[0].findings[0].name is Name.COMPILE_ERROR:
            raise Failure(f"{fault.name}: {reports[0].findings[0].text}")
        if (done := result(fault, reports, began))["found"]:
            return done
    return result(fault, [compared(found, kernel / fault.file, scratch)], began)


def compared(found: subject.Subject, file: Path, scratch: Path) -> Report:
    """Return the report of the stage reference, with this file as the reference."""
    place = reference.place()
    target = replace(build.lane_target(place.kernel), sparse=False)
    report = build.build(found, [target], scratch / "lane", style=False)
    if not (built := report.data["modules"][build.LANE]):
        return replace(report, stage=Stage.REFERENCE)
    module = subject.examine(Path(built[found.modules[0]]), found.files)
    against = reference.Reference(file, file.name, automatic=True)
    try:
        return reference.check(place, module, found, against, scratch / "reference", seed=SEED)
    except Failure as error:
        return Report(Stage.REFERENCE, (), (str(error),))


def try_on_many(fault: Fault, kernel: Path, place: PreparedStock, scratch: Path, tries: int) -> dict[str, Any]:
    """Return what the stage smp found first, and in how many tries it found anything."""
    found = written(fault, kernel, scratch)
    began = cpu_s()
    report = build.build(found, [smp.target(place)], scratch / "smp", style=False)
    if not (built := report.data["modules"][build.SMP]):
        raise Failure(f"{fault.name}: it does not compile")
    module = subject.examine(Path(built[found.modules[0]]), found.files)
    report = smp.check(place, module, scratch / "run", seed=SEED, tries=tries)
    return {**result(fault, [report], began), "in": report.data["found"], "tries": tries, "notes": report.notes}


def written(fault: Fault, kernel: Path, scratch: Path) -> subject.Subject:
    """Write the source with the fault."""
    file = copied(fault.file, kernel, scratch / "sources")
    file.write_text(planted(fault, file.read_text()))
    return subject.find(file)


def result(fault: Fault, reports: Sequence[Report], began: float) -> dict[str, Any]:
    known = KNOWN.get(fault.module, ())
    findings = [finding for one in reports for finding in one.findings]
    first = next((one for one in findings if not any(text in one.text for text in known)), None)
    said = {"found": str(first.name), "stage": str(first.stage), "text": first.text} if first else {"found": ""}
    return {"fault": fault.name, "kind": fault.kind, "file": fault.file, **said, "cpu_s": round(cpu_s() - began, 1)}


def many_cpus(kernel: str) -> PreparedStock:
    """Return the kernel of the stage smp. Raises Failure if there is none."""
    place = smp.chosen(kernel, build.stock_targets())
    if isinstance(place, str):
        raise Failure(place)
    return place


def races(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Return the races among faults, and for each of their modules one that plants nothing."""
    found = [fault for fault in faults if fault.kind == RACE]
    return (*found, *(Fault(NOTHING, TWIN, module, ()) for module in dict.fromkeys(race.module for race in found)))


def show(results: Sequence[dict[str, Any]]) -> None:
    faulty = [one for one in results if one["kind"] != TWIN]
    count = sum(bool(one["found"]) for one in faulty)
    spent = sum(one["cpu_s"] for one in results) / 60
    title = f"{count} of {len(faulty)} faults found in {spent:.0f} min of CPU time"
    rows = table(title, "fault", "found as", "stage", "tries with a finding")
    for one in results:
        tries = f"{one['in']} of {one['tries']}" if "in" in one else ""
        rows.add_row(f"{Path(one['file']).stem}: {one['fault']}", one["found"] or "-", one.get("stage", ""), tries)
    show_table(rows)
    for kind in dict.fromkeys(one["kind"] for one in results):
        of = [one for one in results if one["kind"] == kind]
        print(f"{kind}: {sum(bool(one['found']) for one in of)} of {len(of)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dcflab bench faults", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--only", default="", metavar="TEXT", help="only faults whose name or file contains this")
    parser.add_argument("--smp", choices=smp.KERNELS, nargs="?", const=smp.STOCK, metavar="KERNEL",
                        help="only races, in the stage smp of the kernel stock or debug")  # fmt: skip
    parser.add_argument("--reference", action="store_true", help="only the stage reference")
    parser.add_argument("--tries", type=int, default=TRIES, metavar="N", help="tries of the stage smp")
    parser.add_argument("--unseen", choices=SETS, nargs="?", const="all", metavar="SET",
                        help="plant the faults for which no check was made: set 1 to 7, or all")  # fmt: skip
    given = parser.parse_args()
    faults: Sequence[Fault] = SETS[given.unseen] if given.unseen else FAULTS
    faults = races(faults) if given.smp else faults
    kernel = reference.sources()
    if given.smp and not given.reference:
        try_one: Any = partial(try_on_many, kernel=kernel, place=many_cpus(given.smp), tries=given.tries)
    else:
        try_one = partial(try_out, kernel=kernel, debug=None if given.reference else exercise.debug_kernel())
    results = []
    with tempfile.TemporaryDirectory(prefix="dcflab-faults-") as folder:
        for number, fault in enumerate(faults):
            if given.only not in f"{fault.file}: {fault.name}":
                continue
            scratch = Path(folder) / str(number)
            scratch.mkdir()
            try:
                results.append(try_one(fault, scratch=scratch))
            except LaneError as error:
                said = "" if given.smp else f"{error}"  # of the emulator, or of a busy machine
                results.append({"fault": fault.name, "kind": fault.kind, "file": fault.file, "found": said,
                                "text": f"{error}", "cpu_s": 0.0})  # fmt: skip
            print(results[-1], file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)
