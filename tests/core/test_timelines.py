# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges by hand, to the microsecond: DSSS, 2 Mb/s data, 1 Mb/s control, long preamble (192 us), no distance.

Airtimes: RTS 352, CTS and ACK 304, DATA with 1460 B of TCP payload (1536 B) 6336, TCP ACK (76 B) 496. SIFS 10, slot 20,
DIFS 50, EIFS 10 + 304 + 50 = 364.

Where a test is not about backoff, it reads the backoff from the trace. It then states which multiples of a slot are
possible, and checks everything else to the microsecond.
"""

import ctypes as c

import pytest
from dcf import US, Core, Errors, Phy, Tx, dsss, mutual, tcp

DATA, TACK = tcp(1460), tcp(0)
RTS_US, CTS_US, ACK_US, DATA_US, TACK_US = 352, 304, 304, 6336, 496
SIFS, SLOT, DIFS, EIFS = 10, 20, 50, 364
TIMEOUT = SIFS + SLOT + 192  # CTSTimeout and ACKTimeout: SIFS + slot + aRxPHYStartDelay
NEAR = 1000  # attowatts; reception from 100, carrier sense from 10


def shape(tx: list[Tx]) -> list[tuple[str, int, float, float]]:
    return [(t.kind, t.station, t.start / US, t.end / US) for t in tx]


def slots(later_us: float, earlier_us: float) -> float:
    return (later_us - earlier_us) / SLOT


def test_basic_exchange() -> None:
    """10.3.4.2: idle for DIFS, then DATA, SIFS, ACK; the next frame after a post-backoff of whole slots."""
    air = Core(mutual(2, {}, NEAR))
    air.send(0, 1, DATA, at=1000 * US)
    air.send(0, 1, DATA, at=1000 * US)
    air.run(50_000 * US)
    first, second = air.tx[0].start / US, air.tx[2].start / US
    assert shape(air.tx[:2]) == [("tcp_data", 0, 1000, 7336), ("ack", 1, 7346, 7650)]
    assert first == 1000  # it had been idle for longer than DIFS
    assert slots(second, 7650 + DIFS) in range(32)
    assert [(f[1], f[2]) for f in air.finished] == [(0, "ACKED"), (0, "ACKED")]
    assert [(t, to) for t, to, _ in air.delivered] == [(7336 * US, 1), (int(second + DATA_US) * US, 1)]
    assert air.finished[0][0] == 7650 * US


def test_frame_that_comes_within_difs_waits_for_its_end() -> None:
    air = Core(mutual(2, {}, NEAR))
    air.send(0, 1, TACK, at=10 * US)
    air.run(2000 * US)
    assert air.tx[0].start == DIFS * US


def test_rts_cts_exchange_and_durations() -> None:
    """10.3.2.7, 10.3.2.9, 9.3.1.2-4: RTS, CTS, DATA, ACK a SIFS apart; each Duration lasts to the end of the ACK."""
    air = Core(mutual(2, {}, NEAR))
    air.send(0, 1, DATA, at=1000 * US, rts=True)
    air.run(50_000 * US)
    assert shape(air.tx) == [
        ("rts", 0, 1000, 1352), ("cts", 1, 1362, 1666), ("tcp_data", 0, 1676, 8012), ("ack", 1, 8022, 8326),
    ]  # fmt: skip
    durations = [int.from_bytes(t.bytes[2:4], "little") for t in air.tx]
    assert [t.end // US + d for t, d in zip(air.tx, durations, strict=True)] == [8326] * 4


def test_propagation_delay_shifts_each_step() -> None:
    delay = 667  # ns: 200 m
    air = Core(mutual(2, {}, NEAR), [[0, delay], [delay, 0]])
    air.send(0, 1, DATA, at=1000 * US)
    air.run(50_000 * US)
    assert air.tx[1].start == (1000 + DATA_US + SIFS) * US + delay
    assert air.finished[0][0] == air.tx[1].end + delay


def test_lost_ack_is_sent_again_with_retry_and_delivered_twice() -> None:
    """10.3.2.9: no ACK within ACKTimeout, so the frame is sent again, Retry set; mac80211 drops the duplicate."""
    air = Core([[0, NEAR], [5, 0]])  # nothing comes back from 1
    air.send(0, 1, TACK, at=1000 * US)
    air.run(10_000 * US)
    again = [t for t in air.tx if t.kind == "tcp_ack"]
    timeout = 1000 + TACK_US + TIMEOUT
    assert [t.bytes[1] & 8 for t in again[:2]] == [0, 8]
    assert [t.attempt for t in again[:2]] == [1, 2]
    assert slots(again[1].start / US, timeout) in range(64)  # DIFS is over when the timeout strikes
    assert len([d for d in air.delivered if d[1] == 1]) >= 2


def test_lost_cts_is_followed_by_another_rts() -> None:
    """10.3.2.7: no CTS within CTSTimeout."""
    air = Core([[0, NEAR], [5, 0]])
    air.send(0, 1, DATA, at=1000 * US, rts=True)
    air.run(10_000 * US)
    rts = [t for t in air.tx if t.kind == "rts"]
    assert slots(rts[1].start / US, 1000 + RTS_US + TIMEOUT) in range(64)
    assert {t.kind for t in air.tx} == {"rts", "cts"}


def test_retry_limits() -> None:
    """10.3.4.4: 7 attempts at an RTS; 4 at DATA after RTS, each after a CTS; 7 at a frame without RTS."""
    gone = Core(mutual(2, {}))  # no station hears another
    gone.send(0, 1, DATA, at=0, rts=True)
    gone.send(0, 1, TACK, at=0)
    gone.run(10**9)
    assert [(e.kind, e.reason, e.short, e.long) for e in gone.end] == [
        ("tcp_data", "RTS_LIMIT", 7, 0), ("tcp_ack", "SHORT_LIMIT", 7, 0),
    ]  # fmt: skip
    assert [t.kind for t in gone.tx] == ["rts"] * 7 + ["tcp_ack"] * 7


def test_data_after_rts_has_the_long_limit() -> None:
    """10.3.4.4: each RTS succeeds, and 2, whom no other station hears, corrupts each ACK at 0: DATA is sent four
    times."""
    power = mutual(3, {(0, 1): NEAR})
    power[2][0] = NEAR
    air = Core(power)
    air.send(0, 1, DATA, at=0, rts=True)
    for _ in range(4):
        sent = len(air.tx)
        while not any(t.kind == "tcp_data" for t in air.tx[sent:]):
            air.run(air.now + 100 * US)
        air.send(2, b"\xff" * 6, TACK, at=air.tx[-1].end + 100 * US)
    air.run(10**9)
    assert [(e.reason, e.short, e.long) for e in air.end if e.station == 0] == [("LONG_LIMIT", 0, 4)]
    assert [t.kind for t in air.tx if t.station == 0] == ["rts", "tcp_data"] * 4
    assert air.counters(0).long_retries == 4


def test_cw_doubles_to_its_maximum_and_starts_again() -> None:
    """10.3.3: CW takes the next value after each failure, up to CWmax, and is CWmin again after the limit."""
    seen: list[int] = []
    for seed in range(400):
        air = Core(mutual(1, {}), seed=seed, short=12)
        air.send(0, 1, TACK, at=0)
        air.run(10**9)
        starts, ends = [t.start / US for t in air.tx], [t.end / US for t in air.tx]
        seen = [
            max(a, int(slots(s, e + TIMEOUT))) for a, s, e in zip(seen or [0] * 11, starts[1:], ends[:-1], strict=True)
        ]
    for top, cw in zip(seen, [63, 127, 255, 511, 1023, 1023, 1023, 1023, 1023, 1023, 1023], strict=True):
        assert 0.9 * cw < top <= cw


def test_eifs_after_an_errored_frame_and_difs_after_a_good_one() -> None:
    """10.3.2.3.7: 2 receives what 0 and 3 sent at once, and waits EIFS; the next good frame ends that."""
    power = mutual(4, {(0, 2): NEAR, (2, 3): NEAR, (1, 2): NEAR})
    air = Core(power)
    air.send(0, b"\xff" * 6, TACK, at=1000 * US)
    air.send(3, b"\xff" * 6, TACK, at=1000 * US)  # hidden from 0: they overlap at 2
    air.send(2, b"\xff" * 6, TACK, at=1100 * US)
    air.run(5000 * US)
    mine = next(t for t in air.tx if t.station == 2)
    assert [r.outcome for r in air.rx if r.station == 2] == ["COLLISION", "COLLISION"]
    assert slots(mine.start / US, 1000 + TACK_US + EIFS) in range(32)
    good = Core(power)
    good.send(0, b"\xff" * 6, TACK, at=1000 * US)
    good.send(2, b"\xff" * 6, TACK, at=1100 * US)
    good.run(5000 * US)
    assert slots(next(t for t in good.tx if t.station == 2).start / US, 1000 + TACK_US + DIFS) in range(32)


@pytest.mark.parametrize(
    ("phy", "freq", "rate", "eifs"),
    [
        (dsss(basic_rates=0b10), 2412, 20, 10 + 304 + 50),
        (dsss(slot_ns=9 * US, basic_rates=0b10101 << 4, signal_extension_ns=6 * US), 2412, 540, 10 + 304 + 28),
        (dsss(slot_ns=9 * US, basic_rates=0b10100 << 4, sifs_ns=16 * US), 5180, 540, 16 + 44 + 34),
    ],
    ids=["HR/DSSS", "ERP", "OFDM"],
)
def test_eifs_has_the_lowest_mandatory_rate(phy: Phy, freq: int, rate: int, eifs: int) -> None:
    """10.3.2.3.7: an ACK at the lowest rate that the PHY must know, 1 Mb/s at 2.4 GHz and 6 Mb/s at 5 GHz, whatever
    the basic rates are."""
    air = Core(mutual(4, {(0, 2): NEAR, (2, 3): NEAR, (1, 2): NEAR}), phy=phy)
    for station in (0, 2, 3):
        air.tune(station, freq)
    for station in (0, 3):
        air.send(station, b"\xff" * 6, TACK, at=1000 * US, rate=rate, freq=freq)
    air.send(2, b"\xff" * 6, TACK, at=1010 * US, rate=rate, freq=freq)
    air.run(5000 * US)
    spoilt, mine = air.tx[0], next(t for t in air.tx if t.station == 2)
    waited = mine.start - spoilt.end - eifs * US
    assert waited % phy.slot_ns == 0
    assert waited // phy.slot_ns in range(phy.cw_min + 1)


@pytest.mark.parametrize(("rate", "extension", "harmless"), [(540, 6, 6), (540, 0, 0), (20, 6, 0)])
def test_the_signal_extension_has_no_bits(rate: int, extension: int, harmless: int) -> None:
    """10.3.8: the last 6 us of an ERP-OFDM frame are silence. A signal that overlaps only that part corrupts no bit."""
    for before_end, outcome in ((harmless + 10, "COLLISION"), (harmless, "OK")):
        air = Core(
            mutual(3, {(0, 1): 100_000, (1, 2): 100_000}), phy=dsss(signal_extension_ns=extension * US), reception=1
        )
        for each in {10, 60, rate}:  # no errors above 10 dB, and below hardly a bit that is right
            steps = (c.c_uint64 * 256)(2**40 - 1, 0)
            assert air.lib.dcf_set_errors(air.memory, each, Errors(0, 10_000, 2, steps))
        air.send(0, b"\xff" * 6, DATA, at=1000 * US, rate=rate)
        air.run(1000 * US)
        end = air.tx[0].end
        air.send(2, b"\xff" * 6, TACK, at=end - before_end * US, rate=rate)
        air.run(10_000 * US)
        assert [r.outcome for r in air.rx if r.id == 1] == [outcome]


def test_energy_alone_means_eifs_only_by_ns2s_rule() -> None:
    """10.3.2.3.7 speaks of frames; ns-2 also waits EIFS after a signal between the two thresholds."""
    for rule, wait in ((1, DIFS), (2, EIFS)):
        air = Core(mutual(2, {(0, 1): 50}), eifs=rule)
        air.send(0, b"\xff" * 6, TACK, at=1000 * US)
        air.send(1, b"\xff" * 6, TACK, at=1100 * US)
        air.run(5000 * US)
        assert slots(air.tx[1].start / US, 1000 + TACK_US + wait) in range(32)


def test_nav_holds_back_a_station_that_hears_the_cts_only() -> None:
    """10.3.2.4: hidden from the sender, 2 hears the CTS and stays silent until the ACK is over."""
    air = Core(mutual(3, {(0, 1): NEAR, (1, 2): NEAR}))
    air.send(0, 1, DATA, at=1000 * US, rts=True)
    air.send(2, 1, TACK, at=3000 * US)
    air.run(50_000 * US)
    assert shape(air.tx[:4])[3] == ("ack", 1, 8022, 8326)
    assert slots(air.tx[4].start / US, 8326 + DIFS) in range(32)
    assert air.counters(2).nav_ns == (8326 - 1666) * US


def test_no_cts_while_the_nav_is_set() -> None:
    """10.3.2.7: 1 has heard 3's CTS to a hidden sender, so it does not answer an RTS."""
    #  0 - 1 - 3 - 4, and 4 hidden from 1 and 0
    air = Core(mutual(5, {(0, 1): NEAR, (1, 3): NEAR, (3, 4): NEAR}))
    air.send(4, 3, DATA, at=1000 * US, rts=True)
    air.send(0, 1, TACK, at=2000 * US, rts=True)
    air.run(2000 * US + (RTS_US + TIMEOUT) * US)
    rts = next(t for t in air.tx if t.station == 0)
    assert [r.outcome for r in air.rx if r.id == rts.id and r.station == 1] == ["OK"]
    assert not [t for t in air.tx if t.station == 1]


