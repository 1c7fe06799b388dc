# SPDX-License-Identifier: BSD-3-Clause
"""A figure for each paper: its ratios, ours as published, and ours today."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import experiments
from analysis.figures.dots import Row, dots
from analysis.tables.claims import Claim, Of
from analysis.tables.verdicts import Outcome, Value, over_theirs
from emulation.features.claims.page import JUDGED, PAGE, PAPERS, compared, picture
from emulation.features.claims.record import Claims
from experiments import Study

# A key of the row, its label, the paper's range, and ours: a mean, and the ends of its interval.
Shown = tuple[str, str, tuple[float, float], tuple[float, float, float]]
LETTERS = 62  # of a row's label


def draw(claims: Claims, folder: Path = PAGE.parent) -> None:
    """Draw the figures of docs/claims.md from all seeds, of papers with results. Raises OSError."""
    claims = claims.whole()
    for paper in PAPERS:
        if found := rows(claims, paper):
            dots(folder / picture(paper).name, found, f"Paper {paper}")


def rows(claims: Claims, paper: str) -> list[Row]:
    """Return the rows of a paper: a contrast with a published number each, and the published values of each quantity of
    each claim. Shared ones appear once."""
    found: dict[tuple[str, str], Row] = {}
    for column in JUDGED:
        seen: set[Of] = set()
        for number, said in experiments.numbered().items():
            units = claims.of(number, column) if said.paper == paper else []
            known = [(study, claim, one) for study, claim in units if (one := claims.tested(study, claim).outcome)]
            shown = [row for study, claim, one in known if claim.numbers[0] == number
                     for row in _contrasts(claim.name, one, study)]  # fmt: skip
            shown += _values(number, known, seen)
            for key, words, published, ours in shown:
                if all(math.isfinite(of) and of > 0 for of in (*ours, *published)):
                    row = found.setdefault((number, key), Row(_short(f"{number}  {words}"), published, {}))
                    found[number, key] = row._replace(ours={**row.ours, column.value: ours})
    order = list(experiments.numbered())
    return [row for (number, _), row in sorted(found.items(), key=lambda item: order.index(item[0][0]))]


def _contrasts(name: str, outcome: Outcome, study: Study) -> Iterator[Shown]:
    for at, found in enumerate(outcome.found):
        if found.contrast.relation == "in" and (ratio := found.ratio):
            yield f"{name} {at}", compared(found.contrast, study), found.contrast.range, ratio


def _values(number: str, known: Iterable[tuple[Study, Claim, Outcome]], seen: set[Of]) -> Iterator[Shown]:
    by_path: dict[str, list[Value]] = {}
    for study, _, outcome in known:
        for value in outcome.values:
            if value.of not in seen:
                seen.add(value.of)
                by_path.setdefault(study.quantities.get(value.of.path, value.of.path), []).append(value)
    for path, values in by_path.items():
        mean, half = over_theirs(values).mean, over_theirs(values).half_width
        ratio = math.exp(mean), math.exp(mean - half), math.exp(mean + half)
        yield path, f"{path}: {len(values)} published, ours over theirs", (1.0, 1.0), ratio


def _short(label: str) -> str:
    return label if len(label) <= LETTERS else label[: LETTERS - 1] + "…"
