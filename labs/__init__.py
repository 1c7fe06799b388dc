# SPDX-License-Identifier: BSD-3-Clause
"""Labs: exercises for a course. Each folder is one: a handout, a network, and `lab.py`, which holds `LAB`.

A lab has no answers in it. It says what is run, and of each question how its answer follows from these runs: a number
is worked out of them, a sentence is one that holds of them or not, a frame is one of which something is true. As runs
are made under a seed of the student's own, what is right for one is not for the next. docs/plugins.md says how to
write one; instructor.md is for who teaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.load import Recorded
from analysis.traces.trace import Array
from topologies.files import load

FILE, HANDOUT, SHEET = "lab.py", "README.md", "answers.toml"
Options = Mapping[str, object]
Runs = Mapping[str, Recorded]  # of one student, by the names that the lab gives them


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all questions have: the `name` of the answer in the sheet, what is asked, and where to look if it is not
    right yet, without saying what is."""

    name: str
    asks: str
    look: str
    points: int = 1


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A number, in `unit`, that is right if it is `within` a fraction of what `of` computes from the runs. `slips` are
    usual mistakes: what to say to each, and the number that it leads to."""

    unit: str
    within: float
    of: Callable[[Runs], float]
    slips: Mapping[str, Callable[[Runs], float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """Sentences, of which one or several hold for the runs: it is right to choose all of these, and no other. Each
    student gets them in another order."""

    options: Mapping[str, Callable[[Runs], bool]]


@dataclass(frozen=True, kw_only=True)
class Frame(Question):
    """The number of a frame in `air.pcapng.gz` of a run, as Wireshark counts them. It is right if `which` is true for
    it: a column with a row for each frame."""

    run: str
    which: Callable[[Recorded], Array]


@dataclass(frozen=True, kw_only=True)
class Essay(Question):
    """Words that the teacher judges; they give no points."""

    points: int = 0


@dataclass(frozen=True, kw_only=True)
class Program(Question):
    """A program of the student's: `file`, beside the sheet."""

    file: str


@dataclass(frozen=True, kw_only=True)
class Tap(Program):
    """A Python program that gets the folder of a run and prints what it found there. `says` are the words, or numbers,
    that its output must have."""

    run: str
    says: Callable[[Recorded], Sequence[str]]


@dataclass(frozen=True)
class Test:
    """What is asked of a module: in a sentence, and as what has to hold of the runs with it and those without."""

    says: str
    holds: Callable[[Runs, Runs], bool]
    look: str


@dataclass(frozen=True, kw_only=True)
class Congestion(Program):
    """A congestion control, as one C file that builds a module of its name. It is put into each of `runs`, and `tests`
    compare these with the same runs under their own TCP; each gives a point."""

    runs: Sequence[str]
    tests: Sequence[Test]


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A lab. `topology` is a name, or a file beside it. Each of `runs` has the `options` of all, then what is `drawn`
    for the student, of these values of each option, then its own. `files` are what a student begins with, besides
    handout, figures and topology; `minutes` is what it takes a student."""

    title: str
    teaches: str
    minutes: int
    topology: str
    runs: Mapping[str, Options]
    questions: Sequence[Question]
    options: Options = field(default_factory=dict)
    drawn: Mapping[str, Sequence[object]] = field(default_factory=dict)
    files: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """A lab in its folder. Its name is the folder's, with hyphens."""

    lab: Lab
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name.replace("_", "-")

    @property
    def topology(self) -> str:
        """As it is named from anywhere."""
        return str(self.folder / self.lab.topology) if self.lab.topology.endswith(".py") else self.lab.topology

    @property
    def files(self) -> list[Path]:
        """What a student is given, but for the handout."""
        own = [self.lab.topology] if self.lab.topology.endswith(".py") else []
        return [*sorted(self.folder.glob("*.svg")), *(self.folder / name for name in (*own, *self.lab.files))]


def names() -> list[str]:
    """The labs there are."""
    return sorted(file.parent.name.replace("_", "-") for file in Path(__file__).parent.glob(f"*/{FILE}"))


def find(name: str) -> Found:
    """The lab of this name, or in this folder (one of the user's own). Raises ValueError if there is none."""
    folder = Path(name).resolve() if is_path(name) else Path(__file__).parent / name.replace("-", "_")
    if not is_path(name) and name not in names():
        raise ValueError(f"there is no lab {name!r}; there are: {', '.join(names())}")
    if not (folder / FILE).is_file():
        raise ValueError(f"{name} is not a lab: there is no {FILE} in it")
    words = {"LAB": (lambda found: isinstance(found, Lab), "is not a Lab")}
    return Found(load(str(folder / FILE), "lab", words).LAB, folder)


def is_path(name: str) -> bool:
    """Whether it is the folder of a lab of the user's own, and not the name of one of ours."""
    return "/" in name or name in (".", "..")
