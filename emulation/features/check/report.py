# SPDX-License-Identifier: BSD-3-Clause
"""The results of a check, for people and programs: the verdict table, report.json, report.md and the curves.

A finding is shown with the first lines of the kernel's or compiler's report, and with the command that reproduces it.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from emulation.features.check import Finding, Report, Stage, coverage
from emulation.features.check.compare import QUANTITIES
from emulation.features.check.tables import bottleneck_tables, fairness, phases_table, tables

VERSION = 1
SHOWN_LINES, SHOWN_NOTES = 12, 6
SHOWN_QUANTITIES = ("goodput_kbps", "flows.0.retransmits")
WIDTH = 120
# Lines of a kernel's report that are hidden at first: raw memory words, registers, and the frames of the check itself.
OF_REPORT = re.compile(
    r"^\s*$|^Stack:|^( [0-9a-f]{8,16}){2,}$|(\]|^) \? "
    r"|^(CPU|Tainted|Hardware name|Code|FS|CS|CR2|R[A-D]X|R[SB]P|R1?\d): "
)
INSTRUMENT = re.compile(
    r"(^| |\] )(show_stack|dump_stack|print_(report|address|circular|irq|usage|bad|lock|unlock|deadlock)"
    r"|panic|__warn|warn_|report_bug|_*(kasan|asan|hwasan|ubsan)_|check_(noncircular|prev|irq|deadlock)"
    r"|_*lock_(acquire|release)|mark_(lock|usage|held)|validate_chain|lockdep_|debug_(locks|object|print|check)"
    r"|_*might_|refcount_warn|set_track|stack_trace_save|save_stack|_*create_object|kmem_cache|_*kmalloc|_*kfree"
    r"|slab_|do_slab|poison_slab|unwind|relay_signal|sig_handler|segv|bad_(segv|page)|handle_signal)[\w.]*\+0x"
)


@dataclass(frozen=True)
class Done:
    """A stage, of one module or of all (""): what was done, in words, and its report; or why it was not done."""

    stage: Stage
    what: str
    module: str = ""
    report: Report | None = None


@dataclass(frozen=True)
class Check:
    """A whole check: what was asked for, as words of the command line, and what was done."""

    path: str
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    modules: Sequence[str] = ()
    done: Sequence[Done] = ()

    @property
    def findings(self) -> list[tuple[Done, Finding]]:
        return [(one, finding) for one in self.done if one.report for finding in one.report.findings]

    def again(self, done: Done, finding: Finding) -> str:
        """Return the command that reproduces a finding."""
        kept = {name: words for name, words in self.options.items() if name in (*NEEDED[finding.stage], *WHERE)}
        if finding.seed is not None:
            kept["--seeds"] = [str(finding.seed)]
        if len(self.modules) > 1 and done.module:
            kept["--module"] = [done.module]
        only = {"--only": [finding.stage]}
        words = [word for name, given in {**only, **kept}.items() for word in (name, *given)]
        return shlex.join(["./dcflab", "module", "check", self.path, *words])


WHERE = "--lane", "--kernel"
# The options on which a stage depends, besides these and the seeds.
NEEDED = {
    Stage.BUILD: ("--module", "--kernel-source", "--strict", "--kernels"),
    Stage.LOAD: ("--module", "--kernel-source"),
    Stage.WORKOUT: ("--module", "--kernel-source", "--options", "--rounds", "--corpus"),
    Stage.CYCLES: ("--module", "--kernel-source", "--options", "--rounds", "--corpus", "--cycles"),
    Stage.REFERENCE: ("--module", "--kernel-source", "--options", "--reference"),
    Stage.SMP: ("--module", "--kernels", "--options", "--smp", "--smp-tries"),
    Stage.COMPARE: ("--module", "--kernel-source", "--options", "--hops", "--against"),
}


def merge(of_seeds: Iterable[Sequence[Report]]) -> list[Report]:
    """Merge reports of several seeds into one per stage. A finding appears once, with the first seed that showed it.
    The data is the first seed's, except executed lines, which are those of all seeds. The time is the longest."""
    merged: dict[Stage, Report] = {}
    for reports in of_seeds:
        for report in reports:
            before = merged.get(report.stage)
            merged[report.stage] = both(before, report) if before else report
    return list(merged.values())


