# SPDX-License-Identifier: BSD-3-Clause
"""Print the right answers, for teachers and authors of labs: `./dcflab python -m emulation.features.labs.right LAB
STUDENT…` runs the lab for each of these students."""

from __future__ import annotations

import sys
from pathlib import Path

import labs
from emulation.features.labs.judge import play, right_answers
from emulation.features.labs.sheet import student_named
from emulation.lane.errors import Failure
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide


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
