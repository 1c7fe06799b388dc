# SPDX-License-Identifier: BSD-3-Clause
"""Studies, as data: each file has one, and forms of it with other options. `./dcflab run NAME` runs one and prints its
tables beside the published numbers.

docs/studies.md says how to write one. `claims.toml` has the claims of the papers; studies refer to them by number.
"""

from __future__ import annotations

import functools
import importlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import topologies
from analysis.tables.claims import Claim
from analysis.tables.quantities import OF_RUNS, QUANTITIES
from analysis.tables.table import Published, is_path
from topologies.errors import check_fields
from topologies.files import is_a, load, place_of, prefix_errors

Options = Mapping[str, object]


class Column(Enum):
    """Under which conditions a study's claims are judged."""

    PUBLISHED = "as published"  # the paper's MAC rules, routing and TCP, as far as Linux can be set so
    TODAY = "today"  # the standard's DCF, and unmodified Linux
    CONTROL = "control"  # other conditions: shown, but not counted


# The air and the transport of ns-2, which papers 000, 003 and 004 ran on; and those of the standard and of Linux.
NS2: Options = {"like": "ns2", "tcp_like": "ns2"}
LINUX: Options = {"like": "standard", "tcp_like": "linux"}
# Studies that compare RTS/CTS: how sentences and tables name the variants.
RTS_PHRASES = {
    "full": "with RTS/CTS before every frame",
    "partial": "with RTS/CTS before TCP data only",
    "none": "without RTS/CTS",
}
RTS_NAMES = {"full": "Full", "partial": "Partial", "none": "No"}
RTS: dict[str, Options] = {rts: {"rts": rts} for rts in RTS_NAMES}  # the variants
MANY = 12  # runs of which a paper compares means, and not the ratios of single runs
NAMED = re.compile(r'^    name="([\w-]+)",$', re.MULTILINE)  # how a file names its studies


