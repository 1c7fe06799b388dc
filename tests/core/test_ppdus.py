# SPDX-License-Identifier: BSD-3-Clause
"""PPDUs of several MPDUs, by hand to the nanosecond: 802.11n at 5 GHz, 20 MHz, MCS 7, one stream, long guard interval.

A symbol of 4 us has 260 data bits, the preamble takes 36 us. MPDUs of 1530 bytes: with delimiter and padding 1536, so
that n of them are 1536 n - 2 bytes. SIFS 16, slot 9; AIFSN 2 without EDCA, 3 with it in best effort. At 24 Mb/s
a block ACK of 32 bytes takes 32 us, of 56 bytes 40, an ACK 28, an RTS 28, a CTS 28.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, exp

import pytest
from dcf import FORMATS, US, Core, Edca, Errors, Limits, Mode, Phy, Tx, TxVector, address, library, mutual, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

FREQ = 5180
OFDM = Phy(9 * US, 16 * US, 15, 1023, 0, 0b10101 << 4, 2250)  # basic 6, 12, 24 Mb/s
NEAR = 1000
SIFS, SLOT, DIFS, BA, ACK, RTS, CTS = 16, 9, 34, 32, 28, 28, 28
LENGTH = 1530
TIMEOUT = SIFS + SLOT + 20


def mode(form: str = "ht", mcs: int = 7, streams: int = 1, width: int = 20, guard: int = 800, ltf: int = 0,
         ldpc: bool = False) -> Mode:  # fmt: skip
    made = Mode()
    assert not library().mode_make(made, TxVector(FORMATS.index(form), mcs, streams, ltf, width, guard, ldpc, 0))
    return made


HT = mode()
FIRST = 12  # the place of the first mode that is not a legacy rate


def ppdu(n: int) -> float:
    """In us."""
    length = 1536 * n - 2 if n > 1 else LENGTH
    return 36 + 4 * ceil((22 + 8 * length) / 260)


def made(powers: list[list[int]], *, phy: Phy = OFDM, modes: tuple[Mode, ...] = (HT,), **options: object) -> Core:
    return Core(powers, phy=phy, modes=modes, freq=FREQ, **options)  # type: ignore[arg-type]


def send(air: Core, n: int, at_us: float = 1000, *, station: int = 0, to: int = 1, length: int = LENGTH,
         mode: int = FIRST, **options: object) -> None:  # fmt: skip
    for _ in range(n):
        air.send_mpdu(station, to, length, round(at_us * US), mode=mode, freq=FREQ, **options)  # type: ignore[arg-type]


def shape(tx: list[Tx]) -> list[tuple[str, int, float, float]]:
    return [(t.kind, t.station, t.start / US, t.end / US) for t in tx]


def ends(air: Core, station: int = 0) -> list[tuple[int, str]]:
    return [(e.msdu, e.reason) for e in air.end if e.station == station]


def of(air: Core, tx: Tx) -> list[int]:
    """Sequence numbers of its MPDUs."""
    return [m.sequence for m in air.mpdus if m.id == tx.id] or [int.from_bytes(tx.bytes[22:24], "little") >> 4]


def durations(tx: list[Tx]) -> list[int]:
    return [int.from_bytes(t.bytes[2:4], "little") for t in tx]


def test_an_aggregate_and_its_block_ack() -> None:
    """One PPDU of four MPDUs after DIFS, and a SIFS later one block ACK of 32 bytes; all arrive at the PPDU's end."""
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1, start=4094)
    send(air, 4)
    air.run(10_000 * US)
    end = 1000 + ppdu(4)
    assert ppdu(4) == 36 + 4 * 190
    assert shape(air.tx) == [("other", 0, 1000, end), ("ack", 1, end + SIFS, end + SIFS + BA)]
    assert of(air, air.tx[0]) == [4094, 4095, 0, 1]
    assert [(m.offset, m.length) for m in air.mpdus] == [(1536 * i, LENGTH) for i in range(4)]
    assert durations(air.tx) == [SIFS + BA, 0]
    assert air.tx[1].bytes[16:20] == bytes((4, 0)) + (4094 << 4).to_bytes(2, "little")
    assert air.tx[1].bytes[20:28] == bytes((0x0F, 0, 0, 0, 0, 0, 0, 0)) and air.tx[1].length == 32
    assert {time for time, _, _ in air.delivered} == {end * US} and len(air.delivered) == 4
    assert ends(air) == [(i, "ACKED") for i in range(1, 5)]
    assert {e.time for e in air.end} == {(end + SIFS + BA) * US}


def test_one_mpdu_alone_is_acknowledged_by_an_ack() -> None:
    air = made(mutual(2, {}, NEAR))
    session = air.agree(0, 1)
    send(air, 1)
    air.run(10_000 * US)
    end = 1000 + ppdu(1)
    assert shape(air.tx) == [("other", 0, 1000, end), ("ack", 1, end + SIFS, end + SIFS + ACK)]
    assert (session.start, air.sessions[0, 1, 0][1].start) == (1, 0)
    assert library().scoreboard_has(air.sessions[0, 1, 0][1], 0)  # it counts for the agreement all the same


