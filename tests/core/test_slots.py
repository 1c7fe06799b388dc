# SPDX-License-Identifier: BSD-3-Clause
"""Equal slots collide and unequal ones do not, wherever the stations stand; and a station's number decides nothing.

Delays are those of the air, rounded to nanoseconds for each pair. So of two paths over the same ground one may be a
nanosecond longer; a station's slot must not depend on that.
"""

from itertools import permutations

import pytest
from dcf import US, Core, dsss, mutual, tcp

from emulation.specification.propagation import delay_ns, distances

GROUP = b"\xff" * 6
NEAR = 1000
DIFS, SLOT = 50 * US, 20 * US
SPACINGS = range(10, 276)  # metres


def on_a_line(*metres: float) -> list[list[int]]:
    return delay_ns(distances([(x, 0.0, 0.0) for x in metres])).tolist()


def contend(delays: list[list[int]], order: tuple[int, ...], seed: int, during: bool) -> tuple[int, int]:
    """The first of `order` sends; the others have a frame by its end, or within DIFS after it. Return when they send,
    ns."""
    x, a, b = order
    air = Core(mutual(3, {}, NEAR), delays, seed=seed, phy=dsss(cw_min=7))
    air.send(x, GROUP, tcp(0), at=1000 * US)
    at = 1100 * US if during else 1000 * US + 496 * US + 20 * US
    air.send(a, GROUP, tcp(0), at=at)
    air.send(b, GROUP, tcp(0), at=at)
    air.run(10_000 * US)
    start = {t.station: t.start for t in air.tx}
    assert len(start) == 3
    return start[a], start[b]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_who_waits_for_difs_only_sends_in_the_same_slot(order: tuple[int, ...]) -> None:
    """Two frames that come while the medium is not yet idle for DIFS: both stations send at its end, and collide."""
    for spacing in SPACINGS:
        delays = on_a_line(0, spacing, 2 * spacing)
        x, a, b = order
        end = (1000 + 496) * US
        expected = (end + delays[x][a] + DIFS, end + delays[x][b] + DIFS)
        assert contend(delays, order, seed=1, during=False) == expected, spacing


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2)])
def test_slots_do_not_depend_on_the_spacing(order: tuple[int, ...]) -> None:
    """Drawn backoffs: at each spacing the same seeds collide, those with equal draws, and the others wait."""
    seeds = range(24)
    x, a, b = order
    alone = [contend([[0] * 3] * 3, order, seed, during=True) for seed in seeds]
    assert {first == second for first, second in alone} == {True, False}
    for spacing in SPACINGS:
        delays = on_a_line(0, spacing, 2 * spacing)
        for seed, (first, second) in zip(seeds, alone, strict=True):
            at, bt = contend(delays, order, seed, during=True)
            late_a, late_b = delays[x][a], delays[x][b]
            k = min(first, second)
            # the first sends as without delays; a station with the same slot sends too, by its own clock
            assert (first > k or at == first + late_a) and (second > k or bt == second + late_b), (spacing, seed)
            if first == second:
                assert abs(at - bt) == abs(late_a - late_b)
            else:  # the later one continues after the first, with the slots that it had left
                winner, loser, us = (a, bt, second) if first < second else (b, at, first)
                left = (us - (k + 496 * US + DIFS)) // SLOT
                over = k + 496 * US + (late_a if winner == a else late_b) + delays[a][b]
                assert loser == over + DIFS + left * SLOT, (spacing, seed)


@pytest.mark.parametrize(("age", "goes_on"), [(1, True), (4_999, True), (5_000, True), (5_001, False), (15_000, False)])
def test_a_signal_younger_than_sensing_takes_does_not_stop_an_access(age: int, goes_on: bool) -> None:
    """aSlotTime includes sensing and turnaround: a signal that arrives within this time before a station's access is
    too late."""
    power = [[0, NEAR, 0], [0, 0, 0], [0, NEAR, 0]]
    air = Core(power)
    air.send(0, GROUP, tcp(0), at=1000 * US)  # reference for 1, ends at 1496
    due = (1496 + 50) * US
    air.send(1, GROUP, tcp(0), at=1500 * US)
    air.send(2, GROUP, tcp(0), at=due - age)  # hears nobody, has been idle for long: at once
    air.run(1496 * US + 5000 * US)
    assert air.tx[1].station == 2 and air.tx[1].start == due - age
    assert (air.tx[2].start == due) is goes_on