def both(one: Report, other: Report) -> Report:
    known = {(finding.name, finding.where or finding.text) for finding in one.findings}
    new = [finding for finding in other.findings if (finding.name, finding.where or finding.text) not in known]
    notes = tuple(dict.fromkeys([*one.notes, *other.notes]))
    data = dict(one.data)
    if "coverage" in data:
        data["coverage"] = coverage.total([data["coverage"], other.data.get("coverage", {})])
    seconds = max(one.seconds, other.seconds)
    return replace(one, findings=(*one.findings, *new), notes=notes, seconds=seconds, data=data)


def show(check: Check, console: Console) -> None:
    """Print the verdict table, the findings, the notes, and the comparison."""
    console.print(verdict_table(check))
    for again, alike in itertools.groupby(check.findings, lambda found: check.again(*found)):
        for done, finding in alike:
            console.print()
            show_finding(console, check, done, finding)
        console.print(f"  again: {again}", markup=False, highlight=False, soft_wrap=True)
    debugged = check.options.get("--lane", ["virtual"]) == ["virtual"]
    elsewhere = Stage.BUILD, Stage.REFERENCE, Stage.SMP
    if debugged and any(finding.console and finding.stage not in elsewhere for _, finding in check.findings):
        console.print("\nWith --gdb such a command stops in gdb where it happens.", highlight=False)
    for done in check.done:
        if done.report and done.report.notes:
            show_notes(console, done.report.notes)
    for data in compared(check):
        console.print(Text(f"\n{data['module']} beside {data['against']}", "bold"))
        for table in (*bottleneck_tables(data), *tables(data, SHOWN_QUANTITIES), phases_table(data)):
            console.print(table)
        for line in fairness(data):
            console.print(line, highlight=False)


def verdict_table(check: Check) -> Table:
    several = len(check.modules) > 1
    table = Table(title=f"module check {check.path}", title_justify="left")
    for column in ("stage", *(["module"] if several else []), "what was done"):
        table.add_column(column)
    table.add_column("time", justify="right")
    table.add_column("verdict")
    for done in check.done:
        report = done.report
        seconds = f"{report.seconds:.1f} s" if report else ""
        table.add_row(str(done.stage), *([done.module] if several else []), done.what, seconds, verdict(report))
    return table


def verdict(report: Report | None) -> Text:
    if report is None:
        return Text("left out", "dim")
    if count := len(report.findings):
        return Text(f"{count} finding{'s' * (count > 1)}", "bold red")
    if slower := report.data.get("slower"):
        return Text("clean, but " + "; ".join(f"{name}: {said}" for name, said in slower.items()), "bold yellow")
    return Text("clean", "green")


def show_finding(console: Console, check: Check, done: Done, finding: Finding) -> None:
    """Print a finding: its name and place, its text, and the first lines of the report."""
    where = "  ".join(filter(None, (finding.where, finding.place)))
    title = Text.assemble((str(finding.name), "bold red"), f"  {where}" if where else "")
    module = f" of {done.module}" if len(check.modules) > 1 and done.module else ""
    seed = "" if finding.seed is None else f", seed {finding.seed}"
    title.append(f"  ({finding.stage}{module}{seed})", "dim")
    console.print(title)
    console.print(f"  {finding.text}", markup=False, highlight=False)
    for line in without_report_lines(finding.console)[:SHOWN_LINES]:
        console.print(Text(f"  | {line}", "dim"), no_wrap=True, overflow="ellipsis")
    if len(finding.console) > SHOWN_LINES:
        console.print(Text(f"  | … {len(finding.console)} lines in report.md", "dim"))
    if finding.pcapng:
        console.print(f"  on the air before: {finding.pcapng}", markup=False, highlight=False, soft_wrap=True)