def test_rts_before_an_aggregate() -> None:
    """Its Duration lasts to the end of the block ACK, as all do."""
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1)
    send(air, 4, rts=True)
    air.run(10_000 * US)
    data = 1000 + RTS + SIFS + CTS + SIFS
    end = data + ppdu(4) + SIFS + BA
    assert shape(air.tx) == [
        ("rts", 0, 1000, 1000 + RTS), ("cts", 1, 1000 + RTS + SIFS, 1000 + RTS + SIFS + CTS),
        ("other", 0, data, data + ppdu(4)), ("ack", 1, end - BA, end),
    ]  # fmt: skip
    assert [t.end / US + d for t, d in zip(air.tx, durations(air.tx), strict=True)] == [end] * 4


def test_cts_to_self_before_an_aggregate() -> None:
    """Protection from stations of 802.11a, where the kernel asks for it."""
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1)
    send(air, 2, cts_to_self=True)
    air.run(10_000 * US)
    data = 1000 + CTS + SIFS
    end = data + ppdu(2) + SIFS + BA
    assert shape(air.tx)[:2] == [("cts", 0, 1000, 1000 + CTS), ("other", 0, data, data + ppdu(2))]
    assert [t.end / US + d for t, d in zip(air.tx, durations(air.tx), strict=True)] == [end] * 3


def test_a_window_of_256_has_a_bitmap_of_32_bytes() -> None:
    air = made(mutual(2, {}, NEAR), queue=300)
    air.agree(0, 1, window=256)
    send(air, 20)
    air.run(20_000 * US)
    end = 1000 + ppdu(20)
    assert air.tx[1].length == 56 and air.tx[1].end == (end + SIFS + 40) * US


@pytest.mark.parametrize(
    ("limits", "window", "n"),
    [
        (Limits(6_500_631, 5_484_000, 256, 0), 64, 28),  # 5.484 ms: 36 + 4 x 1362 symbols, and 28.8 MPDUs
        (Limits(65_535, 5_484_000, 256, 0), 8, 8), (Limits(65_535, 5_484_000, 5, 0), 64, 5),
        (Limits(8191, 5_484_000, 64, 0), 64, 5), (Limits(65_535, 4_000_000, 64, 0), 64, 20),
    ],
    ids=["time", "window", "number", "bytes", "less time"],
)  # fmt: skip
def test_limits(limits: Limits, window: int, n: int) -> None:
    air = made(mutual(2, {}, NEAR), queue=300)
    air.agree(0, 1, window=window, limits=limits)
    send(air, 70)
    air.run(9_000 * US)
    assert of(air, air.tx[0]) == list(range(n))
    assert air.tx[0].end - air.tx[0].start == ppdu(n) * US <= limits.ppdu_ns


def jammed(reception: int = 0, **options: object) -> Core:
    """1 follows what 0 sends; 2, whom 0 does not hear, can be heard at 1 as strongly."""
    power = mutual(4, {(0, 1): NEAR, (2, 3): NEAR})
    power[2][1] = NEAR
    return made(power, reception=reception, **options)


# When MPDU i of four passes: SERVICE, and 8 x 1536 bits each at 260 in 4 us
def passes(i: int) -> tuple[float, float]:
    begin = 1000 + 36 + (16 + 8 * 1536 * i) * 4 / 260
    return begin, begin + 8 * (LENGTH + 4) * 4 / 260


@pytest.mark.parametrize("reception", [0, 1])
@pytest.mark.parametrize(
    ("begin", "length", "lost"),
    [  # in us after the start of MPDU 1; a group's frame at 54 Mb/s of this many bytes
        (50, 100, {1}), (-60, 100, {0, }), (-20, 100, {0, 1}), (150, 700, {1, 2}), (50, 2300, {1, 2, 3}),
    ],
)  # fmt: skip
def test_interference_corrupts_the_mpdus_that_it_overlaps(
    begin: int, length: int, lost: set[int], reception: int
) -> None:
    air = jammed(reception)
    if reception:
        certain = Errors(-10_000, 20_000, 2, (1 << 39, 0))
        for curve in (4, 12 + 7):
            assert air.lib.dcf_set_curve(air.memory, curve, certain)
    air.agree(0, 1)
    send(air, 4)
    at = round((passes(1)[0] + begin) * US)
    air.send(2, b"\xff" * 6, bytes(length - 28), at=at, rate=540, freq=FREQ)
    air.run(1_900 * US)
    jam = next(t for t in air.tx if t.station == 2)
    assert jam.start == at
    overlapped = {i for i in range(4) if passes(i)[0] < jam.end / US and jam.start / US < passes(i)[1]}
    assert overlapped == lost
    assert {it[2:] for it in air.lost if it[1] == 1} == {(i, "COLLISION", 2) for i in lost}
    assert next(r for r in air.rx if r.id == air.tx[0].id and r.station == 1).outcome == "OK"
    came = sorted(int.from_bytes(content[22:24], "little") >> 4 for _, to, content in air.delivered if to == 1)
    assert came == [i for i in range(4) if i not in lost]