def test_nav_of_an_unanswered_rts_is_reset() -> None:
    """10.3.2.4: no PHY-RXSTART within 2 SIFS + CTS + aRxPHYStartDelay + 2 slots of the RTS, so the NAV is reset."""
    starts = {}
    for reset in (True, False):
        air = Core(mutual(3, {(0, 2): NEAR}), nav_reset=reset, short=1)  # 1 is out of reach: no CTS
        air.send(0, 1, DATA, at=1000 * US, rts=True)
        air.send(2, b"\xff" * 6, TACK, at=1100 * US)
        air.run(50_000 * US)
        starts[reset] = air.tx[1].start / US
    rts_end = 1000 + RTS_US
    assert slots(starts[True], rts_end + 2 * SIFS + CTS_US + 192 + 2 * SLOT + DIFS) in range(32)
    assert slots(starts[False], rts_end + SIFS + CTS_US + SIFS + DATA_US + SIFS + ACK_US + DIFS) in range(32)


def test_simultaneous_send_collides() -> None:
    """Equal slots: both send, neither hears the other, the receiver in between gets neither."""
    air = Core(mutual(3, {}, NEAR))
    air.send(0, 1, TACK, at=1000 * US)
    air.send(2, 1, TACK, at=1000 * US)
    air.run(1000 * US + TACK_US * US)
    assert shape(air.tx) == [("tcp_ack", 0, 1000, 1496), ("tcp_ack", 2, 1000, 1496)]
    assert {(r.station, r.outcome) for r in air.rx} == {
        (1, "COLLISION"), (0, "OWN_TX"), (2, "OWN_TX"),
    }  # fmt: skip
    assert air.counters(1).addressed[4][1] == 2


