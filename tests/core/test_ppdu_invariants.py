# SPDX-License-Identifier: BSD-3-Clause
"""Invariants of PPDUs in every run: random networks, agreements, losses, TXOPs, both reception models."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from dcf import US, Core, Edca, Errors, Limits, library
from hypothesis import example, given
from hypothesis import strategies as st
from properties import examples
from test_modes import made as mode_of
from test_ppdus import FIRST, FREQ, OFDM
from txtime import Mode as Formula
from txtime import txtime_us

FORMULAS = (
    Formula("ht", 7, 1, 20, 800), Formula("ht", 7, 2, 40, 400), Formula("vht", 5, 1, 80, 400, ldpc=True),
    Formula("he", 9, 2, 80, 1600, 2, True, 16),
)  # fmt: skip
MODES = [mode_of(f)[1] for f in FORMULAS]
TXOP_US = 2560


class Watched(Core):
    """Checks each MPDU as it is sent: does its agreement's window hold it then?"""

    def _record(self, edge: int, head: int, head_len: int, body: int, body_len: int) -> None:
        before = len(self.mpdus)
        super()._record(edge, head, head_len, body, body_len)
        for m in self.mpdus[before:]:
            session, board = self.sessions[m.station, self.tx[-1].receiver, 0]
            if (m.sequence - session.start) % 4096 >= session.window:
                self.faults.append(f"{m} is outside {session.start} + {session.window}")
            if (m.sequence - board.start) % 4096 >= 2048:
                self.faults.append(f"{m} lies before the recipient's window, {board.start}")


limits = st.builds(
    Limits, st.sampled_from([3000, 8191, 65_535, 6_500_631]), st.sampled_from([500_000, 5_484_000]),
    st.integers(1, 64), st.sampled_from([0, 500, 8000]),
)  # fmt: skip
networks = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.sampled_from([0, 20, 200, 1000, 1000, 5000]), min_size=n, max_size=n), min_size=n,
                 max_size=n),
        st.lists(st.lists(st.integers(0, 2000), min_size=n, max_size=n), min_size=n, max_size=n),
        st.lists(
            st.tuples(
                st.integers(0, n - 1), st.integers(1, n - 1), st.integers(1, 40),
                st.sampled_from([60, 108, 1530, 3000]), st.integers(0, 30_000),
                st.integers(0, len(MODES) - 1), st.booleans(),
            ),
            min_size=1, max_size=8,
        ),
        st.tuples(limits, st.sampled_from([1, 8, 64, 64, 256]), st.integers(0, 4095), st.integers(1, 6)),
    )
)  # fmt: skip