def test_what_was_not_acknowledged_is_sent_again_first() -> None:
    """MPDU 1 of 4 is corrupted. It is the first of the next PPDU, with Retry, before two new ones: the window waits."""
    air = jammed()
    session = air.agree(0, 1)
    send(air, 4)
    air.send(2, b"\xff" * 6, bytes(72), at=round((passes(1)[0] + 50) * US), rate=540, freq=FREQ)
    air.run(1_000 * US)
    send(air, 2, 1100)
    air.run(1_899 * US)
    assert ends(air) == [(1, "ACKED"), (3, "ACKED"), (4, "ACKED")] and session.start == 1
    air.run(20_000 * US)
    again = [t for t in air.tx if t.station == 0][1]
    assert of(air, again) == [1, 4, 5]
    assert [m.attempt for m in air.mpdus if m.id == again.id] == [2, 1, 1]
    assert again.bytes[1] & 8
    answer = next(t for t in air.tx if t.kind == "ack")
    assert (again.start / US - answer.end / US - DIFS) / SLOT in range(16)
    assert sorted(e.msdu for e in air.end if e.reason == "ACKED" and e.station == 0) == [1, 2, 3, 4, 5, 6]
    assert (session.start, session.next) == (6, 6)
    told = [(FIRST, 4, 3, 4, round(ppdu(4) * US)), (FIRST, 3, 3, 2, round(ppdu(3) * US))]
    assert air.sent == [(0, *ppdu_told) for ppdu_told in told]


def test_a_preamble_that_is_lost_takes_all() -> None:
    air = jammed()
    air.agree(0, 1)
    send(air, 4)
    air.send(2, b"\xff" * 6, bytes(72), at=1010 * US, rate=540, freq=FREQ)
    air.run(1_900 * US)
    heard = next(r for r in air.rx if r.id == air.tx[0].id and r.station == 1)
    assert heard.outcome == "COLLISION" and not [to for _, to, _ in air.delivered if to == 1] and not air.lost
    assert not [t for t in air.tx if t.kind == "ack"]


def test_what_the_edge_is_told_of_a_ppdu() -> None:
    """One MPDU alone, and its failures; nothing of frames without an agreement."""
    air = made([[0, NEAR], [0, 0]])
    air.agree(0, 1, tries=2)
    send(air, 1)
    air.send(0, 1, bytes(100), at=3_000 * US, rate=60, freq=FREQ)
    air.run(20_000 * US)
    assert [end for _, end in ends(air)] == ["SHORT_LIMIT", "SHORT_LIMIT"]
    assert air.sent == [(0, FIRST, 1, 0, fresh, round(ppdu(1) * US)) for fresh in (1, 0)]


def test_an_agreement_changes_the_mode_of_frames_that_wait() -> None:
    """MPDUs of MCS 7 go at MCS 5 from the next PPDU on; frames without an agreement as before."""
    air = made([[0, NEAR], [0, 0]], modes=(HT, mode(mcs=5)))
    session = air.agree(0, 1, tries=3)
    send(air, 2)
    air.run(round((1000 + ppdu(2) + TIMEOUT + 1) * US))
    session.mode = FIRST + 1
    air.send(0, 1, bytes(100), at=10_000 * US, rate=60, freq=FREQ)
    air.run(100_000 * US)
    assert [(mode, mpdus) for _, mode, mpdus, *_ in air.sent] == [(FIRST, 2), (FIRST + 1, 2), (FIRST + 1, 2)]
    data = [t for t in air.tx if t.station == 0]
    durations = [t.end - t.start for t in data]
    assert durations[0] < durations[1] == durations[2] and data[3].rate == 60


def test_no_block_ack() -> None:
    """All have failed when the timeout strikes; CW doubles, and they are sent again until they have been given up."""
    air = made([[0, NEAR], [0, 0]])
    air.agree(0, 1, tries=3)
    send(air, 4)
    air.run(100_000 * US)
    data = [t for t in air.tx if t.station == 0]
    assert [of(air, t) for t in data] == [[0, 1, 2, 3]] * 3
    for k, (a, b) in enumerate(pairwise(data)):
        assert (b.start / US - a.end / US - TIMEOUT) / SLOT in range(32 << k)
    assert ends(air) == [(i, "SHORT_LIMIT") for i in range(1, 5)]
    assert {e.short for e in air.end} == {3}


def test_without_an_agreement_at_the_recipient_nothing_answers() -> None:
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1, tries=1)
    air.lib.dcf_end_scoreboard(air.memory, 1, air.sessions[0, 1, 0][1])
    send(air, 2)
    air.run(10_000 * US)
    assert len(air.tx) == 1 and ends(air) == [(1, "SHORT_LIMIT"), (2, "SHORT_LIMIT")]


def test_a_request_is_answered_by_a_block_ack_and_moves_the_window() -> None:
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1)
    send(air, 1, request=5, length=24, mode=8)
    air.run(10_000 * US)
    end = 1000 + 32
    assert shape(air.tx) == [("other", 0, 1000, end), ("ack", 1, end + SIFS, end + SIFS + BA)]
    assert air.sessions[0, 1, 0][1].start == 5 and ends(air) == [(1, "ACKED")]
    assert len(air.delivered) == 1  # mac80211's reordering waits for it


