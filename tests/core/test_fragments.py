# SPDX-License-Identifier: BSD-3-Clause
"""Fragments of one MSDU follow each other by SIFS, after one contention (10.2.7).

No station draws a slot here. 2 Mb/s, long preamble, in us: a fragment of 200 bytes, 992; RTS 352, CTS and ACK 304; SIFS
10, DIFS 50.
"""

from __future__ import annotations

from dcf import US, Core, Edca, dsss, mutual, tcp

BODY = bytes(200 - 24 - 4)
FRAGMENT_US, RTS_US, CTS_US, ACK_US, TACK_US = 992, 352, 304, 304, 496
SIFS, DIFS = 10, 50
NEXT = FRAGMENT_US + SIFS + ACK_US + SIFS
NEAR = 1000


def made(stations: int = 2, **options: object) -> Core:
    return Core(mutual(stations, {}, NEAR), phy=dsss(cw_min=0, cw_max=0), **options)  # type: ignore[arg-type]


def fragments(air: Core, count: int, at: int, number: int = 7, **options: object) -> None:
    for at_fragment in range(count):
        more = 4 if at_fragment + 1 < count else 0
        air.send(0, 1, BODY, at=at * US, flags=more, sequence=number << 4 | at_fragment, **options)  # type: ignore[arg-type]


def shape(air: Core) -> list[tuple[str, int, float]]:
    return [(t.kind, t.station, t.start / US) for t in air.tx]


def over(air: Core) -> list[float]:
    """Return until when each frame's Duration lasts."""
    return [t.end / US + int.from_bytes(t.bytes[2:4], "little") for t in air.tx]


def test_a_burst_and_what_it_reserves() -> None:
    """Each fragment and its ACK reserve the medium for the next and its ACK; other stations wait for the end."""
    air = made(3)
    fragments(air, 3, 1000)
    air.send(2, 1, tcp(0), at=1500 * US)
    air.run(100_000 * US)
    ends = [1000 + NEXT * n - SIFS for n in (1, 2, 3)]
    assert shape(air) == [
        *[one for n in range(3) for one in (("other", 0, 1000 + n * NEXT),
                                            ("ack", 1, 1000 + n * NEXT + FRAGMENT_US + SIFS))],
        ("tcp_ack", 2, ends[2] + DIFS), ("ack", 1, ends[2] + DIFS + TACK_US + SIFS),
    ]  # fmt: skip
    assert over(air)[:6] == [ends[1], ends[1], ends[2], ends[2], ends[2], ends[2]]
    assert [(e.station, e.reason) for e in air.end] == [(0, "ACKED")] * 3 + [(2, "ACKED")]
    assert [time / US for time, to, _ in air.delivered[:3]] == [1000 + n * NEXT + FRAGMENT_US for n in range(3)]


def test_only_the_first_asks() -> None:
    """The ACK of a fragment acts as a CTS for the next."""
    air = made(punctual=True)
    fragments(air, 2, 1000, rts=True)
    air.run(100_000 * US)
    assert [t.kind for t in air.tx] == ["rts", "cts", "other", "ack", "other", "ack"]
    first = 1000 + RTS_US + SIFS + CTS_US + SIFS
    assert [t.start / US for t in air.tx[2::2]] == [first, first + NEXT]
    assert over(air)[:2] == [first + NEXT - SIFS] * 2 and over(air)[2:] == [first + 2 * NEXT - SIFS] * 4


def test_what_is_lost_is_sent_again_and_the_rest_follows() -> None:
    """It contends again; if it is given up, so is the rest of its MSDU, and nothing else."""
    air = made()
    fragments(air, 3, 1000)
    air.run((1000 + NEXT - 5) * US)
    air.link(1, 0, 50)  # 0 senses the ACK, and does not receive it
    air.run((1000 + 2 * NEXT) * US)
    air.link(1, 0, NEAR)
    air.run(100_000 * US)
    again = 1000 + 2 * NEXT - SIFS + DIFS
    mine = [(t.bytes[22], t.start / US) for t in air.tx if t.station == 0]
    assert mine == [(0x70, 1000), (0x71, 1000 + NEXT), (0x71, again), (0x72, again + NEXT)]
    assert [e.reason for e in air.end] == ["ACKED"] * 3
    deaf = made()
    deaf.link(1, 0, 1)
    fragments(deaf, 3, 1000)
    deaf.send(0, 1, BODY, at=1000 * US, sequence=8 << 4)
    deaf.run(10**9)
    assert [(e.reason, e.short) for e in deaf.end] == [("SHORT_LIMIT", 7), *[("REFUSED", 0)] * 2, ("SHORT_LIMIT", 7)]


def test_a_beacon_waits_for_the_last_fragment() -> None:
    air = made()
    fragments(air, 3, 1000)
    air.send(0, b"\xff" * 6, bytes(10) + b"\x01" + bytes(20), at=1500 * US, beacon=True)
    air.run(100_000 * US)
    assert [t.kind for t in air.tx if t.station == 0] == ["other"] * 3 + ["management"]


def test_what_only_looks_like_it_contends() -> None:
    """A fragment of another MSDU, one after a missing one, and one for another channel do not follow."""
    for second, freq in ((7 << 4 | 2, 2412), (8 << 4 | 1, 2412), (7 << 4 | 1, 2437)):
        air = made()
        air.send(0, 1, BODY, at=1000 * US, flags=4, sequence=7 << 4)
        air.send(0, 1, BODY, at=1000 * US, sequence=second, freq=freq)
        air.run(20_000 * US)
        end = 1000 + FRAGMENT_US + SIFS + ACK_US
        assert over(air)[0] == end
        assert air.tx[2].start / US == end + DIFS * (1 + (freq != 2412))


def test_a_category_without_a_txop_bursts_its_fragments() -> None:
    air = made(edca=True)
    air.lib.dcf_set_edca(air.memory, 0, 2, Edca(0, 0, 0, 2))
    fragments(air, 3, 1000)
    air.run(100_000 * US)
    starts = [t.start / US for t in air.tx if t.station == 0]
    assert [start - starts[0] for start in starts] == [0, NEXT, 2 * NEXT]
