# SPDX-License-Identifier: BSD-3-Clause
"""Judge a sheet: play the student's runs, compute the right answers from them, and compare.

Right answers are never shown. A hint to a wrong answer says where to look, or names the mistake if it is a usual one.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from analysis.load import Recorded
from emulation.features.labs import programs
from emulation.features.labs.sheet import LETTERS, Sheet, Student, in_order, read_plain_file
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import LaneError
from emulation.lanes.virtual.scratch import scratch
from emulation.play.lab import Lab
from emulation.play.player import play_all
from emulation.play.run import Task, name_of
from emulation.play.session import failures
from emulation.specification import explain, specify
from labs import FILE, Choice, Congestion, Essay, Found, Frame, Number, Question, Runs, Tap
from topologies.files import own_mistakes, place_of

# Also as tables print it, with commas between thousands.
NUMBER = re.compile(r"[+-]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.IGNORECASE | re.ASCII)
FEWEST_WORDS = 10
MOST_WORDS = 60  # printed by a tap


class State(StrEnum):
    """The state of an answer."""

    RIGHT = "right"
    PARTLY = "in part"
    NOT_YET = "not yet"
    NO_ANSWER = "no answer"
    TEACHER = "for your teacher"


class Answer(BaseModel, extra="forbid", frozen=True):
    """A judged answer; `hint` may be empty."""

    question: str
    state: State
    points: int = 0
    of: int = 0
    hint: str = ""


class Marked(BaseModel, extra="forbid", frozen=True):
    """A judged sheet."""

    lab: str
    student: str
    seed: int
    answers: list[Answer]
    words: dict[str, str] = {}  # what the student wrote for the teacher

    @property
    def points(self) -> int:
        return sum(answer.points for answer in self.answers)

    @property
    def of(self) -> int:
        return sum(answer.of for answer in self.answers)


def tasks_of(found: Found, student: Student, names: Iterable[str] | None = None, **more: object) -> list[Task]:
    """Return the lab's runs, or only those of these `names`, with this student's numbers and `more` options. Raises
    Failure, which names the lab's file, if they cannot be played."""
    tasks = []
    for name in found.lab.runs if names is None else names:
        options = {**found.lab.options, **student.drawn, **found.lab.runs[name], "seed": student.seed, **more}
        try:
            tasks.append(Task(specify(found.topology, options), name))
            tasks[-1].plan  # noqa: B018  # it is made now
        except ValueError as error:
            where = place_of(str(found.folder / FILE), "LAB")
            raise Failure(f"{where}: the lab {found.name}, run {name}: {explain(error)[0]}") from None
    return tasks


def play(lab: Lab, found: Found, student: Student, place: Path, jobs: int | None = None) -> Runs:
    """Play the lab's runs with this student's numbers. Raises Failure or Misuse."""
    tasks = tasks_of(found, student)
    with failures():
        return _played(lab, tasks, place, jobs)


def _played(lab: Lab, tasks: Sequence[Task], place: Path, jobs: int | None) -> Runs:
    """Play these runs in this folder. Raises LaneError."""
    outcomes = zip(tasks, play_all(lab, tasks, place, jobs=jobs), strict=True)
    return {task.variant: Recorded(outcome.run, place / name_of(outcome.run)) for task, outcome in outcomes}


def judge(lab: Lab, found: Found, sheet: Sheet, jobs: int | None = None) -> Marked:
    """Judge all answers of a sheet. Raises Failure."""
    with scratch("judge") as place:
        runs = play(lab, found, sheet.student, Path(place, "runs"), jobs)
        return compare(lab, found, sheet, runs, Path(place), jobs)


def compare(lab: Lab, found: Found, sheet: Sheet, runs: Runs, place: Path, jobs: int | None = None) -> Marked:
    """Judge all answers against the student's runs. Programs run in folders of `place`. Raises Failure."""
    with own_mistakes(found.folder, Failure, ()):
        answers = [_judged(lab, found, sheet, runs, place, jobs, question) for question in found.lab.questions]
    essays = [question.name for question in found.lab.questions if isinstance(question, Essay)]
    words = {name: str(sheet.answers[name]).strip() for name in essays if name in sheet.answers}
    who = sheet.student
    return Marked(lab=found.name, student=who.name, seed=who.seed, answers=answers, words=words)


def _judged(
    lab: Lab, found: Found, sheet: Sheet, runs: Runs, place: Path, jobs: int | None, question: Question
) -> Answer:
    given = sheet.answers.get(question.name)
    given = given.strip() if isinstance(given, str) else given
    no_answer = Answer(question=question.name, state=State.NO_ANSWER, of=question.points)
    if isinstance(question, Tap | Congestion):
        if not (sheet.folder / question.file).exists():
            hint = f"there is no {question.file} beside it"
            return no_answer.model_copy(update={"of": most_points(question), "hint": hint})
        points, hint = _program(lab, found, sheet, runs, place / question.name, jobs, question)
        full = most_points(question)
        state = State.RIGHT if points == full else State.PARTLY if points else State.NOT_YET
        return Answer(question=question.name, state=state, points=points, of=full, hint=hint)
    if given in (None, "", []):
        return no_answer
    if isinstance(question, Essay):
        few = len(str(given).split()) < FEWEST_WORDS
        hint = f"write at least {FEWEST_WORDS} words" if few else ""
        return Answer(question=question.name, state=State.NO_ANSWER if few else State.TEACHER, hint=hint)
    try:
        hint = hint_for(question, given, sheet.student, runs)
    except Misuse as error:
        hint = str(error)
    right = not hint
    state, points = (State.RIGHT, question.points) if right else (State.NOT_YET, 0)
    return Answer(question=question.name, state=state, points=points, of=question.points, hint=hint)


