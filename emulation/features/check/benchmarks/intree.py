# SPDX-License-Identifier: BSD-3-Clause
"""False findings of `module check`: it checks copies of the kernel's own congestion controls and qdiscs.

Each module of the lab's kernel goes through load, workout and cycles in the debug kernel, and is compared with itself
(the stage reference; `--reference` has only that), with one seed. `KNOWN` has
findings that are true, by reading. Any other one is either a fault of the kernel that nobody knows, or false; the exit
status is 1 then.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import show_table, table
from emulation.features.check import Stage, exercise, reference, subject
from emulation.features.check.benchmarks.faults import compared, copied, exercised
from emulation.features.check.benchmarks.mutants import cpu_s
from emulation.features.check.benchmarks.planted import KNOWN
from emulation.lanes import LaneError
from emulation.setup import Prepared

CONTROLS = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable", "vegas",
    "veno", "westwood", "yeah",
)  # fmt: skip
QDISCS = (
    "cake", "cbs", "choke", "codel", "drr", "etf", "ets", "fq", "fq_codel", "fq_pie", "gred", "hfsc", "hhf", "htb",
    "ingress", "mqprio", "multiq", "netem", "pie", "plug", "prio", "qfq", "red", "sfb", "sfq", "skbprio", "taprio",
    "tbf", "teql",
)  # fmt: skip
FILES = (*(f"net/ipv4/tcp_{name}.c" for name in CONTROLS), *(f"net/sched/sch_{name}.c" for name in QDISCS))
MOST_SHOWN = 60  # lines of the kernel's log


def check(name: str, kernel: Path, debug: Prepared | None, scratch: Path) -> dict[str, Any]:
    """Return what was found in a module, and how much of it ran."""
    file = copied(name, kernel, scratch / "sources")
    began = cpu_s()
    file.write_text(f"{file.read_text()}\n#define NOTHING\n")  # an equal source would not be compared
    found = subject.find(file)
    try:
        reports = list(exercised(found, debug, scratch, one_is_enough=False)) if debug else []
        reports.append(compared(found, kernel / name, scratch))
    except LaneError as error:
        return {"module": file.stem, "notes": [str(error)], "findings": []}
    known = KNOWN.get(file.stem, ())
    findings = [
        {"name": str(finding.name), "stage": str(finding.stage), "text": finding.text,
         "true": any(text in finding.text for text in known), "console": finding.console[:MOST_SHOWN]}
        for report in reports for finding in report.findings
    ]  # fmt: skip
    notes = [note for report in reports for note in report.notes]
    ran: dict[str, Any] = next((report.data["coverage"] for report in reports if report.stage is Stage.WORKOUT), {})
    return {"module": file.stem, "notes": notes, "findings": findings, "coverage": ran,
            "cpu_s": round(cpu_s() - began, 1)}  # fmt: skip


def verdict(one: dict[str, Any]) -> str:
    """Describe what was found in a module in a few words."""
    found = [f"{finding['name']}{' (true)' * finding['true']}" for finding in one["findings"]]
    return ", ".join(dict.fromkeys(found)) or "; ".join(one["notes"]) or "clean"


def lines_run(one: dict[str, Any]) -> str:
    counts = [count for lines in one.get("coverage", {}).values() for count in lines.values()]
    return f"{sum(count > 0 for count in counts)} of {len(counts)}" if counts else "-"


def show(results: Sequence[dict[str, Any]]) -> None:
    rows = table(f"{len(results)} modules, {sum(one.get('cpu_s', 0) for one in results) / 60:.0f} min of CPU time",
                 "module", "lines run", "found")  # fmt: skip
    for one in results:
        rows.add_row(one["module"], lines_run(one), verdict(one))
    show_table(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dcflab bench intree", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--only", default="", metavar="TEXT", help="only modules whose name contains this")
    parser.add_argument("--reference", action="store_true", help="only the stage reference")
    given = parser.parse_args()
    kernel, debug = reference.sources(), None if given.reference else exercise.debug_kernel()
    results = []
    with tempfile.TemporaryDirectory(prefix="dcflab-intree-") as folder:
        for file in FILES:
            if given.only in Path(file).stem:
                results.append(check(file, kernel, debug, Path(folder) / Path(file).stem))
                print(f"{results[-1]['module']}: {verdict(results[-1])}", file=sys.stderr, flush=True)
                for finding in results[-1]["findings"]:
                    print(f"  {finding['text']}", file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)
    return int(any(not finding["true"] for one in results for finding in one["findings"]))