def test_who_overhears_an_aggregate_sets_its_nav_and_is_silent() -> None:
    """A third station, of whose frame the time comes while the PPDU lasts, waits for the block ACK and for DIFS."""
    air = made(mutual(3, {}, NEAR))
    air.agree(0, 1)
    send(air, 4)
    air.send(2, 1, bytes(100), at=1100 * US, rate=540, freq=FREQ)
    air.run(10_000 * US)
    done = 1000 + ppdu(4) + SIFS + BA
    third = next(t for t in air.tx if t.station == 2)
    assert (third.start / US - done - DIFS) / SLOT in range(16)
    assert air.counters(2).nav_ns == (SIFS + BA) * US


def test_eifs_only_if_no_mpdu_came_well() -> None:
    """10.3.2.3.7: of two MPDUs one is enough. 3 hears all, and 2's jam corrupts MPDU 0 for it, or the preamble."""
    for at, eifs in ((passes(0)[0] + 20, False), (1010.0, True)):
        power = mutual(4, {(0, 1): NEAR, (0, 3): NEAR, (1, 3): 0})
        power[2][3] = NEAR
        air = made(power)
        air.agree(0, 1, tries=1)
        air.lib.dcf_end_scoreboard(air.memory, 1, air.sessions[0, 1, 0][1])  # so that no block ACK ends it
        send(air, 2)
        air.send(2, b"\xff" * 6, bytes(72), at=round(at * US), rate=540, freq=FREQ)
        air.send(3, b"\xff" * 6, bytes(72), at=1200 * US, rate=540, freq=FREQ)
        air.run(10_000 * US)
        third = next(t for t in air.tx if t.station == 3)
        nav = SIFS + BA if not eifs else 0
        base = 1000 + ppdu(2) + nav + (DIFS if not eifs else SIFS + 44 + DIFS)
        assert (third.start / US - base) / SLOT in range(16)


def edca(air: Core, txop_us: int, stations: int = 2) -> None:
    for station in range(stations):
        assert air.lib.dcf_set_edca(air.memory, station, 2, Edca(15, 1023, txop_us // 32, 3))


def test_txop() -> None:
    """A limit of 2528 us: PPDUs of it follow each other by a SIFS, each as long as still fits with its block ACK; each
    Duration covers the next exchange. By hand: 12 MPDUs take 2304 us, and 12 more do not fit; ten, 1928 us."""
    limit = 2528
    air = made(mutual(2, {}, NEAR), edca=True, queue=200)
    edca(air, limit)
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, 8, 0))
    send(air, 30)
    air.run(100_000 * US)
    data = [t for t in air.tx if t.station == 0]
    start = data[0].start / US
    first = ppdu(8) + SIFS + BA
    left = limit - first - SIFS - SIFS - BA
    second = max(n for n in range(1, 9) if ppdu(n) <= left)
    assert [len(of(air, t)) for t in data[:2]] == [8, second]
    assert data[1].start / US == start + first + SIFS
    assert durations([data[0]]) == [SIFS + BA + SIFS + ppdu(second) + SIFS + BA]
    assert durations([data[1]]) == [SIFS + BA]
    assert data[1].end / US + SIFS + BA <= start + limit < data[2].start / US
    assert (data[2].start / US - data[1].end / US - SIFS - BA - 16 - 3 * SLOT) / SLOT in range(16)


def announced(air: Core) -> list[tuple[float, float]]:
    """Of each PPDU of station 0 that follows another by its answer and a SIFS: when its exchange is over, and when the
    Duration before it is, in us."""
    data = [t for t in air.tx if t.station == 0]
    answers = [t for t in air.tx if t.station == 1]
    return [
        (next((t.end for t in answers if t.start == b.end + SIFS * US), b.end) / US, a.end / US + durations([a])[0])
        for a, b in pairwise(data) if any(t.end + SIFS * US == b.start for t in answers)
    ]  # fmt: skip


def test_a_retry_in_a_txop_is_no_longer_than_announced() -> None:
    """0 and 1 are long, what follows them short. 0 is lost: the TXOP is announced for 2 and 3, and it does not fit."""
    air = jammed(edca=True)
    edca(air, 2528, 1)
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, 2, 0))
    send(air, 2)
    send(air, 4, length=100)
    air.send(2, b"\xff" * 6, bytes(72), at=round((passes(0)[0] + 50) * US), rate=540, freq=FREQ)
    air.run(20_000 * US)
    data = [t for t in air.tx if t.station == 0]
    assert [of(air, t) for t in data[:2]] == [[0, 1], [0, 2]] and air.lost[0][2] == 0
    assert durations([data[0]]) == [SIFS + BA + SIFS + 36 + 4 * 7 + SIFS + BA]  # 2 and 3 are 206 bytes
    backoff = data[1].start / US - data[0].end / US - SIFS - BA - 16 - 3 * SLOT
    assert backoff / SLOT in range(16)
    assert all(over <= until for over, until in announced(air))


def test_what_comes_during_a_txop_goes_only_as_far_as_announced() -> None:
    """3 to 6 come after the Duration was set for 2 alone, which is 1530 bytes: none of them fits."""
    air = made(mutual(2, {}, NEAR), edca=True, queue=200)
    edca(air, 2528)
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, 2, 0))
    send(air, 3)
    send(air, 4, 1300, length=100)
    air.run(20_000 * US)
    data = [t for t in air.tx if t.station == 0]
    assert [of(air, t) for t in data] == [[0, 1], [2], [3, 4], [5, 6]]
    assert data[1].start / US == data[0].end / US + SIFS + BA + SIFS
    assert all(over <= until for over, until in announced(air)) and announced(air)


