# SPDX-License-Identifier: BSD-3-Clause
"""What is said of the datagrams that a qdisc lets out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emulation.features.check.inside import Name, queues, setups
from emulation.features.check.inside.departures import (
    EQUAL,
    HEADERS,
    PACED,
    TAG,
    UNEVEN,
    Departure,
    Departures,
    Flow,
    Seen,
    smaller,
)
from emulation.features.check.inside.setups import Setup

INTERVAL_US = (1000 + HEADERS) * 1_000_000 // PACED


class Scripted(Departures):
    """Departures whose qdisc lets out what a list says."""

    def __init__(self, *seen: Seen | None) -> None:
        self.kind, self.told, self.seen, self.found = "mine", set(), list(seen), []
        self.job = SimpleNamespace(find=lambda name, text: self.found.append((name, text)))
        self.queues = SimpleNamespace(accepted={1: [b"\0\0\0\0"]}, flags=set())
        self.node = None

    def send(self, flows, parent=0, **settings):
        return self.seen.pop(0)


def seen(flows, step_us=10, tos=0, queued=0, times=None):
    """What came out: the flow of each datagram, in order."""
    times = times or [step_us * at for at in range(len(flows))]
    serials = [flows[:at].count(flow) for at, flow in enumerate(flows)]
    return Seen([Departure(*one, tos) for one in zip(times, flows, serials, strict=True)], queued)


IN_TURN, HALF = seen([0, 1, 2, 3] * 40), seen([0, 1, 2, 3] * 2 + [0, 2] * 38 + [1, 3] * 38)


@pytest.mark.parametrize(
    ("root", "below", "said"),
    [
        (IN_TURN, IN_TURN, ""),
        (IN_TURN, HALF, "lets 40 packets of 2 flows out before any of 2 others"),
        (IN_TURN, seen([]), "lets 160 of 160 datagrams out at the root of a link, and none below a bucket"),
        (None, None, ""),
    ],
)
def test_equal_flows_all_get_something(root, below, said):
    one = Scripted(root, below)
    one.equal_flows()
    assert [said in text for _, text in one.found] == [True] * bool(said)


ARRIVED = [at for _, at, _ in sorted((f.sent_at(n), at, n) for at, f in enumerate(UNEVEN) for n in range(f.packets))]


@pytest.mark.parametrize(
    ("check", "order", "wrong"),
    [
        ("light_flows", ARRIVED, 0),
        ("light_flows", sorted(ARRIVED, key=lambda flow: flow == 0), 0),  # the light flows first
        ("light_flows", sorted(ARRIVED, key=lambda flow: flow != 0), 1),
        ("light_flows", [0] * 400, 0),  # no other was let in
        ("waiting_flow", list(range(9)) * 12 + [0] * 48, 0),
        ("waiting_flow", [0] * 60 + list(range(1, 9)) * 12, 0),
        ("waiting_flow", list(range(1, 9)) * 12 + [0] * 60, 1),
        ("waiting_flow", list(range(1, 9)) * 12, 0),  # the flow that waits was dropped
        ("priorities", [0, 1] * 40, 0),
        ("priorities", [1] * 40 + [0] * 40, 0),
        ("priorities", [0] * 40 + [1] * 40, 1),
    ],
)
def test_flows_are_served_in_a_sound_order(check, order, wrong):
    """Light ones are not overtaken by what came later; one that waits gets something beside those that come back; what
    is interactive is not later."""
    one = Scripted(seen(order, step_us=10_420))
    getattr(one, check)()
    assert len(one.found) == wrong


@pytest.mark.parametrize(("rate", "wrong"), [(500_000, False), (250_000, True)])
def test_a_shaper_keeps_its_rate(monkeypatch, rate, wrong):
    monkeypatch.setattr(setups, "FOUND", {"mine": Setup(rate=rate)})
    one = Scripted()
    one.check_rate(seen([0] * 80, step_us=2 * (1000 + HEADERS)))
    assert len(one.found) == wrong


@pytest.mark.parametrize(
    ("paced", "wrong"),
    [
        ([0] * 10, 0),
        ([INTERVAL_US * at for at in range(10)], 0),
        ([0] * 5 + [INTERVAL_US * at for at in range(5)], 0),
        ([INTERVAL_US * at // 1000 for at in range(10)], 1),
    ],
)
def test_a_pacing_rate_is_kept_or_ignored(paced, wrong):
    """A burst may come first."""
    one = Scripted(seen([0] * 10, step_us=0), seen([0] * 10, times=paced))
    one.pacing()
    assert len(one.found) == wrong


@pytest.mark.parametrize(
    ("with_ecn", "without", "said"),
    [
        (seen([0] * 200, tos=3), seen([0] * 150), ""),
        (seen([0] * 200, tos=2), seen([0] * 200), ""),
        (seen([0] * 200, tos=3), seen([0] * 200), "marks 200 and drops 0 packets with ECN, and drops none"),
        (seen([0] * 200, tos=2), seen([0] * 150), "drops 50 packets without ECN, and neither marks nor drops"),
    ],
)
def test_flows_with_and_without_ecn_hear_of_congestion(with_ecn, without, said):
    one = Scripted(with_ecn, without)
    one.signals()
    assert [said in text for _, text in one.found] == [True] * bool(said)


@pytest.mark.parametrize(("more", "wrong"), [(0, 0), (1, 1), (5, 0)])
def test_a_limit_is_kept(monkeypatch, more, wrong):
    monkeypatch.setattr(queues, "words", lambda node, kind: (b"", []))
    one = Scripted(*(seen([], queued=limit + more) for limit in (3, 10, 20)))
    one.changes()
    assert [name for name, _ in one.found] == [Name.WRONG_COUNT] * wrong


def test_order_marks_and_what_is_left_are_checked():
    one = Scripted()
    one.check_all(EQUAL, IN_TURN.departures, (0, 0), in_order=True)
    assert one.found == []
    one.check_all(EQUAL, IN_TURN.departures[::-1], (2, 0), in_order=True)
    assert [name for name, _ in one.found] == [Name.WRONG_ORDER, Name.WRONG_COUNT]
    marked = Scripted()
    marked.check_all((Flow(1),), [Departure(0, 0, 0, 3)], (0, 0), in_order=False)
    assert "does not use ECN" in marked.found[0][1]


def test_a_smaller_structure_indexes_nothing_beyond_it():
    assert smaller(bytes((3, 0, 0, 0, 1, 2, 2, 0)), 0, 2) == bytes((2, 0, 0, 0, 1, 1, 1, 0))


def test_datagrams_are_sent_at_their_times_and_segments_together():
    """Each with its own tag: a flow that sends all at once, one over the time, and one whose packets are segmented."""
    now, sent = [0], [[] for _ in range(3)]
    one = Scripted()
    one.playground = SimpleNamespace(loop=SimpleNamespace(run=lambda end: now.append(end)))
    senders = [SimpleNamespace(sendto=lambda data, to, at=at: sent[at].append((len(now), data))) for at in range(3)]
    flows = (Flow(2, 10, ends=0.0), Flow(4, 10), Flow(4, 10, together=2))
    one.burst(senders, flows, 1, 0.08)
    assert [[step for step, _ in each] for each in sent] == [[1, 1], [1, 2, 3, 4], [1, 3]]
    assert [TAG.unpack_from(data, at) for _, data in sent[2] for at in (0, 10)] == [(2, 4), (2, 5), (2, 6), (2, 7)]
