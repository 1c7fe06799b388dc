# SPDX-License-Identifier: BSD-3-Clause
"""Invariants of every run: random networks, random traffic, both reception models."""

from collections import defaultdict
from itertools import pairwise

import pytest
from dcf import KINDS, REASONS, US, Core, Edca, dsss, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

DIFS, SENSING, SIFS = 50 * US, 5 * US, 10 * US

networks = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.sampled_from([0, 5, 20, 50, 200, 1000, 20_000]), min_size=n, max_size=n),
                 min_size=n, max_size=n),
        st.lists(st.lists(st.integers(0, 3000), min_size=n, max_size=n), min_size=n, max_size=n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n), st.sampled_from([0, 100, 1460]), st.integers(0, 40_000),
                      st.booleans(), st.sampled_from([10, 20, 110, 60, 540])),
            min_size=1, max_size=25,
        ),
    )
)  # fmt: skip


SETS = Edca(3, 7, 102, 2), Edca(7, 31, 400, 2), Edca(31, 1023, 0, 3), Edca(15, 63, 0, 7)


def made(powers, delays, edca, **options):  # type: ignore[no-untyped-def]
    """Return an air; with EDCA the categories differ, and two of them send bursts."""
    air = Core(powers, delays, edca=edca, **options)
    for station in range(len(powers) if edca else 0):
        for category, one in enumerate(SETS):
            assert air.lib.dcf_set_edca(air.memory, station, category, one)
    return air


def arranged(traffic, edca):  # type: ignore[no-untyped-def]
    """Return frames to send, in order, with a user priority each if there is EDCA."""
    return [(*each, number % 8 if edca else None) for number, each in enumerate(sorted(traffic, key=lambda t: t[3]))]


@given(networks, st.integers(0, 2**64 - 1), st.integers(0, 1), st.integers(0, 2), st.booleans(), st.booleans())
@examples(300)
def test_invariants(network, seed, reception, eifs, stages, edca):  # type: ignore[no-untyped-def]
    powers, delays, traffic = network
    n = len(powers)
    air = made(powers, delays, edca, seed=seed, reception=reception, eifs=eifs, stages=stages,
               phy=dsss(basic_rates=0b10001, signal_extension_ns=6000))  # fmt: skip
    for station, to, payload, at_us, rts, rate, priority in arranged(traffic, edca):
        ra = b"\xff" * 6 if to in (n, station) else to
        ladder = [(rate, 2), (10, 2)] if stages else None
        air.send(station, ra, tcp(payload), at=at_us * US, rate=rate, rts=rts, stages=ladder, priority=priority)
    air.run(60 * 10**9)
    air.stop()

    # Every frame ends exactly once, for one reason, and is returned.
    assert len(air.finished) == len(traffic) == len(air.end) and not air.frames
    assert air.lib.dcf_next(air.memory) == 2**64 - 1

    # A station sends one thing at a time.
    mine = defaultdict(list)
    for t in air.tx:
        mine[t.station].append(t)
    for sent in mine.values():
        assert all(a.end < b.start for a, b in pairwise(sent))

    # No station begins a frame, except SIFS responses, when another has been present for longer than sensing takes, or
    # less than DIFS after it.
    by_id = {t.id: t for t in air.tx}
    for t in air.tx:
        answers = t.kind in ("cts", "ack") and t.receiver != t.station
        cleared = [c for c in air.tx if c.receiver == t.station and c.kind == "cts"
                   and c.end + delays[c.station][t.station] + SIFS == t.start]  # fmt: skip
        burst = [c for c in air.tx if t.category in (1, 2) and c.end + SIFS == t.start - (
                     delays[c.station][t.station] if c.kind == "ack" and c.receiver == t.station else 0)
                 and (c.station == t.station or c.receiver == t.station)]  # fmt: skip
        if answers or cleared or burst:
            continue
        for o in air.tx:
            if o.station == t.station or powers[o.station][t.station] < 10:
                continue
            begin, end = (x + delays[o.station][t.station] for x in (o.start, o.end))
            assert not begin + SENSING < t.start < end + DIFS, (o, t)

    # What is received well was at the threshold, and nothing is received twice.
    assert len({(r.id, r.station) for r in air.rx}) == len(air.rx)
    for r in air.rx:
        t = by_id[r.id]
        assert r.start == t.start + delays[t.station][r.station]
        assert r.addressed == (t.receiver == r.station)
        if r.outcome == "OK":
            assert powers[t.station][r.station] >= 100
        if r.outcome == "OWN_TX":
            assert any(m.start < t.end + delays[t.station][r.station] and r.start < m.end for m in mine[r.station])

    # An ACKED frame was received by its receiver, whose ACK was received by its sender.
    good = {(r.id, r.station) for r in air.rx if r.outcome == "OK"}
    for e in air.end:
        if e.reason == "ACKED":
            data = [t for t in mine[e.station] if t.msdu == e.msdu and t.kind == e.kind]
            assert (data[-1].id, data[-1].receiver) in good

    # The module's table is what the trace says.
    for i in range(n):
        counters = air.counters(i)
        for k, kind in enumerate(KINDS):
            assert counters.tx[k] == sum(t.kind == kind for t in mine[i])
            assert counters.airtime_ns[k] == sum(t.end - t.start for t in mine[i] if t.kind == kind)
            heard = [r for r in air.rx if r.station == i and by_id[r.id].kind == kind]
            assert sum(counters.addressed[k]) == sum(r.addressed for r in heard)
            for w, why in enumerate(REASONS):
                assert counters.end[k][w] == sum((e.station, e.kind, e.reason) == (i, kind, why) for e in air.end)
        assert counters.tx_ns == sum(t.end - t.start for t in mine[i]) <= counters.busy_ns <= air.now
        for category, share in enumerate(counters.share, 1):
            assert share.tx == sum(t.category == category for t in mine[i])
            assert share.airtime_ns == sum(t.end - t.start for t in mine[i] if t.category == category)
            ended = [e.reason for e in air.end if (e.station, e.category) == (i, category)]
            assert (share.acked, share.group) == (ended.count("ACKED"), ended.count("GROUP"))
            assert share.acked + share.group + share.given_up + share.dropped == len(ended)


