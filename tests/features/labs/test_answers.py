# SPDX-License-Identifier: BSD-3-Clause
"""Answers: right ones pass, wrong ones get a hint where to look, and no hint contains the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from played import Played
from right import right_answers

import labs
from emulation.features.labs.judge import Answer, State, compare, true_sentences
from emulation.features.labs.sheet import LETTERS, Sheet, Student, in_order, student_named
from emulation.play.lab import Lab
from labs import Choice, Essay, Found, Frame, Number, Program, Question, Runs

ALL = pytest.mark.parametrize("name", labs.names())
WORDS = "carrier sense listens at the sender and yet it is the receiver where frames meet"


def judged(lab: Lab, found: Found, who: Student, runs: Runs, answers: dict[str, Any], place: Path) -> list[Answer]:
    """Judge all answers except programs, of which there are none."""
    marked = compare(lab, found, Sheet(who, answers, place), runs, place)
    return [
        answer
        for question, answer in zip(found.lab.questions, marked.answers, strict=True)
        if not isinstance(question, Program)
    ]


@ALL
def test_what_is_right_passes(name: str, lab: Lab, played: Played, tmp_path: Path) -> None:
    found, who, runs = played(name)
    essays = {question.name: WORDS for question in found.lab.questions if isinstance(question, Essay)}
    answers = judged(lab, found, who, runs, {**right_answers(found, who, runs), **essays}, tmp_path)
    assert {answer.question: answer.state for answer in answers if answer.of} == {
        answer.question: State.RIGHT for answer in answers if answer.of
    }
    assert all(answer.state is State.TEACHER for answer in answers if not answer.of)


def wrong(question: Question, who: Student, runs: Runs) -> str:
    """Return a wrong answer."""
    match question:
        case Number():
            return f"{question.of(runs) * 1.37 + 1:.6g}"
        case Choice():
            there = zip(LETTERS, in_order(question, who), strict=False)
            return "".join(letter for letter, sentence in there if sentence not in true_sentences(question, runs))
        case Frame():
            return str(int((~question.which(runs[question.run])).nonzero()[0][-1]) + 1)
    return "too short"


@ALL
def test_what_is_wrong_hears_where_to_look_and_not_what_is_right(
    name: str, lab: Lab, played: Played, tmp_path: Path
) -> None:
    found, who, runs = played(name)
    asked = [question for question in found.lab.questions if not isinstance(question, Program)]
    given = {question.name: wrong(question, who, runs) for question in asked}
    for question, answer in zip(asked, judged(lab, found, who, runs, given, tmp_path), strict=True):
        assert answer.points == 0 and answer.state is not State.RIGHT and len(answer.hint) > 20
        right = right_answers(found, who, runs).get(question.name, "")
        if not isinstance(question, Choice | Essay):
            assert right not in answer.hint.replace(",", "")
        if isinstance(question, Choice):
            assert not any(sentence in answer.hint for sentence in question.options)


@ALL
def test_usual_slips_are_known_for_what_they_are(name: str, lab: Lab, played: Played, tmp_path: Path) -> None:
    found, who, runs = played(name)
    assert any(isinstance(question, Number) and question.slips for question in found.lab.questions)
    for question in found.lab.questions:
        if isinstance(question, Number):
            for said, slip in question.slips.items():
                answers = judged(lab, found, who, runs, {question.name: f"{slip(runs):.6g}"}, tmp_path)
                assert said in [answer.hint for answer in answers], question.name


@pytest.mark.parametrize("name", sorted({*labs.names()} - {"own-congestion-control"}))  # which offers no choice
def test_of_a_choice_something_holds_and_something_does_not(name: str, played: Played) -> None:
    found, _, runs = played(name)
    assert any(isinstance(question, Choice | Frame) for question in found.lab.questions)
    for question in found.lab.questions:
        if isinstance(question, Choice):
            assert 0 < len(true_sentences(question, runs)) < len(question.options) <= len(LETTERS), question.name
        if isinstance(question, Frame):
            which = question.which(runs[question.run])
            assert which.any() and which.mean() < 0.5, question.name


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        ("hidden_kbps", "1,32", "with a point, and commas between thousands only"),
        ("hidden_kbps", "13,27.5", "with a point, and commas between thousands only"),
        ("hidden_kbps", "about 300", "the answer is a number"),
        ("hidden_kbps", True, "the answer is a number"),
        ("hidden_kbps", float("nan"), "the answer is a number"),
        ("hidden_kbps", ["1"], "the answer is a number"),
        ("holds", "xyz", "from a to d"),
        ("holds", 3, "from a to d"),
        ("frame", 10**8, "there is no frame 100000000"),
        ("frame", "-1", "the answer is the number of a frame"),
        ("frame", "4.5", "the answer is the number of a frame"),
        ("why", "too short", "write at least"),
    ],
)
def test_what_is_no_answer_is_said(
    question: str, given: object, said: str, lab: Lab, played: Played, tmp_path: Path
) -> None:
    found, who, runs = played("hidden-terminal")
    answers = judged(lab, found, who, runs, {question: given}, tmp_path)
    assert [said in answer.hint for answer in answers if answer.question == question] == [True]


def test_a_number_may_be_written_as_tables_print_it(lab: Lab, played: Played, tmp_path: Path) -> None:
    found, who, runs = played("hidden-terminal")
    printed = f"{runs['hidden, RTS'].result.goodput_kbps:,.0f}"
    answers = judged(lab, found, who, runs, {"rts_kbps": printed}, tmp_path)
    assert "," in printed and [each.state for each in answers if each.question == "rts_kbps"] == [State.RIGHT]


def test_each_student_has_other_numbers_and_always_the_same() -> None:
    found = labs.find("hidden-terminal")
    ada, again, bob = (student_named(found, name) for name in ("ada", "  ADA ", "bob"))
    assert (ada.seed, ada.drawn) == (again.seed, again.drawn) and ada.seed != bob.seed
    choice = next(question for question in found.lab.questions if isinstance(question, Choice))
    orders = {tuple(in_order(choice, student_named(found, f"student {n}"))) for n in range(20)}
    assert len(orders) > 5 and in_order(choice, ada) == in_order(choice, again)
