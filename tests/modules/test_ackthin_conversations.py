# SPDX-License-Identifier: BSD-3-Clause
"""ackthin's decisions in random conversations, in user space: rules that hold for every policy and any order of events.
What must never be thinned is derived again here, from earlier segments alone (`must_pass`)."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from thinning import MS, TIMESTAMPS, US, Item, Queue, config

from emulation.lane import ackthin

KINDS = ("advance", "advance", "advance", "advance", "duplicate", "window", "close", "old", "data", "probe", "sack",
         "ecn", "option", "fin", "syn", "rst", "unknown")  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(1, 30 * MS), st.integers(1, 4000)), min_size=12, max_size=60
)


def conversation(steps: list[tuple[str, int, int]]) -> list[Item]:
    """Return segments of one flow, made of kinds."""
    items, now, seq, ack, window = [], 0, 0, 0, 1000
    for kind, pause, size in steps:
        now += pause
        flags, options, payload, at, said = "A", b"", 0, seq, ack
        if kind in ("advance", "sack", "ecn", "option", "close"):
            ack += size
            said = ack
        if kind == "close":
            window = 0 if window else 1000
        if kind == "window":
            window = window % 60_000 + size
        options = {"sack": b"\1\1\5\x0a" + bytes(8), "option": b"\3\3\7", "advance": TIMESTAMPS}.get(kind, b"")
        flags = {"ecn": "EA", "fin": "FA", "syn": "S", "rst": "R"}.get(kind, "A")
        if kind == "old":
            said = max(ack - size, 0)
        if kind == "probe":
            at -= 1
        if kind == "data":
            payload = size % 100 + 1
        if kind == "unknown":  # a new connection with the same ports, of which we saw no beginning
            seq, ack = seq + 12_345, ack + 1_000_000_000
            at, said = seq, ack
        items.append(Item(now, said, flags, at, window, options, payload))
        seq += payload + (kind in ("fin", "syn"))
    return items


def must_pass(items: list[Item]) -> list[bool]:
    """Return what must never be thinned, from the segments before. Numbers are small here, so they can be compared."""
    answers: list[bool] = []
    known, seq, newest, window, doubt = False, 0, 0, 0, False
    for item in items:
        pure = item.flags == "A" and item.options in (b"", TIMESTAMPS) and not item.payload
        repeated = known and item.ack == newest
        first = not known or doubt  # of the flow, or since a duplicate
        special = item.seq != seq or item.ack <= newest or not item.window or not window
        answers.append(not pure or first or special)
        if "A" in item.flags:
            if item.ack > newest or not known:
                doubt = False
            doubt = doubt or (pure and repeated and item.seq == seq) or item.options[:3] == b"\1\1\5"
            if item.ack >= newest or not known:
                newest, window = item.ack, item.window
        if pure and not known:
            known, seq = True, item.seq
        seq = max(seq, item.seq + item.payload + ("F" in item.flags or "S" in item.flags))
        if "S" in item.flags or "R" in item.flags:
            known = doubt = False
    return answers


POLICIES = st.fixed_dictionaries({
    "policy": st.sampled_from(ackthin.POLICIES), "count": st.integers(1, 5), "skip": st.integers(0, 4),
    "start": st.integers(1, 12), "timeout_us": st.sampled_from([1, 1000, 40_000, 100_000]),
    "granularity_us": st.sampled_from([0, 1, 10_000, 33_333]), "dwin_max": st.integers(2, 6),
})  # fmt: skip


@given(STEPS, POLICIES)
def test_what_may_not_be_thinned_passes_at_once(
    steps: list[tuple[str, int, int]], options: dict[str, int | str]
) -> None:
    items = conversation(steps)
    left = {number: at for at, number, _ in Queue(config(**options)).play(items).left}
    for number, (item, never) in enumerate(zip(items, must_pass(items), strict=True)):
        if never:
            assert left.get(number) == item.at, (number, item)


@given(STEPS, POLICIES)
def test_order_is_kept_and_the_newest_acknowledgment_is_not_lost(
    steps: list[tuple[str, int, int]], options: dict[str, int | str]
) -> None:
    items = conversation(steps)
    queue = Queue(config(**options)).play(items)
    numbers = [number for _, number, _ in queue.left]
    assert numbers == sorted(set(numbers))
    held = [] if queue.held is None else [queue.held]
    assert sorted(numbers + queue.thinned + held) == list(range(len(items)))
    for number in queue.thinned:  # a later one says as much
        after = next(later for later in range(number + 1, len(items)) if later in numbers or later in held)
        assert items[after].ack > items[number].ack
    assert queue.flow.count == 0 or held


@given(STEPS, POLICIES)
def test_timers_are_exact(steps: list[tuple[str, int, int]], options: dict[str, int | str]) -> None:
    """A held ACK leaves at the next tick after its timeout: counted from the group's first ACK, and for DAA no later
    than the longest that TCP allows."""
    assume(options["policy"] != "dynamic")
    items = conversation(steps)
    queue = Queue(config(**options)).play(items, until=1 << 62)
    assert queue.held is None
    tick, timeout = int(options["granularity_us"]) * US, int(options["timeout_us"]) * US
    group: int | None = None  # its first ACK
    gone = {number: (at, why) for at, number, why in queue.left}
    for number, item in enumerate(items):
        at, why = gone.get(number, (-1, "thinned"))
        group = number if group is None and why in ("thinned", "timer", "flushed") else group
        if why == "timer":
            assert group is not None
            due = items[group].at + timeout
            due = -(-due // tick) * tick if tick else due
            if options["policy"] == "daa":
                longest = items[group].at + 500 * MS
                assert item.at < at <= longest
                assert not tick or at % tick == 0 or at == longest
            else:
                assert at == due
        if why != "thinned":
            group = None


@given(STEPS, POLICIES, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 99))
def test_decisions_do_not_depend_on_where_the_numbers_start(
    steps: list[tuple[str, int, int]], options: dict[str, int | str], seq: int, ack: int, ticks: int
) -> None:
    """Sequence numbers wrap, and the clock may be anywhere within a tick."""
    items = conversation(steps)
    shift = ticks * max(int(options["granularity_us"]), 1) * US
    moved = [Item(i.at + shift, i.ack, i.flags, i.seq, i.window, i.options, i.payload) for i in items]
    here = Queue(config(**options)).play(items, 1 << 62).left
    there = Queue(config(**options)).play(moved, 1 << 62, seq=seq, ack=ack).left
    assert there == [(at + shift, number, why) for at, number, why in here]


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=80), POLICIES)
def test_of_a_group_one_goes(sizes: list[int], options: dict[str, int | str]) -> None:
    """With only advancing ACKs and no timer, the number thinned before one leaves is the policy's."""
    ack, items = 0, []
    for number, size in enumerate(sizes):
        ack += size
        items.append(Item(number, ack))
    queue = Queue(config(**{**options, "granularity_us": 0, "timeout_us": 10_000_000})).play(items)
    count, skip = int(options["count"]), int(options["skip"])
    group = {"plain": 1, "delayed": count, "skip": skip + 1, "daa": int(options["dwin_max"]), "dynamic": 1}
    passed = [number for _, number, why in queue.left if why == "group"]
    begin = 0 if options["policy"] != "skip" else int(options["start"]) - 1
    for before, after in pairwise([0, *passed]):
        assert 1 <= after - before <= group[str(options["policy"])]
        if options["policy"] in ("plain", "delayed", "dynamic") or (options["policy"] == "skip" and before >= begin):
            assert after - before == group[str(options["policy"])]