@given(networks, st.integers(0, 2**32), st.integers(0, 1), st.booleans())
@examples(50)
def test_same_seed_same_bytes_however_often_it_is_called(network, seed, reception, edca):  # type: ignore[no-untyped-def]
    """The trace does not depend on when dcf_run() is called: this is why the core may be lazy."""
    powers, delays, traffic = network
    traces = []
    for step in (None, 137 * US):
        air = made(powers, delays, edca, seed=seed, reception=reception)
        for station, to, payload, at_us, rts, rate, priority in arranged(traffic, edca):
            ra = b"\xff" * 6 if to in (len(powers), station) else to
            while step and air.now + step < at_us * US:
                air.run(air.now + step)
            air.send(station, ra, tcp(payload), at=at_us * US, rate=rate, rts=rts, priority=priority)
        while step and air.now < 300_000 * US:
            air.run(air.now + step)
        air.run(60 * 10**9)
        air.stop()
        traces.append(bytes(air.raw))
    assert traces[0] == traces[1]


@given(networks, st.integers(0, 2**32), st.integers(0, 1), st.booleans(), st.booleans())
@examples(150)
def test_nothing_that_went_well_is_told_late(network, seed, reception, stages, edca):  # type: ignore[no-untyped-def]
    """Without RTS: dcf_next() calls the kernel when a frame has reached its receiver, and when its ACK has arrived."""
    powers, delays, traffic = network
    air = made(powers, delays, edca, seed=seed, reception=reception, stages=stages)
    for station, to, payload, at_us, _, rate, priority in arranged(traffic, edca):
        ra = b"\xff" * 6 if to in (len(powers), station) else to
        ladder = [(rate, 2), (10, 2)] if stages else None
        air.send(station, ra, tcp(payload), at=at_us * US, rate=rate, stages=ladder, priority=priority)
    air.run(60 * 10**9)
    sent = {t.id: t for t in air.tx if t.kind != "ack"}
    good = [(r.start + sent[r.id].end - sent[r.id].start, r) for r in air.rx if r.outcome == "OK" and r.id in sent]
    told = {(time, station) for time, station, _ in air.delivered}
    assert {(time, r.station) for time, r in good if r.addressed} <= told <= {(time, r.station) for time, r in good}
    ended = {(end.time, end.station) for end in air.end if end.reason == "ACKED"}
    assert ended == {(time, station) for time, station, reason, _ in air.finished if reason == "ACKED"}


@given(networks, st.integers(0, 2**32), st.integers(0, 1), st.booleans())
@examples(150)
def test_who_asked_for_it_is_told_punctually_what_was_given_up(network, seed, reception, edca):  # type: ignore[no-untyped-def]
    """With RTS before all: at its time, or when the timeout would have fired if a reception decided it."""
    powers, delays, traffic = network
    air = made(powers, delays, edca, seed=seed, reception=reception, punctual=True)
    for station, to, payload, at_us, _, rate, priority in arranged(traffic, edca):
        ra = b"\xff" * 6 if to in (len(powers), station) else to
        air.send(station, ra, tcp(payload), at=at_us * US, rate=rate, rts=True, priority=priority)
    air.run(60 * 10**9)
    told = sorted((station, time) for time, station, reason, _ in air.finished if reason == "RTS_LIMIT")
    ended = sorted((end.station, end.time) for end in air.end if end.reason == "RTS_LIMIT")
    assert [station for station, _ in told] == [station for station, _ in ended]
    for (_, when), (_, then) in zip(told, ended, strict=True):
        assert 0 <= when - then <= 400 * US  # SIFS, a slot, and the preamble of what it waited for


@pytest.mark.parametrize("reception", [0, 1])
@pytest.mark.parametrize(("stations", "power"), [(4, 10**19), (21, 10**18), (3, 9_300_000_000_000_000_000)])
def test_strong_signals_add_up(stations: int, power: int, reception: int) -> None:
    """All but one transmit at once, more than 64 bits of attowatts: the last hears that, and waits for the end."""
    air = Core([[power] * stations] * stations, reception=reception, cs=10**18, rx=10**18, phy=dsss(cw_min=0))
    for i in range(stations - 1):
        air.send(i, b"\xff" * 6, tcp(100), at=100 * US)
    air.send(stations - 1, b"\xff" * 6, tcp(100), at=200 * US)
    air.run(10**9)
    first, *_, last = air.tx
    assert [t.start for t in air.tx[:-1]] == [first.start] * (stations - 1)
    assert (last.station, last.start >= first.end + DIFS) == (stations - 1, True)
    heard = {r.outcome for r in air.rx if r.station == stations - 1}
    noticed = reception == 1 and stations < 21  # under twenty alike no preamble is; without a table all SINRs do
    assert heard == ({"COLLISION", "OK"} if noticed else {"COLLISION"})


@given(st.binary(max_size=200))
def test_any_bytes_can_be_classified(frame: bytes) -> None:
    from dcf import library

    assert 3 <= library().dcf_classify(frame, len(frame)) < len(KINDS)
