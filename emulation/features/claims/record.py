# SPDX-License-Identifier: BSD-3-Clause
"""docs/claims.json: the verdict on each claim of the papers, and the numbers behind it.

It has what the checks compare, for each seed: a quantity of a variant in a case of a study. So verdicts follow from the
numbers and the claims' checks, and are computed again when checks change. Numbers belong to the options of their runs
(`of`) and to a version of what makes results (`made`). Numbers of other options than now do not count. Seeds add up
only within a version; new results of another version replace them."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

import experiments
import topologies
from analysis.results.result import Run
from analysis.tables.claims import Claim, NotTested
from analysis.tables.table import value
from analysis.tables.verdicts import Outcome, Verdict, verdict, weigh
from emulation.features.claims.c_tokens import significant
from emulation.features.claims.looks import CONFIDENCE, up_to_look
from emulation.lanes import CHECKOUT
from experiments import Column, Study

FILE = CHECKOUT / "docs/claims.json"
GOLDEN = CHECKOUT / "tests/lane/golden.json"  # hashes of runs of all kinds, except of these:
NOT_GOLDEN = (CHECKOUT / "emulation/manet", CHECKOUT / "tc_modules")
DIGITS = 7
NOT_YET, CHANGED = "not run yet", "its study has changed since it was run"
PARTLY = "not all of its cases are run"


class Model(BaseModel, extra="forbid"): ...


class Made(Model):
    """A version of what makes results: the kernel's release, and a hash of the golden traces, and of the tokens of the
    sources that these leave out. It is the same on all machines."""

    kernel: str
    behaviour: str


class Cell(Model):
    """The numbers of a variant in a case: by path, for each seed."""

    of: str
    made: str
    seeds: list[int]
    values: dict[str, list[float | None]]

    def take(self, other: Cell) -> None:
        """Add another cell's seeds, in order; for a seed in both, keep ours."""
        for at, seed in enumerate(other.seeds):
            if seed not in self.seeds:
                place = bisect_left(self.seeds, seed)
                self.seeds.insert(place, seed)
                for path, found in self.values.items():
                    found.insert(place, other.values[path][at])


class Line(Model):
    """A contrast of a study's claim, in words: `what` it compares, the paper's range, `ours`, and the finding (`said`).
    Without `what`, `ours` is why there is none."""

    study: str
    claim: str
    what: str = ""
    paper: str = ""
    ours: str
    said: str = ""

    @property
    def words(self) -> str:
        paper = f", the paper {self.paper}" if self.paper else ""
        return ": ".join(part for part in (self.what, f"{self.ours}{paper}", self.said) if part)

    def __str__(self) -> str:
        return f"{self.study}, {self.claim}: {self.words}"


class ClaimVerdict(Model):
    """What is known of a claim under a column.

    `verdict` is a `Verdict`'s value; `seeds` the fewest of its contrasts; `studies` those that count; `ours` each
    contrast; `change` the change that makes it hold, in words, and `cause` the verdict with it; `tried` other changes,
    with the evidence against them; `why` what is missing; `noise` the relative error of the mean of the paper's `runs`,
    if these could not show it; `needs` how many seeds may decide an open finding, by their spread; `below` the margin,
    if all findings that do not hold are of effects below it.
    """

    verdict: str
    seeds: int = 0
    studies: list[str] = []
    ours: list[Line] = []
    change: str = ""
    cause: str = ""
    tried: list[str] = []
    why: str = ""
    noise: float | None = None
    runs: int = 0
    needs: int | None = None
    below: float | None = None


class Standing(Model):
    """What is known of a claim, by column. `controls`: findings under other conditions."""

    columns: dict[str, ClaimVerdict] = {}
    controls: list[Line] = []


class Record(Model):
    """The file. Cells are by study, case and variant."""

    version: Literal[3] = 3
    made: dict[str, Made] = {}
    claims: dict[str, Standing] = {}
    cells: dict[str, dict[str, dict[str, Cell]]] = {}

    def versions(self) -> dict[str, Made]:
        """Return the versions that cells belong to."""
        used = {cell.made for cases in self.cells.values() for variants in cases.values() for cell in variants.values()}
        return {name: made for name, made in self.made.items() if name in used}


@dataclass(frozen=True)
class Tested:
    """A study's claim and its outcome, or why it has none."""

    study: Study
    claim: Claim
    outcome: Outcome | None
    why: str = ""


@dataclass(frozen=True)
class Look:
    """The seeds to use (empty: all), and the confidence."""

    seeds: Sequence[int] = ()
    confidence: float = CONFIDENCE