@given(
    st.lists(st.tuples(st.sampled_from([60, 400, LENGTH, 3000]), st.integers(1, 4), st.integers(1000, 5000)),
             min_size=2, max_size=20),
    st.lists(st.integers(1000, 8000), max_size=20), st.integers(1, 4), st.sampled_from([700, 2528, 4096]),
    st.booleans(),
)  # fmt: skip
@examples(100)
def test_no_exchange_of_a_txop_outlasts_what_was_announced(traffic, jams, mpdus, limit, rts):  # type: ignore[no-untyped-def]
    """Whatever is lost and whatever comes meanwhile; 2 is hidden from 0, and corrupts anything."""
    air = jammed(edca=True, queue=200)
    edca(air, limit, 1)
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, mpdus, 0))
    events = [(at, length, n) for length, n, at in traffic] + [(at, 0, 0) for at in jams]
    for at, length, n in sorted(events):
        if n:
            send(air, n, at, length=length, rts=rts)
        else:
            air.send(2, b"\xff" * 6, bytes(72), at=at * US, rate=540, freq=FREQ)
    air.run(10**9)
    assert all(over <= until for over, until in announced(air))


def test_rts_once_a_txop() -> None:
    air = made(mutual(2, {}, NEAR), edca=True, queue=200)
    edca(air, 2528)
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, 6, 0))
    send(air, 9, rts=True)
    air.run(100_000 * US)
    assert [t.kind for t in air.tx] == ["rts", "cts", "other", "ack", "other", "ack"]
    assert [len(of(air, t)) for t in air.tx[2::2]] == [6, 3]
    assert air.tx[4].start == air.tx[3].end + SIFS * US


def test_what_goes_alone_keeps_its_place() -> None:
    """Rate controls try a rate with one frame: no other is in its PPDU, and none overtakes it."""
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1)
    send(air, 2)
    send(air, 1, alone=True)
    send(air, 2)
    air.run(20_000 * US)
    assert [of(air, t) for t in air.tx if t.station == 0] == [[0, 1], [2], [3, 4]]
    assert [it[2:5] for it in air.sent] == [(2, 2, 2), (1, 1, 1), (2, 2, 2)]


def test_agreements_do_not_mix() -> None:
    """Frames for two recipients alternate in one queue: each PPDU has those of one, in their order."""
    air = made(mutual(3, {}, NEAR))
    for to in (1, 2):
        air.agree(0, to)
    for i in range(6):
        send(air, 1, to=1 + i % 2)
    air.run(10_000 * US)
    data = [t for t in air.tx if t.station == 0]
    assert [(t.receiver, of(air, t)) for t in data] == [(1, [0, 1, 2]), (2, [0, 1, 2])]


def test_the_kinds_of_its_mpdus_are_counted() -> None:
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1)
    send(air, 4)
    air.run(10_000 * US)
    sent, got = air.counters(0), air.counters(1)
    assert sent.tx[7] == 4 and got.addressed[7][0] == got.rx[7][0] == 4 and sent.end[7][0] == 4
    assert sent.tx_ns == air.tx[0].end - air.tx[0].start


def test_an_agreement_that_ends_before_its_block_ack_is_sent() -> None:
    """It is not sent, and its memory may go at once."""
    air = made(mutual(2, {}, NEAR))
    air.agree(0, 1, tries=1)
    send(air, 2)
    air.run(round((1000 + ppdu(2) + 3) * US))
    air.lib.dcf_end_scoreboard(air.memory, 1, air.sessions[0, 1, 0][1])
    air.run(10_000 * US)
    assert len(air.tx) == 1 and len(air.delivered) == 2
    assert ends(air) == [(1, "SHORT_LIMIT"), (2, "SHORT_LIMIT")]


def test_protection_from_80211b() -> None:
    """At 2.4 GHz a CTS to itself goes at 11 Mb/s before an aggregate; each PPDU of HT ends with 6 us of silence."""
    phy = Phy(9 * US, 10 * US, 15, 1023, 6 * US, 0b101011111, 2250)
    air = Core(mutual(2, {}, NEAR), phy=phy, modes=(HT,), freq=2412)
    air.agree(0, 1)
    for _ in range(2):
        air.send_mpdu(0, 1, LENGTH, 1000 * US, mode=FIRST, freq=2412, cts_to_self=True)
    air.run(10_000 * US)
    cts, sifs = 192 + 11, 10
    data = 1000 + cts + sifs
    assert shape(air.tx) == [
        ("cts", 0, 1000, 1000 + cts), ("other", 0, data, data + ppdu(2) + 6),
        ("ack", 1, data + ppdu(2) + 6 + sifs, data + ppdu(2) + 6 + sifs + BA + 6),
    ]  # fmt: skip
    assert [t.rate for t in air.tx] == [110, HT.rate, 240]


