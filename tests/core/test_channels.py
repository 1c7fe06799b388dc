# SPDX-License-Identifier: BSD-3-Clause
"""Each frame has a channel. A station changes to it when the frame's turn comes, and contends there.

No station draws a slot here, so all times are known to the nanosecond. Airtimes are as in test_timelines.py, in us:
DATA 6336, TCP ACK 496, RTS 352, CTS and ACK 304; SIFS 10, DIFS 50.
"""

from __future__ import annotations

from typing import Any

from dcf import US, Core, Edca, address, dsss, mutual, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

DATA, TACK = tcp(1460), tcp(0)
DATA_US, TACK_US, RTS_US, CTS_US, ACK_US = 6336, 496, 352, 304, 304
SIFS, DIFS = 10, 50
NEAR = 1000
HERE, THERE = 2412, 2437
ALL = b"\xff" * 6


def made(power: list[list[int]] | int = 2, *there: int, **options: Any) -> Core:
    """Return an air in which these stations are on the other channel."""
    phy = dsss(cw_min=0, cw_max=0)
    air = Core(mutual(power, {}, NEAR) if isinstance(power, int) else power, phy=phy, **options)
    for station in there:
        air.tune(station, THERE)
    return air


def shape(air: Core) -> list[tuple[str, int, int, float]]:
    return [(t.kind, t.station, t.freq, t.start / US) for t in air.tx]


def heard(air: Core, station: int) -> list[tuple[str, int, str]]:
    kinds = {t.id: (t.kind, t.station) for t in air.tx}
    return [(*kinds[r.id], r.outcome) for r in air.rx if r.station == station]


def test_other_channels_are_silent() -> None:
    """Stations on other frequencies neither hear nor sense each other."""
    air = made(4, 2, 3)
    air.send(0, 1, DATA, at=1000 * US)
    air.send(2, 3, DATA, at=2000 * US, freq=THERE)
    air.run(20_000 * US)
    assert shape(air)[:2] == [("tcp_data", 0, HERE, 1000), ("tcp_data", 2, THERE, 2000)]
    assert {r.outcome for r in air.rx} == {"OK"}


def test_what_waits_goes_out_on_its_own_channel() -> None:
    """Three frames, and a fourth for another channel that arrives during the first one's ACK."""
    air = made(3, 2)
    for _ in range(3):
        air.send(0, 1, TACK, at=1000 * US)
    first_ack = 1000 + TACK_US + SIFS
    air.send(0, 2, TACK, at=(first_ack + 100) * US, freq=THERE)
    air.run(100_000 * US)
    each = TACK_US + SIFS + ACK_US + DIFS
    leaves = 1000 + 3 * each
    assert shape(air) == [
        *[
            one
            for n in range(3)
            for one in (("tcp_ack", 0, HERE, 1000 + n * each), ("ack", 1, HERE, first_ack + n * each))
        ],
        ("tcp_ack", 0, THERE, leaves + DIFS), ("ack", 2, THERE, leaves + DIFS + TACK_US + SIFS),
    ]  # fmt: skip
    assert [(e.reason, e.short) for e in air.end] == [("ACKED", 0)] * 4


def test_an_rts_is_answered_on_the_channel_it_went_out_on() -> None:
    """A frame that arrives while a CTS is awaited, or DATA after its own CTS, changes nothing in that exchange."""
    for station, to, at in ((0, 2, 1000 + RTS_US + 5), (1, 2, 1000 + RTS_US + SIFS + CTS_US + 5)):
        air = made(3, 2)
        air.send(0, 1, DATA, at=1000 * US, rts=True)
        air.send(station, to, TACK, at=at * US, freq=THERE)
        air.run(100_000 * US)
        over = 1000 + RTS_US + CTS_US + DATA_US + ACK_US + 3 * SIFS
        assert [t.freq for t in air.tx] == [HERE] * 4 + [THERE] * 2
        assert air.tx[4].start == (over + 2 * DIFS) * US
        assert [e.reason for e in air.end] == ["ACKED", "ACKED"]


