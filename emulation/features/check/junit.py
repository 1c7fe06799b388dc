# SPDX-License-Identifier: BSD-3-Clause
"""A check as JUnit tests: a case for each stage, and each module if there are several. A stage with findings failed;
the case has all of them and the commands that reproduce them. A stage that was not run is skipped."""

from __future__ import annotations

from pathlib import Path

from emulation.features.check import Finding, Stage
from emulation.features.check.report import Check, Done, without_report_lines
from emulation.play.junit import Case, Outcome, Suite

NOT_ASKED = "it was not asked for"


def suite(check: Check) -> Suite:
    """Return the cases in the order of stages; notes are its output."""
    cases = []
    for stage in Stage:
        mine = [done for done in check.done if done.stage is stage]
        cases += [case(check, done) for done in mine]
        cases += [] if mine else [Case(str(stage), Outcome.SKIPPED, NOT_ASKED)]
    notes = [f"{done.stage}: {note}" for done in check.done if done.report for note in done.report.notes]
    return Suite("module check", Path(check.path).stem, cases, "\n".join(notes))


def case(check: Check, done: Done) -> Case:
    several = len(check.modules) > 1 and done.module
    name = f"{done.stage} {done.module}" if several else str(done.stage)
    if not done.report:
        return Case(name, Outcome.SKIPPED, done.what)
    findings, seconds = done.report.findings, done.report.seconds
    if not findings:
        return Case(name, seconds=seconds)
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    text = "\n\n".join(text_of(check, done, finding) for finding in findings)
    return Case(name, Outcome.FAILED, line(findings[0]) + more, text, str(findings[0].name), seconds)


def line(finding: Finding) -> str:
    """Return a finding as one line: what, where, and with which seed."""
    where = "".join(f", {part}" for part in (finding.where, finding.place) if part)
    seed = "" if finding.seed is None else f" (seed {finding.seed})"
    return f"{finding.name}{where}: {finding.text}{seed}"


def text_of(check: Check, done: Done, finding: Finding) -> str:
    """Return the line, with the kernel's or tool's messages and the command that reproduces the finding."""
    return "\n".join([line(finding), *without_report_lines(finding.console), f"again: {check.again(done, finding)}"])