@pytest.mark.parametrize(("mcs", "rate"), [(0, 60), (1, 120), (2, 120), (3, 240), (4, 240), (5, 240), (7, 240)])
def test_answers_go_by_the_reference_rate(mcs: int, rate: int) -> None:
    """10.6.11: BPSK 1/2 counts as 6 Mb/s, QPSK as 12 and 18, 16-QAM as 24 and 36; basic are 6, 12 and 24."""
    air = made(mutual(2, {}, NEAR), modes=(mode(mcs=mcs),))
    air.agree(0, 1)
    send(air, 2, length=100)
    air.run(10_000 * US)
    assert [(t.kind, t.rate) for t in air.tx[1:]] == [("ack", rate)]


def test_an_a_msdu_is_what_its_first_msdu_is() -> None:
    """9.2.4.5.9, 9.3.2.2.2: QoS Control says that subframes follow, each with a header of 14 bytes."""
    head = bytes((0x88, 1)) + bytes(22)
    one = head + bytes(2) + tcp(1000)
    several = head + bytes((0x80, 0)) + bytes(14) + tcp(1000)
    kinds = [library().dcf_classify(frame, len(frame)) for frame in (one, several)]
    assert kinds == [3, 3]


def test_what_a_delimiter_of_ht_cannot_count_goes_alone() -> None:
    """An A-MSDU of more than 4095 bytes, FCS included: in VHT it goes with others."""
    for modes, together in (((HT,), False), ((mode("vht", 7),), True)):
        air = made(mutual(2, {}, NEAR), modes=modes)
        air.agree(0, 1)
        for length in (4095, 4096, 4095):
            send(air, 1, length=length)
        air.run(30_000 * US)
        data = [of(air, t) for t in air.tx if t.station == 0]
        assert data == ([[0, 1, 2]] if together else [[0], [1], [2]])


@pytest.mark.parametrize(("begin_us", "lost"), [(2.0, {0, 1}), (9.0, {1, 2}), (25.0, {2, 3}), (13.0, {1, 2})])
def test_what_lies_between_mpdus_can_be_lost(begin_us: float, lost: set[int]) -> None:
    """MPDUs of 60 bytes that begin 16.2 us apart, at 65 Mb/s, each for 7.9 us. A frame of 28 us corrupts
    two of them; where it begins or ends between two it corrupts neither."""
    air = jammed()
    air.agree(0, 1, limits=Limits(65_535, 5_484_000, 64, 16_000))
    send(air, 5, length=60)
    data = 1000 + 36 + 16 * 4 / 260
    air.send(2, b"\xff" * 6, bytes(4), at=round((data + begin_us) * US), rate=540, freq=FREQ)
    air.run(1_900 * US)
    assert [m.offset for m in air.mpdus[:5]] == [132 * i for i in range(5)]  # 16 us are 130 bytes
    jam = next(t for t in air.tx if t.station == 2)
    assert jam.end - jam.start == 28 * US
    assert {place for _, station, place, _, _ in air.lost if station == 1} == lost


def amsdu(lengths: list[int], to: int, station: int = 0) -> bytes:
    """The body of an A-MSDU as mac80211 makes it (9.3.2.2.2): each MSDU after its addresses and its length, padded to a
    multiple of 4 bytes but for the last. MSDUs begin with LLC/SNAP."""
    body = b""
    for length in lengths:
        body += bytes(-len(body) % 4)
        body += address(to) + address(station) + length.to_bytes(2, "big") + tcp(length - 48)
    return body


@pytest.mark.parametrize(
    ("form", "limit", "msdus", "length"),
    [  # MSDUs of 1508 bytes: 1522 each with header, and 2 of padding
        ("ht", 3839, 2, 3046), ("ht", 7935, 5, 7618), ("vht", 3839, 2, 3046), ("vht", 7935, 5, 7618),
        ("vht", 11_398, 7, 10_666),
    ],
)  # fmt: skip
def test_a_msdus(form: str, limit: int, msdus: int, length: int) -> None:
    """As many as the limit lets in; on the air to the nanosecond, alone in a PPDU and, where the delimiter can count
    them, with others. They are acknowledged as one MPDU, and come as they were sent."""
    body = amsdu([1508] * msdus, 1)
    assert len(body) == length <= limit < len(amsdu([1508] * (msdus + 1), 1))
    assert (
        len(body) + 56 <= {3839: 3895, 7935: 7991, 11_398: 11_454}[limit]
    )  # with the longest header, security and FCS
    air = made(mutual(2, {}, NEAR), modes=(mode(form, 7),))
    air.agree(0, 1)
    for _ in range(3):
        air.send_mpdu(0, 1, 30 + length, 1000 * US, mode=FIRST, freq=FREQ, body=body, a_msdu=True)
    air.run(30_000 * US)
    data = [t for t in air.tx if t.station == 0]
    together = form == "vht" or 30 + length <= 4095
    assert [of(air, t) for t in data] == ([[0, 1, 2]] if together else [[0], [1], [2]])
    subframe = 4 + 30 + length + (-(30 + length) % 4)
    psdu = 2 * subframe + 4 + 30 + length if together else 30 + length
    preamble = {"ht": 36, "vht": 40}[form]
    assert {t.end - t.start for t in data} == {(preamble + 4 * ceil((22 + 8 * psdu) / 260)) * US}
    assert {t.kind for t in data} == {"tcp_data"}  # what its first MSDU is
    assert [content[26:] for _, to, content in air.delivered] == [body] * 3
    assert [why for _, why in ends(air)] == ["ACKED"] * 3


