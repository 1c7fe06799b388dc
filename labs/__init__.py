# SPDX-License-Identifier: BSD-3-Clause
"""Labs: exercises for a course. Each folder is one: a handout, a network, and `lab.py`, which holds `LAB`.

A lab contains no answers. It says which runs to make, and how the answer to each question follows from them: a number
is computed from the runs, a sentence is true of them or not, a frame satisfies a condition. Each student's runs have
their own seed, so the answers differ between students. docs/plugins.md says how to write a lab; instructor.md is for
teachers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import InstanceOf

from analysis.load import Recorded
from analysis.traces.trace import Array
from topologies.errors import check_fields
from topologies.files import is_a, load

FILE, HANDOUT, SHEET = "lab.py", "README.md", "answers.toml"
Options = Mapping[str, object]
Runs = Mapping[str, Recorded]  # of one student, by the names that the lab gives them


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all questions have: the `name` of the answer in the sheet, the question, and where to look if the answer is
    not right yet. That hint does not give the answer away."""

    name: str
    asks: str
    look: str
    points: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError, as pydantic does, for fields of a wrong type."""
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A number in `unit`. It is right if it differs by at most the fraction `within` from what `of` computes from the
    runs. `slips` are common mistakes: the hint for each, and the number that it leads to."""

    unit: str
    within: float
    of: Callable[[Runs], float]
    slips: Mapping[str, Callable[[Runs], float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """Sentences, of which one or several are true of the runs. The right answer is all of these and no other. Each
    student gets the sentences in a different order."""

    options: Mapping[str, Callable[[Runs], bool]]


@dataclass(frozen=True, kw_only=True)
class Frame(Question):
    """The number of a frame in `air.pcapng.gz` of a run, as Wireshark counts them. It is right if its row of the
    column that `which` returns is true."""

    run: str
    which: Callable[[Recorded], Array]


@dataclass(frozen=True, kw_only=True)
class Essay(Question):
    """A text that the teacher marks; it gives no points."""

    look: str = ""
    points: int = 0


@dataclass(frozen=True, kw_only=True)
class Program(Question):
    """A program that the student writes: `file`, beside the sheet."""

    file: str


@dataclass(frozen=True, kw_only=True)
class Tap(Program):
    """A Python program that gets the folder of a run and prints what it found there. `says` returns the words or
    numbers that its output must contain."""

    run: str
    says: Callable[[Recorded], Sequence[str]]


@dataclass(frozen=True)
class Test:
    """A requirement of a module: as a sentence, and as a condition on the runs with it and those without it."""

    says: str
    holds: Callable[[Runs, Runs], bool]
    look: str

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class Congestion(Program):
    """A congestion control: one C file that builds a module of its name. Each of `runs` is repeated with it, and
    `tests` compare the two; each test gives a point."""

    runs: Sequence[str]
    tests: Sequence[Test]


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A lab. `topology` is a name, or a file beside it. Each of `runs` has the common `options`, then the values
    `drawn` for the student from those of each option, then its own. `files` are what a student begins with, in addition
    to handout, figures and topology; `minutes` is how long a student needs."""

    title: str
    teaches: str
    minutes: int
    topology: str
    runs: Mapping[str, Options]
    questions: Sequence[Question]
    options: Options = field(default_factory=dict)
    drawn: Mapping[str, InstanceOf[Sequence[object]]] = field(default_factory=dict)
    files: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raises ValueError, as pydantic does for fields of a wrong type."""
        check_fields(self)
        if empty := next((option for option, values in self.drawn.items() if not values), None):
            raise ValueError(f"drawn: {empty} has no values")
        for question in self.questions:
            runs = question.runs if isinstance(question, Congestion) else [getattr(question, "run", None)]
            if strange := next((run for run in runs if run is not None and run not in self.runs), None):
                raise ValueError(f"question {question.name}: there is no run {strange!r}")


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
        """Return its name, or its path, for use from any folder."""
        return str(self.folder / self.lab.topology) if self.lab.topology.endswith(".py") else self.lab.topology

    @property
    def files(self) -> list[Path]:
        """Return the files that a student gets, without the handout."""
        own = [self.lab.topology] if self.lab.topology.endswith(".py") else []
        return [*sorted(self.folder.glob("*.svg")), *(self.folder / name for name in (*own, *self.lab.files))]


def names() -> list[str]:
    """Return the names of all labs."""
    return sorted(file.parent.name.replace("_", "-") for file in Path(__file__).parent.glob(f"*/{FILE}"))


def find(name: str) -> Found:
    """Return the lab with this name, or in this folder of the user's. Raises ValueError if there is none."""
    folder = Path(name).resolve() if is_path(name) else Path(__file__).parent / name.replace("-", "_")
    if not is_path(name) and name not in names():
        raise ValueError(f"there is no lab {name!r}; there are: {', '.join(names())}")
    if not (folder / FILE).is_file():
        raise ValueError(f"{name} is not a lab: there is no {FILE} in it")
    return Found(load(str(folder / FILE), "lab", {"LAB": is_a(Lab)}).LAB, folder)


def is_path(name: str) -> bool:
    """Return whether this is the folder of a user's lab, not the name of one of ours."""
    return "/" in name or name in (".", "..")