def play(network, seed, reception, edca, step=None):  # type: ignore[no-untyped-def]
    powers, delays, traffic, (limits, window, start, tries) = network
    n = len(powers)
    air = Watched(
        powers,
        delays,
        phy=OFDM,
        modes=MODES,
        freq=FREQ,
        seed=seed,
        reception=reception,
        edca=edca,
        queue=4000,
        punctual=True,
    )
    for curve in range(34):
        assert air.lib.dcf_set_curve(air.memory, curve, Errors(-10_000, 30_000, 2, (1 << 30, 0)))
    for station in range(n if edca else 0):
        assert air.lib.dcf_set_edca(air.memory, station, 2, Edca(15, 1023, TXOP_US // 32, 3))
    for station, ahead, frames, length, at_us, mode, rts in sorted(traffic, key=lambda t: t[4]):
        to = (station + ahead) % n
        if (station, to, 0) not in air.sessions:
            air.agree(station, to, window=window, start=start, tries=tries, limits=limits)
        for _ in range(frames):
            while step and air.now + step < at_us * US:
                air.run(air.now + step)
            air.send_mpdu(station, to, length, at_us * US, mode=FIRST + mode, freq=FREQ, rts=rts)
    while step and air.now < 200_000 * US:
        air.run(air.now + step)
    air.run(100 * 10**9)
    air.stop()
    return air


def hears(n, *links):  # type: ignore[no-untyped-def]
    powers = [[0] * n for _ in range(n)]
    for sender, receiver, power in links:
        powers[sender][receiver] = power
    return powers, [[0] * n for _ in range(n)]


# A failed RTS resets a longer NAV; an MPDU goes first without, then with an RTS.
RESET = (
    *hears(5, (1, 2, 1000), (2, 4, 1000)),
    [(0, 1, 1, 60, 0, 0, False)] * 2 + [(1, 2, 3, 1530, 0, 0, True), (2, 2, 1, 60, 445, 0, False)],
    (Limits(8191, 500_000, 2, 0), 8, 0, 3),
)
MIXED = (
    *hears(2, (0, 1, 200), (1, 0, 200)),
    [(0, 1, 1, 60, 0, 2, False), (0, 1, 2, 3000, 0, 2, True)],
    (Limits(8191, 500_000, 2, 0), 8, 0, 2),
)


@given(networks, st.integers(0, 2**64 - 1), st.integers(0, 1), st.booleans())
@example(RESET, 4_032_565_668, 0, False)
@example(MIXED, 1, 1, False)
@examples(150)
def test_invariants(network, seed, reception, edca):  # type: ignore[no-untyped-def]
    air = play(network, seed, reception, edca)
    powers, _, traffic, (limits, window, _, tries) = network

    # Every frame ends once, and an agreement that has nothing left begins at what comes next.
    assert len(air.finished) == len(air.end) == sum(t[2] for t in traffic) and not air.frames
    assert all(session.start == session.next for session, _ in air.sessions.values())

    carried = {m.id: [] for m in air.mpdus}
    for m in air.mpdus:
        carried[m.id].append(m)
    by_id = {t.id: t for t in air.tx}
    times = defaultdict(int)  # of an MPDU of a station
    for id, mpdus in carried.items():
        t = by_id[id]
        formula = FORMULAS[next(i for i, m in enumerate(MODES) if m.rate == t.rate)]
        last = mpdus[-1]
        assert t.end - t.start == txtime_us(formula, last.offset + 4 + last.length) * 1000
        assert t.end - t.start <= limits.ppdu_ns and last.offset + 4 + last.length <= limits.bytes
        assert 2 <= len(mpdus) <= min(limits.mpdus, window)
        for a, b in pairwise(mpdus):
            assert 0 < (b.sequence - a.sequence) % 4096 < window and a.place + 1 == b.place
            assert b.offset >= a.offset + 4 + a.length and b.offset % 4 == 0
            assert (b.offset - a.offset) * 8 * formula.symbol_us * 1000 >= limits.spacing_ns * formula.n_dbps
        for m in mpdus:
            times[m.station, m.msdu] += 1
            assert m.attempt <= 255 and times[m.station, m.msdu] <= tries

    # An MPDU is acknowledged if, and only if, it has come; and what has come is what the trace says.
    lost = {(id, station, place) for id, station, place, _, _ in air.lost}
    came = set()
    for r in air.rx:
        t = by_id[r.id]
        if r.outcome != "OK" or not r.addressed:
            continue
        came |= {(t.station, m.msdu) for m in carried.get(t.id, ()) if (t.id, r.station, m.place) not in lost}
        if t.id not in carried:
            came.add((t.station, t.msdu))
    assert {(e.station, e.msdu) for e in air.end if e.reason == "ACKED"} <= came

    # The kernel is told at its time of what came, and of what was acknowledged.
    end = {t.id: t.end - t.start for t in air.tx}
    arrived = {(r.start + end[r.id], r.station) for r in air.rx if r.outcome == "OK" and r.addressed
               and by_id[r.id].kind == "other"}  # fmt: skip
    assert {(time, to) for time, to, _ in air.delivered} == arrived
    told = sorted((time, station) for time, station, why, _ in air.finished if why == "ACKED")
    assert told == sorted((e.time, e.station) for e in air.end if e.reason == "ACKED")

    # One thing at a time; each answer a SIFS after what it answers.
    mine = defaultdict(list)
    for t in air.tx:
        mine[t.station].append(t)
    for sent in mine.values():
        assert all(a.end < b.start for a, b in pairwise(sent))

    # A TXOP is over at its limit, unless its first PPDU alone is longer.
    delays = network[1]
    for sent in mine.values() if edca else ():
        answered = {r.start + end[r.id] + 16 * US for r in air.rx if r.station == sent[0].station and r.outcome == "OK"
                    and r.addressed}  # fmt: skip
        begun, until = 0, None  # until: where the last Duration of the TXOP ends
        for t in sent:
            if t.start not in answered or not t.category:
                begun, until = t.start, None
            duration = int.from_bytes(t.bytes[2:4], "little") * US
            if t.kind == "other":
                assert until is None or t.end - begun < TXOP_US * US
                assert until is None or t.end + (16 + 28) * US <= until
                way = delays[t.station][t.receiver] + delays[t.receiver][t.station]  # the next is later by this
                until = t.end + duration + way

    # Counted as the trace has it.
    for i in range(len(powers)):
        counters = air.counters(i)
        kinds = [m.kind for t in mine[i] for m in carried.get(t.id, ())] + [
            t.kind for t in mine[i] if t.id not in carried
        ]
        assert sum(counters.tx) == len(kinds) and counters.tx[7] == kinds.count("other")
        assert counters.tx_ns == sum(t.end - t.start for t in mine[i])


@given(networks, st.integers(0, 2**32), st.integers(0, 1), st.booleans())
@examples(30)
def test_same_bytes_however_often_it_is_called(network, seed, reception, edca):  # type: ignore[no-untyped-def]
    runs = [bytes(play(network, seed, reception, edca, step).raw) for step in (None, 137 * US)]
    assert runs[0] == runs[1]


def test_the_modes_differ_in_rate() -> None:
    assert len({m.rate for m in MODES}) == len(MODES) and library() is not None