def most_points(question: Question) -> int:
    return len(question.tests) if isinstance(question, Congestion) else question.points


def hint_for(question: Question, given: Any, student: Student, runs: Runs) -> str:
    """Return the hint for a wrong answer; empty if it is right. Raises Misuse if it has the wrong form."""
    match question:
        case Number():
            return _number(question, given, runs)
        case Choice():
            chosen = letters(given, len(question.options))
            there = dict(zip(LETTERS, in_order(question, student), strict=False))
            return "" if {there[letter] for letter in chosen} == true_sentences(question, runs) else question.look
        case Frame():
            which = question.which(runs[question.run])
            at = frame_number(given)
            if at > which.size:
                raise Misuse(f"there is no frame {at}: the run has fewer; is it under the seed {student.seed}?")
            return "" if which[at - 1] else question.look
    raise AssertionError(question)


def _number(question: Number, given: Any, runs: Runs) -> str:
    value = number(given, question.unit)

    def off(right: float) -> float:
        """Return the error, relative to the allowed one."""
        return abs(value - right) / max(question.within * abs(right), 1e-12)

    if off(question.of(runs)) <= 1 + 1e-9:
        return ""
    slips = {said: off(slip(runs)) for said, slip in question.slips.items()}
    said = min(slips, key=lambda said: slips[said], default=question.look)
    return said if slips.get(said, 2) <= 1 else question.look


def true_sentences(question: Choice, runs: Runs) -> set[str]:
    return {sentence for sentence, holds in question.options.items() if holds(runs)}


def number(given: Any, unit: str) -> float:
    """Parse an answer as a number. Raises Misuse."""
    text = str(given)
    if isinstance(given, bool | list | dict) or not NUMBER.fullmatch(text) or len(text) > 30:
        point = " with a point, and commas between thousands only" if "," in text else ""
        raise Misuse(f"the answer is a number{point}, like 1234.5{f', in {unit}, without the unit' if unit else ''}")
    return float(text.replace(",", ""))


def letters(given: Any, count: int) -> set[str]:
    """Parse an answer as letters of a choice. Raises Misuse."""
    text = "".join(map(str, given)) if isinstance(given, list) else str(given)
    chosen = set(re.sub(r"[\s,;+&]", "", text.lower()))
    if not chosen or len(text) > 60 or not chosen <= set(LETTERS[:count]):
        raise Misuse(f"the answer is one or more letters from a to {LETTERS[count - 1]}")
    return chosen


def frame_number(given: Any) -> int:
    """Parse an answer as the number of a frame. Raises Misuse."""
    text = str(given)
    if isinstance(given, bool) or not re.fullmatch(r"[0-9]{1,9}", text) or not int(text):
        raise Misuse("the answer is the number of a frame, as in Wireshark's first column or the timeline")
    return int(text)


def _program(
    lab: Lab, found: Found, sheet: Sheet, runs: Runs, place: Path, jobs: int | None, question: Tap | Congestion
) -> tuple[int, str]:
    """Return the points of a program, and a hint about the rest."""
    try:
        program = read_plain_file(sheet.folder / question.file)
        if isinstance(question, Congestion):
            return _congestion(lab, found, sheet.student, runs, place, jobs, question, program)
        said = programs.tap(programs.time_limited(lab), question.file, program, runs[question.run], place)
    except Misuse as error:
        return 0, str(error)
    words = re.findall(r"[\w.]+", said)
    missing = [word for word in question.says(runs[question.run]) if word not in words]
    if not 0 < len(words) <= MOST_WORDS:
        many = f"{len(words)} words; what was asked for is enough" if words else "nothing"
        return 0, f"{question.file} prints {many}"
    return (0, question.look) if missing else (question.points, "")


def _congestion(
    lab: Lab, found: Found, who: Student, runs: Runs, place: Path, jobs: int | None, question: Congestion,
    program: bytes,
) -> tuple[int, str]:  # fmt: skip
    """Build the module, play each run with it, and test them. Raises Misuse."""
    name = Path(question.file).stem
    module = programs.build(lab, name, program, place)
    theirs = programs.time_limited(Lab(lab.kernel, {**lab.modules, name: module}, lab.lane))
    tasks = tasks_of(found, who, question.runs, tcp=f"{name}:{name.removeprefix('tcp_')}")
    try:
        with_it = _played(theirs, tasks, place / "runs", jobs)
    except LaneError as error:
        raise Misuse(programs.student_message(error, question.file)) from None
    failed = [test for test in question.tests if not test.holds(with_it, runs)]
    hint = "\n".join(f"{test.says}: not yet: {test.look}" for test in failed)
    return len(question.tests) - len(failed), hint