def test_a_station_hears_its_new_channel_only() -> None:
    air = made(3, 2)
    air.send(0, 2, TACK, at=1000 * US, freq=THERE)
    air.send(1, 0, TACK, at=10_000 * US)  # 0 is away
    air.send(2, 0, TACK, at=40_000 * US, freq=THERE)
    air.run(100_000 * US)
    assert [(e.station, e.reason) for e in air.end] == [(0, "ACKED"), (1, "SHORT_LIMIT"), (2, "ACKED")]
    assert heard(air, 0) == [("ack", 2, "OK"), ("tcp_ack", 2, "OK")]
    assert air.counters(0).short_retries == 0


def test_it_waits_for_a_frame_that_passes_there_and_does_not_receive_it() -> None:
    """It has missed the preamble: it senses energy, and waits for its end and DIFS; the next ACK is received."""
    air = made(4, 2, 3)
    air.send(2, 3, DATA, at=1000 * US, freq=THERE)
    air.send(0, ALL, TACK, at=2000 * US, freq=THERE)
    air.run(100_000 * US)
    end = 1000 + DATA_US + SIFS + ACK_US
    assert shape(air)[2] == ("tcp_ack", 0, THERE, end + DIFS)
    assert heard(air, 0) == [("ack", 3, "OK")]
    assert [e.reason for e in air.end] == ["ACKED", "GROUP"]
    air.stop()
    assert air.counters(0).busy_ns == (end - 2000 - SIFS + TACK_US) * US


def test_what_passes_there_is_interference() -> None:
    """Missed, but present: an equally strong frame that arrives meanwhile is lost to it."""
    power = mutual(4, {(0, 2): NEAR, (0, 3): NEAR, (0, 1): NEAR})  # 2 and 3 are hidden from each other
    air = made(power, 2, 3)
    air.send(2, ALL, DATA, at=1000 * US, freq=THERE)
    air.send(0, ALL, TACK, at=2000 * US, freq=THERE)
    air.send(3, 0, TACK, at=3000 * US, freq=THERE)
    air.run(4000 * US)
    assert heard(air, 0) == [("tcp_ack", 3, "COLLISION")]
    assert [r.other for r in air.rx if r.station == 0] == [2]