@dataclass
class Claims:
    """A record, and what follows from it at one look."""

    record: Record = field(default_factory=Record)
    look: Look = Look()
    _paths: dict[str, dict[tuple[str, str], set[str]]] = field(default_factory=dict)
    _definitions: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _by_options: dict[str, list[Cell]] = field(default_factory=dict)
    _pooled: dict[tuple[str, str, str], Cell | None] = field(default_factory=dict)

    @cached_property
    def studies(self) -> list[Study]:
        return [study for name in experiments.names() for study in experiments.find(name).columns()]

    def whole(self) -> Claims:
        """Return them at a look at all seeds."""
        claims = copy(self)
        claims.look = Look()
        return claims

    def of(self, number: str, column: Column | None = None) -> list[tuple[Study, Claim]]:
        """Return the studies' claims that test this one, and count for a column."""
        studies = [study for study in self.studies if column in (None, study.column)]
        return [(study, claim) for study in studies for claim in study.claims if number in claim.numbers]

    def seeds(self, study: Study, case: str, variant: str, made: str) -> set[int]:
        """Return the seeds with all numbers that the study's claims compare, of this version."""
        return {seed for cell in self._alike(study, case, variant) if cell.made == made for seed in cell.seeds}

    def add(self, study: Study, run: Run, made: str) -> None:
        self.put(study, (run.case, run.variant), run.seed, lambda path: value(run, path), made)

    def put(self, study: Study, of: tuple[str, str], seed: int, values: Callable[[str], float], made: str) -> None:
        """Add the numbers of a case and a variant. They replace those of other options, of another version, or of fewer
        paths. Paths that are no longer compared are left out."""
        case, variant = of
        self._pooled.clear()
        wanted = sorted(self.paths(study)[of])
        found = [rounded(values(path)) for path in wanted]
        cell = self._own(study, case, variant)
        if cell and cell.values.keys() > set(wanted):
            cell.values = {path: cell.values[path] for path in wanted}
        if cell is None or cell.made != made or sorted(cell.values) != wanted:
            cell = Cell(of=self._definition(study, case, variant), made=made, seeds=[], values={p: [] for p in wanted})
            self.record.cells.setdefault(study.name, {}).setdefault(case, {})[variant] = cell
            self._by_options.clear()
        if seed not in cell.seeds:
            at = bisect_left(cell.seeds, seed)
            cell.seeds.insert(at, seed)
            for path, one in zip(wanted, found, strict=True):
                cell.values[path].insert(at, one)

    def merge(self, other: Record) -> None:
        """Add another record's seeds of the same options, version and paths. If these differ, keep the cell of the
        current options and version, then the one with more seeds, else ours."""
        self.record.made = {**other.made, **self.record.made}
        self._by_options.clear()
        self._pooled.clear()
        studies = {study.name: study for study in self.studies}

        def new(study: str, case: str, variant: str, cell: Cell) -> tuple[bool, bool, int]:
            known = studies.get(study)
            of_now = known is not None and cell.of == self._definition(known, case, variant)
            return of_now, *self._newness(cell)

        for study, cases in other.cells.items():
            for case, variants in cases.items():
                for variant, theirs in variants.items():
                    there = self.record.cells.setdefault(study, {}).setdefault(case, {})
                    ours = there.setdefault(variant, theirs)
                    if (ours.of, ours.made, ours.values.keys()) == (theirs.of, theirs.made, theirs.values.keys()):
                        ours.take(theirs)
                    elif new(study, case, variant, theirs) > new(study, case, variant, ours):
                        there[variant] = theirs

    def tested(self, study: Study, claim: Claim) -> Tested:
        cells = [self._cell(study, case, variant) for case, variant, _ in claim.cells]
        there = [cell for cell in cells if cell]
        if not there:
            changed = any(
                variant in self.record.cells.get(study.name, {}).get(case, {}) for case, variant, _ in claim.cells
            )
            return Tested(study, claim, None, CHANGED if changed else NOT_YET)
        if len({cell.made for cell in there}) > 1:
            return Tested(study, claim, None, "its runs are of more than one version")
        common = set.intersection(*(set(cell.seeds) for cell in there))
        chosen = sorted(common & set(self.look.seeds)) if self.look.seeds else up_to_look(sorted(common))
        if not chosen:
            return Tested(study, claim, None, "its runs have no seed in common")
        try:
            outcome = weigh(
                claim, lambda *of: self._read(study, *of), chosen, study.published, self.look.confidence,
                means=study.means,
            )  # fmt: skip
        except NotTested:
            return Tested(study, claim, None, PARTLY)
        return Tested(study, claim, outcome)

    def verdict(self, tested: Sequence[Tested]) -> Verdict:
        """Return the verdict on a claim from the studies of a column; it is open unless all were run."""
        found = verdict(one.outcome for one in tested if one.outcome)
        whole = all(one.outcome for one in tested)
        return found if whole or found is Verdict.NOT else Verdict.OPEN

    def paths(self, study: Study) -> Mapping[tuple[str, str], set[str]]:
        """Return the paths that the study's numbered claims compare, by case and variant."""
        if study.name not in self._paths:
            found = self._paths.setdefault(study.name, {})
            for claim in study.claims:
                for case, variant, path in claim.cells if claim.numbers else ():
                    found.setdefault((case, variant), set()).add(path)
        return self._paths[study.name]

    def _definition(self, study: Study, case: str, variant: str) -> str:
        name = study.name, case, variant
        if name not in self._definitions:
            self._definitions[name] = definition(study, case, variant)
        return self._definitions[name]

    def _own(self, study: Study, case: str, variant: str) -> Cell | None:
        """Return the study's own cell, if it belongs to its current options."""
        cell = self.record.cells.get(study.name, {}).get(case, {}).get(variant)
        return cell if cell and cell.of == self._definition(study, case, variant) else None

    def _alike(self, study: Study, case: str, variant: str) -> list[Cell]:
        """Return the cells of this and other studies that have the same options, and all numbers that are compared."""
        if not self._by_options:
            for cell in (one for cases in self.record.cells.values() for of in cases.values() for one in of.values()):
                self._by_options.setdefault(cell.of, []).append(cell)
        wanted = self.paths(study)[case, variant]
        return [
            cell for cell in self._by_options.get(self._definition(study, case, variant), ())
            if cell.values.keys() >= wanted
        ]  # fmt: skip

    def _cell(self, study: Study, case: str, variant: str) -> Cell | None:
        """Return what `_pool` does, kept while the record does not change."""
        name = study.name, case, variant
        if name not in self._pooled:
            self._pooled[name] = self._pool(study, case, variant)
        return self._pooled[name]

    def _pool(self, study: Study, case: str, variant: str) -> Cell | None:
        """Return the numbers of a variant in a case, with the seeds of other studies that have the same options: of the
        current version if there are any, else of the one with most seeds."""
        alike = self._alike(study, case, variant)
        found: dict[str, Cell] = {}
        if len(alike) < 2:
            return alike[0] if alike else self._own(study, case, variant)
        paths = self.paths(study)[case, variant]
        for cell in alike:
            empty = Cell(of=cell.of, made=cell.made, seeds=[], values={path: [] for path in paths})
            found.setdefault(cell.made, empty).take(cell)
        return max(found.values(), key=self._newness)

    def _newness(self, cell: Cell) -> tuple[bool, int]:
        """Return whether a cell is of the current version, and its number of seeds."""
        made = self.record.made.get(cell.made)
        return made is not None and made.behaviour == behaviour(), len(cell.seeds)

    def _read(self, study: Study, case: str, variant: str, path: str) -> Mapping[int, float]:
        cell = self._cell(study, case, variant)
        if cell is None or path not in cell.values:
            return {}
        found = zip(cell.seeds, cell.values[path], strict=True)
        return {seed: math.nan if one is None else one for seed, one in found}


