# SPDX-License-Identifier: BSD-3-Clause
"""Print the right answers of a lab for these students, for teachers and authors of labs:

    ./dcflab python tests/features/labs/right.py LAB STUDENT…

It is among the tests because these are in no package, so students do not get it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import labs
from emulation.features.labs.judge import play, true_sentences
from emulation.features.labs.sheet import LETTERS, Student, in_order, student_named
from emulation.lane.errors import Failure
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide
from labs import Choice, Found, Frame, Number, Runs


def right_answers(found: Found, student: Student, runs: Runs) -> Mapping[str, str]:
    """Return the right answers for a student, except programs."""
    right: dict[str, str] = {}
    for question in found.lab.questions:
        match question:
            case Number():
                right[question.name] = f"{question.of(runs):.6g}"
            case Choice():
                there = zip(LETTERS, in_order(question, student), strict=False)
                right[question.name] = "".join(a for a, sentence in there if sentence in true_sentences(question, runs))
            case Frame():
                rows = question.which(runs[question.run]).nonzero()[0]
                right[question.name] = str(rows[0] + 1) if rows.size else ""
    return right


def main(name: str, *students: str) -> None:
    found, lab = labs.find(name), provide()
    for each in students:
        who = student_named(found, each)
        with scratch("right") as place:
            right = right_answers(found, who, play(lab, found, who, Path(place)))
        said = " ".join(f"{question}={answer}" for question, answer in right.items())
        print(f"{who.name} (seed {who.seed}{''.join(f', {n} {v}' for n, v in who.drawn.items())}): {said}", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Failure, ValueError, TypeError) as error:
        sys.exit(f"dcflab: {error}")