@pytest.mark.parametrize(("form", "most"), [(None, 4095), ("ht", 7991), ("vht", 11_454), ("he", 11_454)])
def test_an_mpdu_that_a_format_cannot_carry_is_refused(form: str | None, most: int) -> None:
    modes = (
        (HT,) if form is None else (mode(form, 7, **({"guard": 800, "ltf": 2, "ldpc": True} if form == "he" else {})),)
    )
    air = made(mutual(2, {}, NEAR), modes=modes)
    air.agree(0, 1)
    place = 11 if form is None else FIRST
    send(air, 1, length=most, mode=place)
    send(air, 1, length=most + 1, mode=place)
    air.run(30_000 * US)
    assert ends(air) == [(2, "REFUSED"), (1, "ACKED")]


LEGACY = 1 << FORMATS.index("dsss") | 1 << FORMATS.index("ofdm")


@pytest.mark.parametrize("protection", [{}, {"rts": True}, {"cts_to_self": True}], ids=["none", "rts", "cts-to-self"])
def test_protection_from_stations_of_80211a(protection: dict[str, bool]) -> None:
    """2 decodes no HT. It senses the PPDU, but does not know its Duration; with a CTS before it, or an RTS, it counts
    from the end of the block ACK. Without EIFS, which protects an answer in any case."""
    air = made(mutual(3, {(0, 1): NEAR, (0, 2): NEAR}), eifs=0)
    assert air.lib.dcf_set_formats(air.memory, 2, LEGACY)
    air.agree(0, 1)
    send(air, 4, **protection)
    air.send(2, 0, bytes(100), at=1100 * US, rate=540, freq=FREQ)
    air.run(10_000 * US)
    first = next(t for t in air.tx if t.kind == "other")
    over = first.end / US + (SIFS + BA if protection else 0)
    third = next(t for t in air.tx if t.station == 2)
    assert (third.start / US - over - DIFS) / SLOT in range(16)
    assert air.counters(2).nav_ns == ((over - air.tx[0].end / US) * US if protection else 0)
    assert not [r for r in air.rx if r.id == first.id and r.station == 2 and r.outcome == "OK"]


def test_a_station_of_80211a_that_is_hidden_obeys_the_cts() -> None:
    """It hears the recipient only: without RTS it corrupts what it overlaps, with it all comes well."""
    for rts in (False, True):
        air = made(mutual(3, {(0, 1): NEAR, (1, 2): NEAR}))
        assert air.lib.dcf_set_formats(air.memory, 2, LEGACY)
        air.agree(0, 1)
        send(air, 4, rts=rts)
        air.send(2, b"\xff" * 6, bytes(72), at=1450 * US, rate=540, freq=FREQ)
        air.run(10_000 * US)
        other = next(t for t in air.tx if t.station == 2)
        last = next(t for t in air.tx if t.kind == "other" and t.station == 0)
        assert (other.start == 1450 * US and len(air.lost) == 1) if not rts else other.start > last.end and not air.lost


def test_a_station_of_80211b_obeys_a_cts_at_its_rate() -> None:
    """At 2.4 GHz it knows DSSS only: of HT it senses the energy, of the CTS at 11 Mb/s it hears the Duration."""
    phy = Phy(9 * US, 10 * US, 15, 1023, 6 * US, 0b101011111, 2250)
    for protected in (False, True):
        air = Core(mutual(3, {(0, 1): NEAR, (0, 2): NEAR}), phy=phy, modes=(HT,), freq=2412)
        assert air.lib.dcf_set_formats(air.memory, 2, 1 << FORMATS.index("dsss"))
        air.agree(0, 1)
        for _ in range(2):
            air.send_mpdu(0, 1, LENGTH, 1000 * US, mode=FIRST, freq=2412, cts_to_self=protected)
        air.send(2, 0, bytes(100), at=1250 * US, rate=110)
        air.run(10_000 * US)
        sent = next(t for t in air.tx if t.kind == "other" and t.station == 0)
        over = sent.end / US + (10 + BA + 6 if protected else 0)
        third = next(t for t in air.tx if t.station == 2)
        assert (third.start / US - over - 28) / SLOT in range(16)


def test_formats_that_are_not_there() -> None:
    air = made(mutual(2, {}, NEAR))
    assert not air.lib.dcf_set_formats(air.memory, 2, LEGACY) and not air.lib.dcf_set_formats(air.memory, 0, 1 << 5)


VHT80 = mode("vht", 7, width=80)
STEP_DB = 20  # a bit always arrives from here on


def in_channels(power: int, jammer_mhz: int, *, primary_mhz: int = FREQ, reception: int = 1, **options: object) -> Core:
    """0 sends four MPDUs in 80 MHz to 1, who hears `power`; 2, whom 0 does not hear, sends in 20 MHz meanwhile, and
    1 hears NEAR of that. Below STEP_DB each bit costs what loses MPDUs for certain."""
    matrix = mutual(4, {(0, 1): power, (2, 3): NEAR})
    matrix[2][1] = NEAR
    air = made(matrix, modes=(VHT80,), reception=reception, **options)
    for curve in range(34):
        assert air.lib.dcf_set_curve(air.memory, curve, Errors(1000 * STEP_DB - 1, 1, 2, (1 << 30, 0)))
    air.agree(0, 1)
    for station, freq in ((0, primary_mhz), (1, primary_mhz), (2, jammer_mhz), (3, jammer_mhz)):
        air.tune(station, freq)
    for _ in range(4):
        air.send_mpdu(0, 1, 3000, 1000 * US, mode=FIRST, freq=primary_mhz)
    air.send(2, b"\xff" * 6, bytes(72), at=1100 * US, rate=540, freq=jammer_mhz)
    air.run(1_500 * US)
    return air


