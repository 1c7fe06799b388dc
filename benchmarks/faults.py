# SPDX-License-Identifier: BSD-3-Clause
"""Faults that `module check` finds: realistic ones, planted in copies of the kernel's own modules.

Half of them are races, the others wrong numbers (`benchmarks.planted`). A module goes through load, workout and cycles
in the debug kernel, with one seed, up to the first phase with a finding. `--smp` puts those that were not found, and
need two CPUs, through the stage smp. `--unseen` plants others, for which no check was made (`benchmarks.unseen`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import show_table, table
from benchmarks.mutants import cpu_s
from benchmarks.planted import FAULTS, KNOWN, NUMBER, RACE, Fault, planted
from benchmarks.unseen import FIRST, SECOND
from emulation.features.check import Report, Stage, build, exercise, smp, subject
from emulation.lane.errors import Failure
from emulation.lanes import LaneError
from emulation.setup import Prepared, cache
from emulation.setup.kernel import archive
from emulation.setup.tools import end_with_us, fingerprint

CYCLES, SEED, WALL_LIMIT_S = 30, 1, 1800.0  # as other programs may run, too
HEADERS = ("net/ipv4/tcp_dctcp.h", "net/ipv4/tcp_vegas.h", "net/sched/sch_mqprio_lib.h")
SETS = {"1": FIRST, "2": SECOND, "all": FIRST + SECOND}


def sources(wanted: Sequence[str]) -> Path:
    """Return a folder with these files of the kernel's source. Raises Failure."""
    source = archive()
    if source is None:
        raise Failure("there is no kernel source: ./dcflab setup build installs it")
    if source.is_dir():
        return source

    def unpack(folder: Path) -> list[str]:
        inside = [f"{source.name.split('.tar')[0]}/{name}" for name in wanted]
        command = ["tar", "-xf", str(source), "-C", str(folder), "--occurrence=1", "--strip-components=1", *inside]
        subprocess.run(command, check=True, preexec_fn=end_with_us)
        return list(wanted)

    return cache.obtain(f"faults-{cache.key(fingerprint(source), *wanted)}", unpack)


def copied(file: str, kernel: Path, folder: Path) -> Path:
    """Copy a file of the kernel's source with the headers that lie beside it. Return the copy."""
    folder.mkdir(parents=True)
    beside = (name for name in HEADERS if Path(name).parent == Path(file).parent)
    for name in (file, *beside):
        shutil.copy(kernel / name, folder)
    return folder / Path(file).name


def exercised(found: subject.Subject, debug: Prepared, scratch: Path, one_is_enough: bool) -> Sequence[Report]:
    """Return the reports of load, workout and cycles, or of the build if it fails."""
    report = build.build(found, [build.debug_target(debug.kernel)], scratch / "debug", style=False)
    if not (built := report.data["modules"][build.DEBUG]):
        return [report]
    run = scratch / "run"
    run.mkdir()
    module = subject.examine(Path(built[found.modules[0]]), found.files)
    return exercise.exercise(
        debug, module, run, seed=SEED, cycles=CYCLES, one_is_enough=one_is_enough, wall_limit_s=WALL_LIMIT_S
    )


def try_out(fault: Fault, kernel: Path, debug: Prepared, scratch: Path, on_many: str | None) -> dict[str, Any]:
    """Return what was found first, and where."""
    file = copied(fault.file, kernel, scratch / "sources")
    file.write_text(planted(fault, file.read_text()))
    found = subject.find(file)
    began = cpu_s()
    known = KNOWN.get(file.stem, ())
    reports = exercised(found, debug, scratch, one_is_enough=not known)
    if reports[0].stage is Stage.BUILD:
        raise Failure(f"{fault.name}: {reports[0].findings[0].text}")
    if on_many and fault.on_many and not any(one.findings for one in reports):
        reports = [many_cpus(found, scratch, on_many)]
    findings = [finding for one in reports for finding in one.findings]
    first = next((one for one in findings if not any(text in one.text for text in known)), None)
    said = {"found": str(first.name), "stage": str(first.stage), "text": first.text} if first else {"found": ""}
    return {"fault": fault.name, "kind": fault.kind, "file": fault.file, **said, "cpu_s": round(cpu_s() - began, 1)}


def many_cpus(found: subject.Subject, scratch: Path, kernel: str) -> Report:
    """Put a module through the stage smp. Raises Failure if that is not possible here."""
    release, lacking = smp.release_for(build.stock_targets(), None)
    if kernel == smp.STOCK and not release:
        raise Failure(lacking)
    place = smp.debug_place() if kernel == smp.DEBUG else smp.place_of(release)
    report = build.build(found, [smp.target(place)], scratch / "smp", style=False)
    module = subject.examine(Path(report.data["modules"][build.SMP][found.modules[0]]), found.files)
    return smp.check(place, module, scratch / "smp-run", seed=SEED)


def show(results: Sequence[dict[str, Any]]) -> None:
    count = sum(bool(one["found"]) for one in results)
    spent = sum(one["cpu_s"] for one in results) / 60
    rows = table(f"{count} of {len(results)} faults found in {spent:.0f} min of CPU time", "fault", "found as", "stage")
    for one in results:
        rows.add_row(f"{Path(one['file']).stem}: {one['fault']}", one["found"] or "-", one.get("stage", ""))
    show_table(rows)
    for kind in (RACE, NUMBER):
        of = [one for one in results if one["kind"] == kind]
        print(f"{kind}: {sum(bool(one['found']) for one in of)} of {len(of)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dcflab bench faults", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--only", default="", metavar="TEXT", help="only faults whose name or file contains this")
    parser.add_argument("--smp", choices=smp.KERNELS, nargs="?", const=smp.STOCK, metavar="KERNEL",
                        help="use the stage smp, too, in the kernel stock or debug")  # fmt: skip
    parser.add_argument("--unseen", choices=SETS, nargs="?", const="all", metavar="SET",
                        help="plant the faults for which no check was made: set 1, 2 or all")  # fmt: skip
    given = parser.parse_args()
    faults = SETS[given.unseen] if given.unseen else FAULTS
    kernel = sources(sorted({fault.file for fault in faults} | set(HEADERS)))
    debug, results = exercise.debug_kernel(), []
    with tempfile.TemporaryDirectory(prefix="dcflab-faults-") as folder:
        for number, fault in enumerate(faults):
            if given.only not in f"{fault.file}: {fault.name}":
                continue
            scratch = Path(folder) / str(number)
            scratch.mkdir()
            try:
                results.append(try_out(fault, kernel, debug, scratch, given.smp))
            except LaneError as error:
                results.append({"fault": fault.name, "kind": fault.kind, "file": fault.file, "found": f"{error}"})
            print(results[-1], file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    main()
