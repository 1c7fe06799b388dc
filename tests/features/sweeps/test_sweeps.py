# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: known runs are not repeated, a failed one does not stop others, and no result is lost."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from made_up import Elsewhere, task

from emulation.features.sweeps.sweep import LocalProcesses, Sweep
from emulation.lanes import Lane, LaneError, LaneResult, Reason
from emulation.play.lab import Lab
from emulation.play.session import provide
from emulation.play.store import Store


@pytest.mark.quick
def test_what_is_known_is_not_run_again(lab: Lab, tmp_path: Path) -> None:
    """Nor are equal runs; each has its own name in the end."""
    tasks = [task(1, "a"), task(2, "a"), task(1, "b"), task(1, "c", rts="full")]
    sweep, place = Sweep(lab, tasks, Store(tmp_path / "store")), Elsewhere()
    assert len(sweep.missing) == 3
    sweep.play(place)
    assert place.played == [1, 2, 1]
    assert [(run.variant, run.seed) for _, run in sweep.runs] == [("a", 1), ("a", 2), ("b", 1), ("c", 1)]
    again = Sweep(lab, [*tasks, task(3)], Store(tmp_path / "store"))
    assert [one.seed for one in again.missing] == [3]
    assert [run for _, run in again.runs] == [run for _, run in sweep.runs]
    assert {run.trace for _, run in sweep.runs} == {None}, "no file is named that is not left"
    other = replace(lab, kernel=tmp_path / "tcp_tap.ko")
    assert len(Sweep(other, tasks, Store(tmp_path / "store")).missing) == 3, "made of another kernel"


def test_what_another_sweep_has_run_meanwhile_is_not_run_again(lab: Lab, tmp_path: Path) -> None:
    one, other = (Sweep(lab, [task(1, name)], Store(tmp_path / "store")) for name in "ab")
    one.play(Elsewhere())
    assert len(other.missing) == 1
    other.look_up()
    assert not other.missing and [run.variant for _, run in other.runs] == ["b"]


def test_what_fails_is_shown_and_tried_again(lab: Lab, tmp_path: Path) -> None:
    sweep = Sweep(lab, [task(seed) for seed in (1, 2, 3)], Store(tmp_path / "store"))
    sweep.play(Elsewhere(bad=[2]))
    assert sweep.failed == {"2": "it rained"}
    assert [run.seed for _, run in sweep.runs] == [1, 3]
    place = Elsewhere()
    sweep.play(place)
    assert (place.played, sweep.failed, sweep.missing) == ([2], {}, [])


def test_nothing_is_lost_when_it_is_stopped(lab: Lab, tmp_path: Path) -> None:
    sweep = Sweep(lab, [task(seed) for seed in range(1, 6)], Store(tmp_path / "store"))
    with pytest.raises(KeyboardInterrupt):
        sweep.play(Elsewhere(ends_after=3))
    assert [one.seed for one in Sweep(lab, sweep.tasks, Store(tmp_path / "store")).missing] == [4, 5]


def test_what_it_may_take_is_known_from_its_like(lab: Lab, tmp_path: Path) -> None:
    """The estimate says for how many runs it is a guess."""
    store = Store(tmp_path / "store")
    sweep = Sweep(lab, [task(seed, seconds=10) for seed in range(1, 9)], store)
    assert sweep.estimate(2)[1] == 8
    sweep.play(Elsewhere(), most=2)
    assert len(sweep.missing) == 6
    assert sweep.estimate(2) == (pytest.approx(6.0), 0)  # 6 runs of 2 s, two at a time
    assert sweep.estimate(100) == (pytest.approx(2.0), 0)
    larger = Sweep(lab, [*sweep.tasks, task(1, seconds=10, stations=6)], store)
    alike, grown = sweep.estimate(1)[0], larger.estimate(1)
    assert grown == (pytest.approx(alike + 2.0 * 6 / 3), 1), "as much more as there are nodes"


@dataclass(frozen=True)
class Moody:
    """The virtual lane, but while it rains a run of seed 2 fails, and the process of one of seed 3 is killed."""

    inner: Lane
    rains: bool = True
    name: str = "virtual"

    def run(self, *arguments: Any, seed: int = 1, **more: Any) -> LaneResult:
        if self.rains and seed == 2:
            raise LaneError(Reason.CRASHED, "it rained", ["its last words"])
        if self.rains and seed == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.inner.run(*arguments, seed=seed, **more)


@pytest.mark.lane
def test_what_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    """Whether a lane or its process fails. The results are in the store, and equal those of single runs."""
    well = provide()
    store, tasks = Store(tmp_path / "store"), [task(seed) for seed in (1, 2, 3, 4)]
    sweep = Sweep(replace(well, lane=Moody(well.lane)), tasks, store)
    sweep.play(LocalProcesses())
    assert sweep.failed.keys() == {"2", "3"}
    assert "it rained" in sweep.failed["2"] and "its last words" in sweep.failed["2"]
    assert "was killed by SIGKILL" in sweep.failed["3"]
    assert [one.seed for one in sweep.missing] == []
    again = Sweep(replace(well, lane=Moody(well.lane, rains=False)), tasks, Store(tmp_path / "store"))
    assert [one.seed for one in again.missing] == [2, 3]
    again.play(LocalProcesses(1))
    assert len(again.runs) == 4 and not again.failed
    assert all(run.goodput_segments for _, run in again.runs)
