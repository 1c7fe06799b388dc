# SPDX-License-Identifier: BSD-3-Clause
"""Claims as test results: a suite for each paper, a case for each claim and column. A reproduced claim passes, also if
only in kind. A refuted one fails, unless an experiment shows the cause. Open and untested ones are skipped, and those
within the paper's noise."""

from collections.abc import Iterator, Sequence

import experiments
from analysis.tables.verdicts import Verdict
from emulation.features.claims.page import PAPERS, UNTESTED, short_verdict, standing_of
from emulation.features.claims.record import Claims, ClaimVerdict
from emulation.play.junit import Case, Outcome, Suite
from experiments import Numbered

OUTCOMES = {
    Verdict.REPRODUCED.value: Outcome.PASSED,
    Verdict.IN_KIND.value: Outcome.PASSED,
    Verdict.NOT.value: Outcome.FAILED,
    Verdict.NOISE.value: Outcome.SKIPPED,
    Verdict.OPEN.value: Outcome.SKIPPED,
}


def suites(claims: Claims, numbers: Sequence[str]) -> list[Suite]:
    found = []
    for paper in PAPERS:
        there = {name: said for name, said in experiments.numbered().items() if said.paper == paper and name in numbers}
        if there:
            cases = [case for name, said in there.items() for case in cases_of(claims, name, said)]
            found.append(Suite("claims", f"paper {paper}", cases))
    return found


def cases_of(claims: Claims, name: str, said: Numbered) -> Iterator[Case]:
    """Yield a case for a claim under each column, with the details if it failed."""
    known = standing_of(claims, name)
    if not known.columns:
        yield Case(f"{name}: {said.text}", Outcome.SKIPPED, f"{UNTESTED}: {said.untested}", "", UNTESTED)
    for column, one in known.columns.items():
        outcome = Outcome.PASSED if one.cause else OUTCOMES[one.verdict]
        yield Case(f"{name}, {column}: {said.text}", outcome, "" if outcome is Outcome.PASSED else message(one, said),
                   "\n".join(map(str, one.ours)) if outcome is Outcome.FAILED else "", one.verdict)  # fmt: skip


def message(one: ClaimVerdict, said: Numbered) -> str:
    why = f": {one.why}" if one.why else ""
    return short_verdict(one, said) + (f", {one.seeds} seeds" if one.seeds else "") + why