def test_hidden_terminal_corrupts_a_frame_and_its_rts_protects() -> None:
    """0 and 2 cannot hear each other. Without RTS their frames overlap at 1; with RTS the CTS tells 2."""
    plain = Core(mutual(3, {(0, 1): NEAR, (1, 2): NEAR}))
    plain.send(0, 1, DATA, at=1000 * US)
    plain.send(2, 1, DATA, at=2000 * US)
    plain.run(9000 * US)
    assert [(t.station, t.start / US) for t in plain.tx[:2]] == [(0, 1000), (2, 2000)]
    assert [(r.outcome, r.other) for r in plain.rx[:2]] == [("COLLISION", 2), ("COLLISION", 0)]
    safe = Core(mutual(3, {(0, 1): NEAR, (1, 2): NEAR}))
    safe.send(0, 1, DATA, at=1000 * US, rts=True)
    safe.send(2, 1, DATA, at=2000 * US, rts=True)
    safe.run(40_000 * US)
    assert {r.outcome for r in safe.rx} == {"OK"}
    assert [f[2] for f in safe.finished] == ["ACKED", "ACKED"]


def test_exposed_terminal_waits_in_vain() -> None:
    """1 sends to 0. 2 hears 1, and waits, though its receiver 3 hears nothing of 1."""
    air = Core(mutual(4, {(0, 1): NEAR, (1, 2): NEAR, (2, 3): NEAR}))
    air.send(1, 0, DATA, at=1000 * US)
    air.send(2, 3, DATA, at=2000 * US)
    air.run(40_000 * US)
    data = [t for t in air.tx if t.kind == "tcp_data"]
    ack_end = 1000 + DATA_US + SIFS + ACK_US  # 2 heard the Duration of DATA, not the ACK
    assert slots(data[1].start / US, ack_end + DIFS) in range(32)


