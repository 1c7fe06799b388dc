# SPDX-License-Identifier: BSD-3-Clause
"""The value of the fixture `played`: by a lab's name, the lab, a student, and that student's runs."""

from __future__ import annotations

from collections.abc import Callable

from emulation.features.labs.sheet import Student
from labs import Found, Runs

Played = Callable[[str], tuple[Found, Student, Runs]]