def definition(study: Study, case: str, variant: str) -> str:
    """Return a hash of the options of a variant in a case. The topology's own that have their defaults are left out, so
    studies of the same runs have the same hash."""
    options = {**study.options, **study.cases.get(case, {}), **study.variants.get(variant, {})}
    parameters = topologies.find(study.topology).Parameters
    own = {name: options.pop(name) for name in [*options] if name in parameters.model_fields}
    options |= parameters.model_validate(own).model_dump(mode="json", exclude_defaults=True)
    return short(json.dumps([study.topology, study.lane, options], sort_keys=True, default=list))


def made_now(kernel: str) -> tuple[str, Made]:
    """Return the current version of what makes results, and its name."""
    made = Made(kernel=kernel, behaviour=behaviour())
    return short(made.model_dump_json()), made


@cache
def behaviour() -> str:
    files = [file for folder in NOT_GOLDEN for file in sorted(folder.rglob("*")) if file.suffix in (".c", ".h")]
    golden = GOLDEN.read_text() if GOLDEN.is_file() else ""
    return short("\n".join([golden, *(significant(file.read_text()) for file in files)]))


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def rounded(of: float) -> float | None:
    """Round to DIGITS digits; whole numbers become integers, and unknown ones None."""
    if math.isnan(of):
        return None
    near = float(f"{of:.{DIGITS}g}")
    return int(near) if near.is_integer() else near


def read(file: Path = FILE) -> Record:
    """Read the record; without a file it is empty. Raises OSError or ValueError."""
    return Record.model_validate_json(file.read_bytes()) if file.exists() else Record()


def text(record: Record) -> str:
    """Return the content of the file: a line for each claim and each cell."""

    def part(of: object, depth: int) -> str:
        if isinstance(of, Mapping):
            named = [f"{json.dumps(name, ensure_ascii=False)}: {part(one, depth + 1)}" for name, one in of.items()]
            return "{\n" + ",\n".join(" " * depth + one for one in named) + "\n" + " " * (depth - 1) + "}"
        data = of.model_dump(mode="json", exclude_defaults=True) if isinstance(of, Model) else of
        return json.dumps(data, ensure_ascii=False)

    made, cells = dict(sorted(record.versions().items())), dict(sorted(record.cells.items()))
    return part({"version": record.version, "made": made, "claims": record.claims, "cells": cells}, 1) + "\n"