def test_capture_first_signal_survives_what_is_ten_db_below() -> None:
    """ns-2's rule: the earlier frame survives at 10 dB, not below; the later one is lost even when stronger."""
    for ratio, outcome in ((10.0, "OK"), (9.9, "COLLISION")):
        air = Core(mutual(3, {(0, 1): int(1000 * ratio), (1, 2): 1000}))
        air.send(0, 1, DATA, at=1000 * US)
        air.send(2, 1, TACK, at=2000 * US)
        air.run(8000 * US)
        assert [r.outcome for r in air.rx if r.id == 1 and r.station == 1] == [outcome]
        assert [r.outcome for r in air.rx if r.id == 2 and r.station == 1] == ["COLLISION"]
    late = Core(mutual(3, {(0, 1): 1000, (1, 2): 100_000}))
    late.send(0, 1, DATA, at=1000 * US)
    late.send(2, 1, TACK, at=2000 * US)
    late.run(8000 * US)
    assert {r.outcome for r in late.rx if r.station == 1} == {"COLLISION"}


def test_own_transmission_makes_deaf() -> None:
    """Half duplex: 1 sends CTS-less DATA to 2 while 0's frame, hidden by asymmetry, comes in."""
    power = mutual(3, {(1, 2): NEAR})
    power[0][1] = NEAR
    power[1][0] = 0
    air = Core(power)
    air.send(1, 2, DATA, at=1000 * US)
    air.send(0, 1, TACK, at=2000 * US)
    air.run(3000 * US)
    assert [(r.station, r.outcome, r.other) for r in air.rx] == [(1, "OWN_TX", 1)]


