# SPDX-License-Identifier: BSD-3-Clause
"""Each lab runs once, for one student; tests compare answers with these runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import labs
from emulation.features.labs.judge import play
from emulation.features.labs.sheet import Student, student_named
from emulation.play.lab import Lab
from labs import Found, Runs

sys.path.insert(0, str(Path(__file__).parent))  # for `played` and `right`


@pytest.fixture(scope="session")
def played(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Found, Student, Runs]]:
    @functools.cache
    def of(name: str) -> tuple[Found, Student, Runs]:
        found = labs.find(name)
        who = student_named(found, "ada")
        return found, who, play(lab, found, who, tmp_path_factory.mktemp(name))

    return of
