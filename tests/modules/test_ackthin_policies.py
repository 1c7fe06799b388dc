# SPDX-License-Identifier: BSD-3-Clause
"""ackthin's policies, in user space: what leaves, when and why, against lists worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from thinning import BESIDES, LATE, MS, US, Item, Queue, config, packet

ACKS = [1000 * n for n in range(40)]


def play(items: Sequence[Item], until: int = 0, **options: int | str) -> list[tuple[int, int, str]]:
    """Return what leaves, as (µs, number of the segment, why)."""
    return [(at // US, number, why) for at, number, why in Queue(config(**options)).play(items, until).left]


def every(interval: int, acks: Iterable[int], start: int = 0) -> list[Item]:
    return [Item(start + interval * i, ack) for i, ack in enumerate(acks, 1)]


def test_plain_passes_everything() -> None:
    assert play(every(MS, ACKS), policy="plain") == [(1000 * (n + 1), n, "group" if n else "first") for n in range(40)]


def test_delayed_passes_one_of_count() -> None:
    assert [number for _, number, _ in play(every(MS, ACKS[:9]), policy="delayed", count=3)] == [0, 3, 6]


def test_delayed_waits_from_the_first_held() -> None:
    left = play(every(60 * MS, ACKS[:3]), until=1 << 62, policy="delayed", count=3)
    assert left == [(60_000, 0, "first"), (220_000, 2, "timer")]


@pytest.mark.parametrize(("granularity", "at"), [(0, 220_000), (50_000, 250_000), (220_000, 220_000), (7, 220_003)])
def test_the_heartbeat_puts_a_timer_off_to_its_next_beat(granularity: int, at: int) -> None:
    left = play(every(60 * MS, ACKS[:2]), until=1 << 62, policy="delayed", granularity_us=granularity)
    assert left[-1] == (at, 1, "timer")


@pytest.mark.parametrize("granularity", [0, 7, 400_000, 499_999, 500_000, 2_000_000])
def test_no_heartbeat_makes_daa_hold_an_ack_longer_than_tcp_allows(granularity: int) -> None:
    """RFC 1122, 4.2.3.2: 500 ms from the first held ACK, at 2 s."""
    options = {"policy": "daa", "mu": 1000, "timeout_us": 500_000, "granularity_us": granularity}
    assert play(every(400 * MS, ACKS[:6]), until=1 << 62, **options)[-1] == (2_500_000, 5, "timer")


def test_skip_begins_at_start() -> None:
    left = play(every(MS, ACKS[:14]), policy="skip", skip=2, start=5)
    assert [number for _, number, _ in left] == [0, 1, 2, 3, 6, 9, 12]


def test_skip_without_a_timer_waits_for_ever() -> None:
    queue = Queue(config(policy="skip", start=1, timeout_us=0)).play(every(MS, ACKS[:2]), until=1 << 62)
    assert queue.held == 1


def test_dynamic_follows_what_the_air_says() -> None:
    queue = Queue(config(policy="dynamic"))
    for number, item in enumerate(every(MS, ACKS[:10])):
        queue.config.skip = 0 if number < 4 else 2
        queue.put(number, item.at, item.bytes())
    assert [number for _, number, _ in queue.left] == [0, 1, 2, 3, 6, 9]


def test_daa_starts_slowly_then_grows_by_one() -> None:
    """dwin 1.0, 1.3, 1.6, 1.9: each ACK leaves; from 2.2 on each second one, from 3.1 on each third; the maximum is
    4."""
    queue = Queue(config(policy="daa"))
    for number, item in enumerate(every(MS, ACKS)):
        queue.put(number, item.at, item.bytes())
    numbers = [number for _, number, _ in queue.left]
    groups = [b - a for a, b in pairwise(numbers)]
    assert groups == [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4]
    assert queue.flow.risen


def test_daa_falls_back_after_a_loss_and_grows_by_one() -> None:
    """A duplicate shows the loss; the ACK that fills the hole goes at once; then 2, 3, 4."""
    items = every(MS, [*ACKS, 40_000])
    top = items[-1]
    items += [Item(top.at + MS, top.ack), Item(top.at + 2 * MS, top.ack + 2000)]
    items += every(MS, [top.ack + 2000 + 1000 * n for n in range(1, 14)], items[-1].at)
    left = Queue(config(policy="daa")).play(items).left
    assert [(number - 41, why) for _, number, why in left if number >= 40] == [
        (-1, "flushed"), (0, "duplicate"), (1, "recovery"), (3, "group"), (6, "group"), (10, "group"), (14, "group"),
    ]  # fmt: skip


def test_a_loss_while_daa_starts_does_not_speed_it_up() -> None:
    items = [*every(MS, ACKS[:3]), Item(4 * MS, 2000)]
    assert Queue(config(policy="daa")).play(items).flow.dwin == 1600


def test_daa_waits_for_two_intervals_and_kappa() -> None:
    """Equations 5.1 and 5.2 in exact numbers; a sample counts up to the timeout in force."""
    times = [0, 10, 22, 30, 41, 50, 61, 130, 139, 160]  # ms
    queue, mean = Queue(config(policy="daa", dwin_max=4)), Fraction(0)
    for number, (at, ack) in enumerate(zip(times, ACKS, strict=False)):
        queue.put(number, at * MS + MS, packet(ack=ack))
        if number:
            sample = Fraction(min(at - times[number - 1], mean * Fraction(22, 10) if mean else 100))
            mean = mean * Fraction(3, 4) + sample / 4 if mean else sample
        assert abs(queue.flow.mean - mean * MS) <= 10  # rounded to ns at each step
    assert queue.held == 9
    assert queue.flow.due == 161 * MS + queue.flow.mean * 2200 // 1000


def test_daa_waits_no_longer_than_tcp_may() -> None:
    """RFC 1122, 4.2.3.2: less than half a second, however slow the path is and however often the waiting restarts."""
    left = play(every(400 * MS, ACKS[:6]), until=1 << 62, policy="daa", mu=1000, timeout_us=500_000)
    assert left[-2:] == [(1_600_000, 3, "group"), (2_500_000, 5, "timer")]


def test_daa_does_not_measure_across_a_loss() -> None:
    items = [Item(10 * MS, 0), Item(20 * MS, 1000), Item(30 * MS, 2000), Item(40 * MS, 2000), Item(90 * MS, 4000),
             Item(190 * MS, 5000), Item(200 * MS, 6000)]  # fmt: skip
    assert Queue(config(policy="daa")).play(items).flow.mean == 10 * MS


def test_a_timer_that_fires_is_a_sign_of_loss_to_daa() -> None:
    items = every(MS, ACKS[:33])
    queue = Queue(config(policy="daa")).play(items)
    assert (queue.flow.dwin, queue.held) == (4000, 32)
    queue.wait(1 << 62)
    assert queue.flow.dwin == 2000


@pytest.mark.parametrize("case", BESIDES)
def test_what_is_held_goes_first(case: str) -> None:
    items, reasons = BESIDES[case]
    queue = Queue(config(policy="delayed", count=9)).play([Item(0, 1000), Item(MS, 2000), *items])
    said = [(LATE + i, 2 + i, why) for i, why in enumerate(reasons)]
    assert queue.left == [(0, 0, "first"), (LATE, 1, "flushed"), *said]
    assert queue.held is None


# --- Holes ---


@pytest.mark.parametrize("duplicates", [1, 3])
def test_each_part_of_a_hole_that_is_filled_is_told_at_once(duplicates: int) -> None:
    """Each duplicate stands for a segment of 1000 bytes beyond the hole, and the hole for one: this many bytes are in
    doubt."""
    items = [*every(MS, [0, 1000, 2000, 3000]), *[Item(10 * MS + n, 3000) for n in range(duplicates)]]
    items += every(MS, [4000 + 1000 * n for n in range(duplicates + 4)], 20 * MS)
    left = play(items, policy="delayed", count=2)
    reasons = [why for _, _, why in left]
    assert reasons == ["first", "group", "flushed", *["duplicate"] * duplicates, *["recovery"] * (duplicates + 1),
                       "group"]  # fmt: skip


def test_a_hole_long_ago_is_forgotten() -> None:
    """Half of all sequence numbers later, an old mark would look like a new one."""
    items = [*every(MS, [0, 1000, 1000]), *every(MS, [2**30 * n for n in range(1, 8)], 10 * MS)]
    assert [why for _, _, why in play(items, policy="plain")][4:] == ["group"] * 6