def test_a_nav_stays_behind() -> None:
    """After a change of channel a station has no NAV and owes no answer."""
    air = made(3)
    air.send(0, 1, DATA, at=1000 * US, rts=True)
    air.run(2000 * US)
    nav = air.counters(2).nav_ns
    assert nav > 6000 * US
    air.tune(2, THERE)
    air.send(2, ALL, TACK, at=2000 * US, freq=THERE)
    air.run(100_000 * US)
    assert ("tcp_ack", 2, THERE, 2000 + DIFS) in shape(air)
    assert air.counters(2).nav_ns == (2000 - 1000 - RTS_US) * US
    owes = made(2)
    owes.send(0, 1, TACK, at=1000 * US)
    owes.run((1000 + TACK_US + SIFS // 2) * US)
    owes.tune(1, THERE)
    owes.run(2000 * US)
    assert {t.kind for t in owes.tx} == {"tcp_ack"}


def test_who_is_told_the_same_again_stays_where_its_frames_led_it() -> None:
    air = made(2, 1)
    air.send(0, 1, TACK, at=1000 * US, freq=THERE)
    air.run(5000 * US)
    air.tune(0, HERE)
    air.send(1, 0, TACK, at=6000 * US, freq=THERE)
    air.run(100_000 * US)
    assert [e.reason for e in air.end] == ["ACKED", "ACKED"]


def test_a_change_of_channel_takes_effect_when_it_comes() -> None:
    """Also long after the last event: a station that waited for a frame of 12 ms sends on the new channel a DIFS
    after."""
    air = made(2)
    air.send(0, 1, DATA, at=1000 * US, rate=10)
    air.send(1, ALL, TACK, at=2000 * US, freq=THERE)
    air.run(5000 * US)
    air.tune(1, THERE)
    air.run(9000 * US)
    assert shape(air)[1:] == [("tcp_ack", 1, THERE, 5000 + DIFS)]


def test_an_exchange_ends_on_its_channel_whatever_its_station_is_told() -> None:
    """Between CTS and DATA: DATA follows the CTS, and the ACK comes."""
    air = made(2)
    air.send(0, 1, DATA, at=1000 * US, rts=True)
    air.run((1000 + RTS_US + SIFS + CTS_US + SIFS // 2) * US)
    air.tune(0, THERE)
    air.run(100_000 * US)
    assert [(t.kind, t.freq) for t in air.tx] == [("rts", HERE), ("cts", HERE), ("tcp_data", HERE), ("ack", HERE)]


def test_of_four_functions_that_want_several_channels_the_first_frame_has_its_own() -> None:
    """A voice frame for another channel waits for a background frame that came before; a TXOP keeps to one channel."""
    air = made(3, 2, edca=True)
    for category in range(4):
        air.lib.dcf_set_edca(air.memory, 0, category, Edca(0, 0, 1000, 2))
    air.send(1, ALL, DATA, at=500 * US, priority=0)
    for at, to, freq, priority in ((1000, 1, HERE, 1), (1100, 2, THERE, 6), (1110, 1, HERE, 6), (1120, 1, HERE, 1)):
        air.send(0, to, TACK, at=at * US, freq=freq, priority=priority)
    air.run(100_000 * US)
    sent = [(t.freq, t.msdu) for t in air.tx if t.station == 0]
    assert sent == [(HERE, 1), (HERE, 4), (THERE, 2), (HERE, 3)]
    assert {e.reason for e in air.end if e.station == 0} == {"ACKED"}


def test_no_channel_is_none() -> None:
    air = made(2)
    air.send(0, 1, TACK, at=1000 * US, freq=0)
    air.run(100_000 * US)
    assert (air.tx, [e.reason for e in air.end]) == ([], ["REFUSED"])


N = 4
traffic = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N), st.sampled_from([0, 100, 1460]), st.integers(0, 40_000),
              st.booleans(), st.sampled_from([10, 110, 540]), st.sampled_from([HERE, HERE, THERE])),
    min_size=1, max_size=25,
)  # fmt: skip


@given(traffic, st.integers(0, 2**32), st.integers(0, 1), st.booleans())
@examples(200)
def test_whatever_is_sent_where(traffic: list[Any], seed: int, reception: int, edca: bool) -> None:
    """Each frame and each RTS is on the frame's channel, each answer on that of what it answers. All frames end, and
    the result does not depend on when the core is called."""
    raw = []
    for step in (None, 137 * US):
        air = Core(mutual(N, {}, NEAR), seed=seed, reception=reception, edca=edca)
        wanted: dict[tuple[int, int], int] = {}
        for number, (station, to, payload, at, rts, rate, freq) in enumerate(sorted(traffic, key=lambda t: t[3])):
            while step and air.now + step < at * US:
                air.run(air.now + step)
            air.send(station, ALL if to in (N, station) else to, tcp(payload), at=at * US, rate=rate, rts=rts,
                     freq=freq, priority=number % 8 if edca else None)  # fmt: skip
            wanted[station, 1 + sum(one[0] == station for one in wanted)] = freq
        while step and air.now < 300_000 * US:
            air.run(air.now + step)
        air.run(60 * 10**9)
        air.stop()
        raw.append(bytes(air.raw))
    assert raw[0] == raw[1]
    assert len(air.end) == len(traffic) and not air.frames
    for t in air.tx:
        if t.msdu:
            assert t.freq == wanted[t.station, t.msdu]
            continue
        asked = [o for o in air.tx if o.end + SIFS * US == t.start and o.freq == t.freq]
        assert any(address(o.station) == t.bytes[4:10] for o in asked)