@dataclass(frozen=True)
class Study:
    """Variants of one specification, compared in one case or in several.

    `options` are flat, as on the topology's command line. Each run has those of the study, then those of its case, then
    those of its variant. Variants are the tables' columns, and the others are compared with the first; cases are the
    rows, and `rows` says what they are ("hops"). `seeds` and `lane` are defaults. `topology` is a name, or the path of
    a user's topology relative to the study's file. `names`: of variants and cases. `phrases`: how a sentence names a
    variant, if not "with NAME". `quantities`: the paths of `tables.table` to show, with their labels. `published`: the
    paper's numbers, by case and variant. `core_s`: the measured mean CPU time of a run, s (0: unknown). `repetition`:
    the paper's duration in seconds and number of runs. `open`: options that the paper does not state; with other values
    it is still the same study. `column`: the conditions for which its claims count; `also`: further ones, with the
    options that they need. `place`: the line of a user's file that defines it."""

    name: str
    title: str
    topology: str
    options: Options
    variants: Mapping[str, Options]
    claims: Sequence[Claim]
    cases: Mapping[str, Options] = field(default_factory=lambda: {"": {}})
    rows: str = ""
    seeds: str = "1"
    lane: str = "virtual"
    names: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    quantities: Mapping[str, str] = field(default_factory=lambda: QUANTITIES)
    published: Published = field(default_factory=dict)
    core_s: float = 0.0
    repetition: tuple[float, int] | None = None
    open: Sequence[str] = ()
    column: Column = Column.TODAY
    also: Mapping[Column, Options] = field(default_factory=dict)
    reckoned: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)
    place: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError, as pydantic does for fields of a wrong type."""
        check_fields(self)
        for what, those in (("variants", self.variants), ("cases", self.cases)):
            if not those:
                raise ValueError(f"a study needs {what}, but has none")
        for path in (*self.quantities, *(path for claim in self.claims for _, _, path in claim.cells)):
            if not is_path(path) and (path not in self.reckoned or path in self.quantities):
                raise ValueError(f"a run has no quantity {path!r}")
        of_claims = {(claim.name, case, variant) for claim in self.claims for case, variant, _ in claim.cells}
        of_paper = [("published", case, variant) for case, those in self.published.items() for variant in those]
        for what, case, variant in (*sorted(of_claims), *of_paper):
            for kind, name, there in (("case", case, self.cases), ("variant", variant, self.variants)):
                if name not in there:
                    raise ValueError(f"{what}: there is no {kind} {name!r}; there are: {', '.join(there)}")

    @property
    def means(self) -> bool:
        """Whether the paper compares means of many runs."""
        return self.repetition is not None and self.repetition[1] >= MANY

    def but(self, options: Options = MappingProxyType({}), quantities: Mapping[str, str] = MappingProxyType({}),
            **changes: Any) -> Study:  # fmt: skip
        """Return this study with these further options and quantities, and with other fields changed."""
        options, quantities = {**self.options, **options}, {**self.quantities, **quantities}
        return replace(self, options=options, quantities=quantities, **changes)

    def columns(self) -> list[Study]:
        """Return this study, and its forms under the conditions of other columns."""
        others = [self.but(options, name=f"{self.name}, {column.value}", column=column, also={})
                  for column, options in self.also.items()]  # fmt: skip
        return [self, *others]

    @property
    def varied(self) -> set[str]:
        """The options that cases or variants set; a user cannot set them."""
        return {name for options in (*self.cases.values(), *self.variants.values()) for name in options}


@dataclass(frozen=True)
class Cause:
    """A single change with which a claim holds that otherwise does not: `options` for the studies of a column, options
    of some of their `variants` and `cases` by name, and a description."""

    column: Column
    options: Options
    text: str
    variants: Mapping[str, Options] = field(default_factory=dict)
    cases: Mapping[str, Options] = field(default_factory=dict)


@dataclass(frozen=True)
class Numbered:
    """A claim of the papers, from `claims.toml`: its place, its text, and a `short` text. `causes`: experiments that
    show why it does not hold under a column. `tried`: suspected causes without proof. `finding`: the document about it.
    `untested`: why no study tests it."""

    paper: str
    text: str
    short: str
    section: str = ""
    about: str = ""
    causes: Sequence[Cause] = ()
    tried: str = ""
    finding: str = ""
    untested: str = ""

    def cause(self, column: Column) -> Cause | None:
        return next((cause for cause in self.causes if cause.column is column), None)

    @property
    def where(self) -> str:
        return f"paper {self.paper}" + (f", {self.section}" if self.section else "")


@functools.cache
def numbered() -> Mapping[str, Numbered]:
    """All claims of the papers, by their numbers: C1 to C82."""
    found = tomllib.loads((Path(__file__).parent / "claims.toml").read_text())
    return MappingProxyType({
        number: Numbered(**said, causes=[Cause(**{**cause, "column": Column(cause["column"])}) for cause in causes])
        for number, said in found.items() for causes in [said.pop("cause", [])]
    })  # fmt: skip


def strings(hops: Iterable[int]) -> dict[str, Options]:
    """Return cases: strings with these numbers of hops."""
    return {str(count): {"stations": count + 1} for count in hops}


def sca(threshold: int, tcp: str = "sca") -> Options:
    """Return the options for SCA, SS or SSCA with one threshold for both phases."""
    parameters = {f"tcp_sca.{phase}_increase_thresh": str(threshold) for phase in ("ca", "ss")}
    return {"tcp": tcp, "module_parameters": parameters}


def cwl(limit: int = 0, tcp: str = "cwl") -> Options:
    """Return the options for a congestion window limited to `limit` segments; 0: by Chen, Xue and Nahrstedt's rule for
    the route's hops."""
    rule = {"tcp_cwl.rule": "fixed", "tcp_cwl.limit": str(limit)} if limit else {"tcp_cwl.rule": "chen"}
    return {"tcp": tcp, "module_parameters": rule}


def plain(title: str, topology: str = "") -> Study:
    """Return a study of one network, without comparison and published numbers. Its runs are named by their RTS/CTS."""
    names = {rts: f"rts {rts}" for rts in ("none", "partial", "full")}
    return Study(title, title, topology, {}, {"": {}}, [], names=names, quantities=OF_RUNS)


def names() -> list[str]:
    """The names of all studies, as on the command line."""
    return sorted(_modules())


@functools.cache
def _modules() -> dict[str, str]:
    """The module of each study, by the study's name. They are read, as loading all of them takes longer."""
    files = Path(__file__).parent.glob("*.py")
    return {name: file.stem for file in files for name in NAMED.findall(file.read_text())}


def find(name: str) -> Study:
    """The study of this name, or in this file (a path that ends in .py). Raises ValueError if there is none."""
    if name.endswith(".py"):
        found: Study = load(name, "study", {"STUDY": is_a(Study)}).STUDY
        beside = str(Path(name).parent / found.topology) if found.topology.endswith(".py") else found.topology
        found = replace(found, topology=beside, place=place_of(name, "STUDY"))
        with prefix_errors(found.place):
            topologies.find(found.topology)
        return found
    if name not in names():
        raise ValueError(f"there is no study {name!r}; there are: {', '.join(names())}")
    there = vars(importlib.import_module(f"{__name__}.{_modules()[name]}")).values()
    return next(each for each in there if isinstance(each, Study) and each.name == name)