def test_group_frames_get_no_ack_and_one_attempt() -> None:
    air = Core(mutual(3, {}, NEAR), [[0, 0, 900], [0, 0, 0], [900, 0, 0]])
    air.send(0, b"\xff" * 6, TACK, at=1000 * US)
    air.run(10_000 * US)
    assert [t.kind for t in air.tx] == ["tcp_ack"]
    assert [(t, to) for t, to, _ in air.delivered] == [(1496 * US, 1), (1496 * US + 900, 2)]
    assert [f[2] for f in air.finished] == ["GROUP"]


def test_queue_drops_the_tail() -> None:
    """One frame in service and three in the queue behind it; the fifth is dropped, counted, and reported at once."""
    air = Core(mutual(2, {}, NEAR), queue=3)
    for _ in range(5):
        air.send(0, 1, TACK, at=1000 * US)
    assert [(f[0], f[2]) for f in air.finished] == [(1000 * US, "QUEUE_FULL")]
    assert air.counters(0).end[4][6] == 1
    air.run(10**9)
    assert [f[2] for f in air.finished].count("ACKED") == 4


def test_an_access_points_beacon_is_next() -> None:
    """After the frame in service, though the queue is full; another that arrives meanwhile finds it waiting. A beacon
    of an IBSS has its place as any frame has."""
    for capability, beacons in ((1, [1]), (2, [])):
        air = Core(mutual(2, {}, NEAR), queue=3)
        for _ in range(4):
            air.send(0, 1, TACK, at=1000 * US)
        for _ in range(2):
            body = bytes(10) + bytes([capability, 0, 0, 0])
            air.send(0, b"\xff" * 6, body, at=1000 * US, beacon=True, no_ack=True)
        air.run(10**9)
        assert [n for n, t in enumerate(t for t in air.tx if t.kind != "ack") if t.kind == "management"] == beacons
        assert [f[2] for f in air.finished].count("QUEUE_FULL") == 2 - len(beacons)


