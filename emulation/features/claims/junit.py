# SPDX-License-Identifier: BSD-3-Clause
"""The claims as tests, a suite for each seed: one that holds passes, and one that does not, or in part only, fails,
unless claims.toml explains that; what is undecided or was not tested is skipped."""

from __future__ import annotations

from collections.abc import Sequence

import experiments
from analysis.tables.claims import Sure
from emulation.features.claims.looks import State
from emulation.features.claims.page import SEEDS, standing
from emulation.features.claims.record import Claims, Standing
from emulation.play.junit import Case, Outcome, Suite

OUTCOMES = {
    State.HOLDS: Outcome.PASSED,
    State.EXPLAINED: Outcome.PASSED,
    State.IN_PART: Outcome.FAILED,
    State.NOT: Outcome.FAILED,
    State.OPEN: Outcome.SKIPPED,
    State.UNTESTED: Outcome.SKIPPED,
}


def suites(claims: Claims, numbers: Sequence[str]) -> list[Suite]:
    """Of these claims."""
    found = []
    for seed in SEEDS:
        there = {number: said for number, said in experiments.numbered().items() if said.seed == seed}
        known = {number: standing(claims, number) for number in there if number in numbers}
        if known:
            cases = [case(claims, there[number], number, one) for number, one in known.items()]
            explained = [
                f"{number}: explained: it {one.found}: {there[number].explained}"
                for number, one in known.items() if one.state == State.EXPLAINED.value
            ]  # fmt: skip
            found.append(Suite("claims", f"seed {seed}", cases, "\n".join(explained)))
    return found


def case(claims: Claims, said: experiments.Numbered, number: str, one: Standing) -> Case:
    """A claim, in the seed's words; and if it failed, the checks that do not hold."""
    outcome = OUTCOMES[State(one.state)]
    seeds = f", {one.seeds} seeds: {one.checks}" if one.seeds else f": {one.why}"
    text = "\n".join([*one.ours, *against(claims, number)]) if outcome is Outcome.FAILED else ""
    message = "" if outcome is Outcome.PASSED else one.state + seeds
    return Case(f"{number}: {said.text}", outcome, message, text, one.state)


def against(claims: Claims, number: str) -> list[str]:
    """The checks of a claim that are not known to hold, with their numbers."""
    found = []
    for study, claim in claims.of(number):
        if verdict := claims.tested(study, claim).verdict:
            _, *lines = verdict.lines(study.names, study.rows, study.quantities)
            pairs = zip(lines, verdict.findings, strict=False)
            found += [f"{study.name}, {claim.name}: {line.strip()}" for line, finding in pairs
                      if finding.decided is not Sure.CONFIRMED]  # fmt: skip
    return found
