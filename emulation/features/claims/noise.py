# SPDX-License-Identifier: BSD-3-Clause
"""Whether a paper's own runs could show what it says.

Runs differ by chance, and a paper's means with them. Where the paper gives its number of runs (`Study.repetition`), our
deviation between runs says how much: a published difference that is less than is significant in so many runs may be
chance (`Found.noise`). Then neither can our runs contradict it, nor is there a cause to look for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.tables.claims import Decision, Of
from analysis.tables.verdicts import Found
from emulation.features.claims.record import Tested
from experiments import Study

ALIKE = 2.0
UNCONFIRMED = (Decision.OPEN, Decision.REFUTED)


@dataclass(frozen=True)
class Noise:
    """The number of the paper's runs, and the relative error of a difference in their mean, 95 %."""

    runs: int
    error: float

    def __str__(self) -> str:
        percent = 100 * self.error
        return f"±{percent:.{0 if percent >= 10 else 1}f} % in {self.runs} run{'s' if self.runs > 1 else ''}"


def runs_of(study: Study) -> int:
    """Return the paper's number of runs; 0 if it has none, or they take another time than ours, and so differ more or
    less."""
    seconds, runs = study.repetition or (0.0, 0)
    return runs if study.options.get("seconds") == seconds else 0


def noise_of(found: Found, runs: int) -> Noise | None:
    """Return the noise of a contrast."""
    error = found.noise(runs) if runs else None
    if error is None:
        return None
    return Noise(runs, round(error if found.ratio is None else math.expm1(error), 4))


def hidden_in_noise(tested: Sequence[Tested], published: Sequence[Tested]) -> Noise | None:
    """Return the largest noise, if each finding that is not confirmed is of a difference that the paper's runs cannot
    show; else None.

    Their deviation is that of the same contrast as `published`, also for a verdict on today; what holds there is no
    noise today. A finding without a published difference has the largest of the same sides in this claim."""
    if [one.claim.name for one in tested] != [one.claim.name for one in published]:
        return None
    found: list[tuple[Found, int, Found]] = []
    for ours, theirs in zip(tested, published, strict=True):
        if not ours.outcome or not theirs.outcome:
            return None
        found += [
            (one, runs_of(theirs.study) if alike(theirs, other) else 0, other)
            for one, other in zip(ours.outcome.found, theirs.outcome.found, strict=True)
        ]
    effects: dict[object, float] = {}
    for _, _, one in found:
        if one.effect is not None and (sides := _sides(one)):
            effects[sides] = max(one.effect, effects.get(sides, 0.0))
    lacking = [(runs, other) for one, runs, other in found if one.finding in UNCONFIRMED]
    if not all(
        runs and one.finding in UNCONFIRMED and one.within(runs, effects.get(_sides(one))) for runs, one in lacking
    ):
        return None
    noises = [noise for runs, one in lacking if (noise := noise_of(one, runs))]
    return max(noises, key=lambda noise: noise.error, default=None)


def alike(tested: Tested, found: Found) -> bool:
    """Return whether the values that the paper has for the sides of a contrast are ours within a factor of two. If not,
    its runs may differ more or less than ours."""
    ours = {value.of: value.ours / value.theirs for value in (tested.outcome.values if tested.outcome else ())}
    published = [
        side for check in found.contrast.checks for side in check.sides
        if isinstance(side.case, str) and side.path in tested.study.published.get(side.case, {}).get(side.variant, {})
    ]  # fmt: skip
    return all(1 / ALIKE <= ours.get(side, 0.0) <= ALIKE for side in published)


def _sides(found: Found) -> tuple[str, str, str] | None:
    """Return what a contrast compares, without its cases."""
    first = found.contrast.checks[0]
    if isinstance(first.a, Of) and isinstance(first.b, Of):
        return first.a.variant, first.b.variant, first.a.path
    return None