def test_rate_stages_are_used_in_turn() -> None:
    """minstrel's stages: a number of attempts at each rate, then the next, whatever the station's limits."""
    air = Core(mutual(2, {}), stages=True, phy=dsss(basic_rates=1))
    air.send(0, 1, TACK, at=0, stages=[(110, 2), (55, 1), (10, 3)])
    air.run(10**9)
    assert [t.rate for t in air.tx] == [110, 110, 55, 10, 10, 10]
    assert [(f[2], f[3]) for f in air.finished] == [("STAGES", [2, 1, 3, 0])]


def test_cts_to_self_protects_an_ofdm_frame() -> None:
    """10.3.2.12, 10.26.2: a CTS to itself, at the highest basic rate of the stations that know DSSS only; SIFS, DATA;
    no station answers the CTS. Its Duration lasts to the end of the ACK, which is sent at 24 Mb/s."""
    air = Core(mutual(3, {}, NEAR), phy=dsss(basic_rates=0b11, signal_extension_ns=6000))
    air.send(0, 1, DATA, at=1000 * US, rate=540, cts_to_self=True)
    air.send(2, 1, TACK, at=1100 * US, rate=20)
    air.run(10_000 * US)
    data = 1000 + 192 + 56 + SIFS  # 14 bytes at 2 Mb/s; 20 + 57 symbols + 6; 20 + 2 symbols + 6
    ack = data + 254 + SIFS
    assert [(t.rate, t.start / US, t.end / US) for t in air.tx[:3]] == [
        (20, 1000, 1248), (540, data, data + 254), (240, ack, ack + 34),
    ]  # fmt: skip
    assert 1248 + int.from_bytes(air.tx[0].bytes[2:4], "little") == ack + 34
    assert slots(air.tx[3].start / US, ack + 34 + DIFS) in range(32)
    assert [(t.kind, t.station, t.receiver) for t in air.tx[:2]] == [("cts", 0, 0), ("tcp_data", 0, 1)]
    assert air.tx[1].start == air.tx[0].end + SIFS * US
    assert air.finished[0][2] == "ACKED"
