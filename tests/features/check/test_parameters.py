# SPDX-License-Identifier: BSD-3-Clause
"""Values that a module's parameters are given."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from emulation.features.check.inside import parameters
from emulation.features.check.inside.parameters import SEVERAL, Parameters


class Refusing:
    """A module that takes a value of each parameter only if its function approves."""

    def __init__(self, **approves: Any) -> None:
        self.approves = approves

    def parameters(self) -> list[str]:
        return list(self.approves)

    def get(self, name: str) -> str | None:
        return None

    def values(self, name: str) -> list[str]:
        return ["0", "1", "fast"]

    def set(self, name: str, value: str) -> None:
        if not self.approves[name](value):
            raise OSError


def test_numbers_come_together_where_one_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters.tested_module, "check_usual_windows", lambda usual: None)

    def attempt(what: str, call: Any) -> bool:
        try:
            call()
        except OSError:
            return False
        return True

    module: Any = Refusing(one=str.isdecimal, two=lambda value: len(value.split()) == 2, none=lambda value: False)
    playground: Any = SimpleNamespace(
        random=Random(1), crowd=SimpleNamespace(begin=lambda: None), acknowledged=iter(range(0, 10**9, 10**6)).__next__,
    )  # fmt: skip
    job: Any = SimpleNamespace(attempt=attempt, say=lambda text: None, results={})
    Parameters(module, playground, job).parameters()
    taken = {name: sorted(values) for name, values in job.results["parameters"].items()}
    assert taken == {"one": ["0", "1"], "two": sorted(v for v in SEVERAL if len(v.split()) == 2), "none": []}