def without_report_lines(console: Sequence[str]) -> list[str]:
    """Return the lines of a report without those about the report itself, and without the frames of the check."""
    return [line for line in console if not OF_REPORT.search(line) and not INSTRUMENT.search(line)]


def show_notes(console: Console, notes: Sequence[str]) -> None:
    console.print()
    for note in notes[:SHOWN_NOTES]:
        console.print(f"note: {note}", markup=False, highlight=False)
    if len(notes) > SHOWN_NOTES:
        console.print(f"note: … and {len(notes) - SHOWN_NOTES} more in report.md")


def compared(check: Check) -> list[Mapping[str, Any]]:
    """Return the data of comparisons that took place."""
    return [done.report.data for done in check.done if done.stage is Stage.COMPARE and done.report and done.report.data]


def plain(check: Check) -> dict[str, Any]:
    stages = [plain_stage(check, done) for done in check.done]
    return {
        "version": VERSION, "path": check.path, "modules": list(check.modules), "clean": not check.findings,
        "stages": stages,
    }  # fmt: skip


def plain_stage(check: Check, done: Done) -> dict[str, Any]:
    """Return one stage as JSON; a skipped one has no seconds."""
    head = {"stage": done.stage, "module": done.module or None, "what": done.what}
    if not (report := done.report):
        return {**head, "seconds": None, "findings": [], "notes": [], "data": {}}
    findings = [{**asdict(finding), "again": check.again(done, finding)} for finding in report.findings]
    return {**head, "seconds": round(report.seconds, 3), "findings": findings, "notes": list(report.notes),
            "data": dict(report.data)}  # fmt: skip


def write(check: Check, folder: Path) -> None:
    """Write report.json and report.md to the run folder. Raises OSError if that fails."""
    (folder / "report.json").write_text(json.dumps(plain(check), indent=1) + "\n")
    (folder / "report.md").write_text(markdown(check, sorted(file.name for file in folder.glob("*.png"))))


def markdown(check: Check, curves: Sequence[str] = ()) -> str:
    """Return the whole report, for reading and passing on."""
    parts = [f"# module check {check.path}", fenced(verdict_table(check))]
    for done, finding in check.findings:
        where = f" in `{finding.where}`" if finding.where else ""
        where += f", {finding.place}" if finding.place else ""
        seed = "" if finding.seed is None else f", seed {finding.seed}"
        parts.append(f"## {finding.name}{where}\n\n{finding.text} ({finding.stage}{seed})")
        if finding.console:
            parts.append(fenced(Text("\n".join(finding.console))))
        parts += [f"On the air before: `{finding.pcapng}`"] if finding.pcapng else []
        parts.append(f"Again: `{check.again(done, finding)}`")
    for done in check.done:
        if done.report and done.report.notes:
            parts.append("\n".join([f"## Notes: {done.stage}", "", *(f"- {note}" for note in done.report.notes)]))
    for data in compared(check):
        parts += [f"## {data['module']} beside {data['against']}", *fairness(data)]
        shown = (*bottleneck_tables(data), *tables(data, QUANTITIES), phases_table(data))
        parts += [fenced(table) for table in shown]
    parts += [
        f"![Congestion window, threshold, round-trip time, segments in flight, phases]({name})" for name in curves
    ]
    return "\n\n".join(parts) + "\n"


def fenced(what: Table | Text) -> str:
    """Return text as it would be printed, in a fenced block."""
    file = io.StringIO()
    Console(file=file, width=WIDTH, no_color=True).print(what, soft_wrap=isinstance(what, Text))
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    return "\n".join(["```", *lines, "```"])
