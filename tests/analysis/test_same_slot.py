# SPDX-License-Identifier: BSD-3-Clause
"""Collisions in one slot, in traces written by hand."""

import numpy as np
import pytest

from analysis.traces.same_slot import same_slot
from analysis.traces.trace import RX, TX, Kind, Outcome

SLOT = 20_000


def collided(apart_ns, kind=Kind.TCP_DATA, outcome=Outcome.COLLISION, addressed=1, other=1):
    """sta0 sends to sta2 at 1 s, and sta1 begins this much later; return the outcome of the first at sta2."""
    tx, rx = np.zeros(3, TX), np.zeros(1, RX)
    tx["id"], tx["station"], tx["kind"] = (1, 2, 3), (0, other, 1), (kind, Kind.TCP_DATA, Kind.TCP_DATA)
    tx["start_ns"] = 1_000_000_000 + np.array([0, apart_ns, 50_000_000])
    tx = np.sort(tx, order="start_ns")
    rx["station"], rx["id"], rx["outcome"], rx["addressed"], rx["other"] = 2, 1, outcome, addressed, 1
    return same_slot(tx, rx, np.flatnonzero(tx["id"] == 1), SLOT)


@pytest.mark.parametrize(("apart_ns", "found"), [(0, 1), (5_000, 1), (-19_999, 1), (20_000, 0), (-20_000, 0)])
def test_those_that_begin_within_a_slot_count(apart_ns, found):
    assert collided(apart_ns) == found


def test_a_receiver_that_sends_itself_counts():
    assert collided(0, outcome=Outcome.OWN_TX, other=2) == 1
    assert collided(1_000_000, outcome=Outcome.OWN_TX, other=2) == 0


def test_what_is_no_collision_of_a_told_kind_does_not_count():
    assert collided(0, kind=Kind.MANAGEMENT) == collided(0, outcome=Outcome.OK) == collided(0, addressed=0) == 0


def test_nothing_is_nothing():
    assert same_slot(np.zeros(0, TX), np.zeros(0, RX), np.zeros(0, np.int64), SLOT) == 0
