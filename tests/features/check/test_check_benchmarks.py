# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of the check: what they plant, and how they count."""

from __future__ import annotations

import pytest

from emulation.features.check.benchmarks.faults import TWIN, races
from emulation.features.check.benchmarks.intree import lines_run, verdict
from emulation.features.check.benchmarks.mutants import HERE, MISTAKES, mutants, summary
from emulation.features.check.benchmarks.planted import FAULTS, NUMBER, RACE, Fault, planted
from emulation.features.check.benchmarks.unseen import FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD
from emulation.lane.errors import Failure


def test_there_are_mutants_of_each_kind() -> None:
    """More than a hundred, each with one changed line."""
    found = list(mutants())
    assert len(found) == len(set(found)) > 100
    assert {mutant.what for mutant in found} >= {what for what, _, _ in MISTAKES} - {"a lock is another"}
    for mutant in found:
        assert mutant.text != (HERE / mutant.file).read_text().splitlines()[mutant.line - 1]


def test_faults_are_edits_of_a_kernels_source() -> None:
    """As many races as wrong numbers, except in sets 3 and 7. A source of another version is refused."""
    for faults in (FAULTS, FIRST, SECOND, FOURTH, FIFTH, SIXTH):
        kinds = [fault.kind for fault in faults]
        assert kinds.count(RACE) == kinds.count(NUMBER) == len(faults) / 2
    all_faults = FAULTS + FIRST + SECOND + THIRD + FOURTH + FIFTH + SIXTH + SEVENTH
    assert len({(fault.file, fault.name) for fault in all_faults}) == len(all_faults)
    assert all(old and old != new for fault in all_faults for old, new in fault.edits)
    fault = Fault("a lock is gone", RACE, "sch_a", (("lock();\n", ""), ("a;\nun", "b;\nun")))
    assert planted(fault, "lock();\na;\nunset();\n") == "b;\nunset();\n"
    for other in ("a;\nunset();\n", "lock();\nlock();\na;\n"):
        with pytest.raises(Failure, match=r"sch_a.c .* does not fit 'a lock is gone': 'lock\(\);' is not there once"):
            planted(fault, other)


def test_races_go_through_the_stage_smp_with_their_modules_without_a_fault() -> None:
    chosen = races(FAULTS)
    assert [fault.kind for fault in chosen].count(RACE) == 10
    assert not [fault for fault in chosen if fault.kind == NUMBER]
    twins = [fault.file for fault in chosen if fault.kind == TWIN]
    assert sorted(twins) == sorted({fault.file for fault in FAULTS if fault.kind == RACE})


def test_what_is_found_in_the_kernels_modules_is_said_with_what_is_true_of_it() -> None:
    race, count = {"name": "data race", "true": True}, {"name": "wrong count", "true": False}
    coverage = {"sch_a.c": {"1": 0, "3": 7}, "sch_b.c": {"1": 1}}
    found = {"findings": [race, race, count], "notes": ["a note"], "coverage": coverage}
    assert (verdict(found), lines_run(found)) == ("data race (true), wrong count", "2 of 3")
    assert verdict({"findings": [], "notes": ["it needs options"]}) == "it needs options"
    assert (verdict({"findings": [], "notes": []}), lines_run({})) == ("clean", "-")


def test_mutants_are_counted_by_kind() -> None:
    """With what was found, where, and why the others were not; what is no mutant counts in the time only."""
    entries = [
        {"what": "a lock is gone", "found": "lock misuse", "stage": "workout", "cpu_s": 30.0},
        {"what": "off by one", "found": "wrong count", "stage": "workout", "cpu_s": 20.0},
        {"what": "off by one", "found": "", "ran": True, "differs": False, "notes": ["x"], "cpu_s": 60.0},
        {"what": "off by one", "no": "same code", "cpu_s": 10.0},
    ]
    assert summary(entries) == {
        "tried": 3, "found": 2, "cpu_minutes": 2.0,
        "kinds": {"off by one": {"tried": 2, "found": 1}, "a lock is gone": {"tried": 1, "found": 1}},
        "stages": {"workout": 2}, "names": {"lock misuse": 1, "wrong count": 1},
        "not_found": [{"ran": True, "differs": False, "count": 1}], "noted": 1, "no_mutants": {"same code": 1},
    }  # fmt: skip