@pytest.mark.parametrize("reception", [0, 1])
@pytest.mark.parametrize(
    ("jammer_mhz", "spoils"),
    [
        (5180, True),
        (5200, True),
        (5220, True),
        (5240, True),
        (5260, False),
        (5320, False),
        (5500, False),
        (5745, False),
    ],
)
def test_interference_in_one_20_mhz_channel(jammer_mhz: int, spoils: bool, reception: int) -> None:
    """A PPDU of 80 MHz at channels 36 to 48, whichever is its primary: what overlaps it in any of them corrupts the
    MPDUs that pass meanwhile, and no others; what lies beside does not."""
    for primary_mhz in (5180, 5240):
        air = in_channels(NEAR, jammer_mhz, primary_mhz=primary_mhz, reception=reception)
        jam = next(t for t in air.tx if t.station == 2)
        data = 1000 + 40
        symbol = 4 / VHT80.bits
        overlapped = {
            i for i in range(4)
            if data + (16 + 8 * 3004 * i) * symbol < jam.end / US
            and jam.start / US < data + (16 + 8 * (3004 * i + 3004)) * symbol
        }  # fmt: skip
        assert jam.start == 1100 * US and 0 < len(overlapped) < 4
        assert {it[2:] for it in air.lost if it[1] == 1} == (
            {(i, "COLLISION", 2) for i in overlapped} if spoils else set()
        )
        assert len([to for _, to, _ in air.delivered if to == 1]) == 4 - len(overlapped) * spoils


def test_the_noise_is_that_of_the_width() -> None:
    """Four channels have four times the noise: what arrives with 400 times that of one is 20 dB above it in 80 MHz."""
    for power, came in ((100, 0), (396, 0), (404, 4)):
        air = in_channels(power, 5500)
        assert len([to for _, to, _ in air.delivered if to == 1]) == came


@given(st.integers(0, 3), st.integers(0, 2**32))
@examples(20)
def test_a_bit_costs_the_mean_of_its_channels(quarters: int, seed: int) -> None:
    """Interference lasts in some of four channels for all of a PPDU: each MPDU is lost as often as if so many quarters
    of its bits were sent at that cost. Within five standard deviations."""
    cost = 2**40 // (8 * 3004)  # of a bit: 1 for an MPDU
    matrix = mutual(6, {(0, 1): NEAR})
    for jammer in range(2, 6):
        matrix[jammer][1] = NEAR
    air = made(matrix, modes=(VHT80,), reception=1, seed=seed, queue=300)
    for curve in range(12, 34):
        assert air.lib.dcf_set_curve(air.memory, curve, Errors(1000 * STEP_DB - 1, 1, 2, (cost, 0)))
    air.agree(0, 1, limits=Limits(1_048_575, 5_484_000, 64, 0))
    for jammer in range(quarters):
        air.tune(2 + jammer, 5200 + 20 * jammer)
    for jammer in range(quarters):
        air.send(2 + jammer, b"\xff" * 6, bytes(2300), at=990 * US, rate=60, freq=5200 + 20 * jammer)
    for _ in range(37):
        air.send_mpdu(0, 1, 3000, 1000 * US, mode=FIRST, freq=FREQ)
    air.run(4_100 * US)
    ppdu = air.tx[quarters]
    assert all(jam.start <= ppdu.start and jam.end >= ppdu.end for jam in air.tx[:quarters])
    sent = len(of(air, ppdu))
    lost = len([it for it in air.lost if it[0] == ppdu.id and it[1] == 1])
    p = 1 - exp(-quarters / 4)
    assert sent == 37 and abs(lost - p * sent) <= 5 * (p * (1 - p) * sent) ** 0.5


@pytest.mark.parametrize("reception", [0, 1])
def test_what_a_station_senses_of_a_wide_ppdu_on_another_primary(reception: int) -> None:
    """A quarter of its power, if it covers the station's own channel: 10 is sensed."""
    for power, freq, defers in ((40, 5220, True), (39, 5220, False), (NEAR, 5260, False)):
        air = made(mutual(4, {(0, 1): NEAR, (0, 2): power, (2, 3): NEAR}), modes=(VHT80,), reception=reception)
        air.agree(0, 1)
        for station in (2, 3):
            air.tune(station, freq)
        for _ in range(4):
            air.send_mpdu(0, 1, 3000, 1000 * US, mode=FIRST, freq=FREQ)
        air.send(2, b"\xff" * 6, bytes(72), at=1100 * US, rate=540, freq=freq)
        air.run(10_000 * US)
        sent, other = (next(t for t in air.tx if t.station == station) for station in (0, 2))
        assert other.start >= sent.end + 34 * US if defers else other.start == 1100 * US
        assert not [r for r in air.rx if r.id == sent.id and r.station == 2]
