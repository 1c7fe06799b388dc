# SPDX-License-Identifier: BSD-3-Clause
"""EDCA by hand, to the microsecond (IEEE 802.11-2016, 10.22.2): DSSS at 2 Mb/s as in test_timelines.py.

Where backoffs matter, the test sets them: slots of 20 us after AIFS = 10 + AIFSN * 20. A QoS frame is two bytes longer:
DATA of 1028 B of payload and headers takes 192 + 4 * length us.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterator
from itertools import pairwise

import pytest
from dcf import US, Core, Edca, dsss, library, mutual, tcp

VO, VI, BE, BK = range(4)
CATEGORIES = "VO", "VI", "BE", "BK"
USER_PRIORITY = {VO: 6, VI: 5, BE: 0, BK: 1}
DEFAULTS = {VO: (2, 7, 15, 3264), VI: (2, 15, 31, 6016), BE: (3, 31, 1023, 0), BK: (7, 31, 1023, 0)}  # table 9-137
NEAR, SIFS, SLOT, ACK = 1000, 10, 20, 304
ALL = b"\xff" * 6


def aifs(category: int) -> int:
    return SIFS + DEFAULTS[category][0] * SLOT


def cell(n: int = 2, **options: object) -> Core:
    """Return stations that all hear each other, with the default parameters but TXOP limits of 0."""
    air = Core(mutual(n, {}, NEAR), edca=True, **options)  # type: ignore[arg-type]
    for station in range(n):
        for category, (aifsn, cw_min, cw_max, _) in DEFAULTS.items():
            contend(air, station, category, aifsn, cw_min, cw_max)
    return air


def contend(air: Core, station: int, category: int, aifsn: int, cw_min: int, cw_max: int, txop_us: int = 0) -> None:
    assert air.lib.dcf_set_edca(air.memory, station, category, Edca(cw_min, cw_max, txop_us // 32, aifsn))


def length(body: bytes) -> int:
    return 24 + 2 + len(body) + 4


def airtime(body: bytes) -> int:
    return 192 + 4 * length(body)


def send(
    air: Core, station: int, to: int | bytes, category: int, at: float, body: bytes = bytes(100), **options: object
) -> None:
    air.send(station, to, body, at=round(at * US), priority=USER_PRIORITY[category], **options)  # type: ignore[arg-type]


def starts(air: Core, station: int | None = None) -> list[tuple[str, float]]:
    """Return category and start in us of all transmissions that are not answers."""
    return [(CATEGORIES[t.category - 1], t.start / US) for t in air.tx
            if t.category and station in (None, t.station)]  # fmt: skip


@pytest.fixture
def draws() -> Iterator[object]:
    """Set the next backoffs, in this order; later ones are random again."""

    def give(*slots: int) -> None:
        kept.append((c.c_uint32 * 50)(*slots))  # and then 0
        library().give_draws(kept[-1], 50)

    kept: list[object] = []
    yield give
    library().give_draws(None, 0)


def busy_until(air: Core, station: int = 1) -> float:
    """Let this station occupy the medium from 1000 us on, with a group frame; return its end in us."""
    send(air, station, ALL, BE, 1000)
    air.run(1100 * US)
    assert air.tx[-1].start == 1010 * US  # the next slot boundary: 70, 90, ...
    return air.tx[-1].end / US


@pytest.mark.parametrize("category", DEFAULTS)
def test_each_category_waits_its_aifs_and_then_slots(draws, category: int) -> None:  # type: ignore[no-untyped-def]
    """10.3.2.3.6, 10.22.2.4 a: AIFS after the end of a reception, and the drawn slots."""
    air = cell(2)
    end = busy_until(air)
    draws(4, 0, 0)
    send(air, 0, 1, category, 1200)
    air.run(5000 * US)
    assert starts(air, 0) == [(CATEGORIES[category], end + aifs(category) + 4 * SLOT)]


def test_without_waiting_a_frame_goes_at_the_next_slot_boundary(draws) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.4: boundaries are a slot apart from the end of AIFS on; a frame that arrives at one may use it."""
    for arrives, goes in ((1000, 1010), (1010, 1010), (1010.001, 1030), (20, 50)):
        air = cell(2)
        draws(0)
        send(air, 0, ALL, VO, arrives)
        air.run(5000 * US)
        assert starts(air) == [("VO", goes)]


@pytest.mark.parametrize(("drawn", "left"), [(5, 2), (3, 0), (4, 1)])
def test_a_slot_counts_at_its_beginning(draws, drawn: int, left: int) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.4: the end of AIFS is a boundary, and each counts. If a station sends at the third, the others have three
    slots fewer, not two as with the DCF; one with none left sends at the end of AIFS."""
    air = cell(3)
    end = busy_until(air, 2)
    draws(drawn, 2, 9, 9, 9)
    send(air, 0, ALL, BE, 1200)
    send(air, 1, ALL, BE, 1200)
    air.run(9000 * US)
    first, second = air.tx[1:3]
    assert (first.station, first.start / US) == (1, end + aifs(BE) + 2 * SLOT)
    assert (second.station, second.start / US) == (0, first.end / US + aifs(BE) + left * SLOT)


def test_who_may_send_in_one_slot_collide_inside_their_station(draws) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.4: the higher category sends; the lower behaves as after a collision, but without the Retry bit."""
    air = cell(2)
    end = busy_until(air)
    draws(3, 2, 0, 40, 0, 0)  # VO, BE: both 110 us after the end; of 1 then; and of BE again, from a CW of 63
    send(air, 0, ALL, VO, 1200)
    send(air, 0, 1, BE, 1200)
    air.run(9000 * US)
    vo, be = (t for t in air.tx if t.station == 0)
    assert starts(air, 0) == [("VO", end + 110), ("BE", vo.end / US + aifs(BE) + 40 * SLOT)]
    assert (be.attempt, be.bytes[1] & 8) == (1, 0)
    ends = [(e.category - 1, e.reason, e.short) for e in air.end if e.station == 0]
    assert ends == [(VO, "GROUP", 0), (BE, "ACKED", 1)]
    share = air.counters(0).share
    assert [s.collisions for s in share] == [0, 0, 1, 0]
    assert (share[BE].tx, share[BE].acked, share[VO].group) == (1, 1, 1)
    assert share[BE].airtime_ns == airtime(bytes(100)) * US


def test_a_frame_can_be_given_up_for_collisions_inside_its_station(draws) -> None:  # type: ignore[no-untyped-def]
    air = cell(2, short=1)
    end = busy_until(air)
    draws(3, 2, 0, 0, 0)
    send(air, 0, ALL, VO, 1200)
    send(air, 0, 1, BE, 1200)
    air.run(round(end + 110) * US)
    assert air.finished[-1] == ((end + 110) * US, 0, "SHORT_LIMIT", [0, 0, 0, 0])  # reported at its time
    air.run(9000 * US)
    assert starts(air, 0) == [("VO", end + 110)]


def test_the_frames_of_a_txop_follow_each_other_by_sifs(draws) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.7, 10.22.2.8: as many frames of one category as fit; each Duration, and that of its ACK, covers the next
    exchange (9.2.5.2)."""
    air = cell(3)
    one = airtime(bytes(100)) + SIFS + ACK
    contend(air, 0, VO, 2, 7, 15, txop_us=3 * one + 2 * SIFS + 31)
    end = busy_until(air, 2)
    draws(0, 9, 0, 5, 0, 9, 0)
    for category in (VO, VO, VI, VO, VO):
        send(air, 0, 1, category, 1200)
    first = end + 50
    air.run(round(first + 3 * one + 2 * SIFS) * US)
    assert air.counters(2).nav_ns == (3 * one + 2 * SIFS - airtime(bytes(100))) * US
    air.run(20_000 * US)
    burst = [first + n * (one + SIFS) for n in range(3)]
    assert starts(air, 0)[:3] == [("VO", start) for start in burst]
    mine = [t for t in air.tx if t.station in (0, 1)]
    durations = [int.from_bytes(t.bytes[2:4], "little") for t in mine[:6]]
    assert durations == [2 * SIFS + ACK + one, SIFS + one, 2 * SIFS + ACK + one, SIFS + one, SIFS + ACK, 0]
    rest = burst[2] + one + 50
    assert sorted(starts(air, 0)[3:])[1] == ("VO", rest + 5 * SLOT)  # after post-backoff


def test_without_a_limit_a_txop_is_one_frame(draws) -> None:  # type: ignore[no-untyped-def]
    air = cell(2)
    draws(3, 3, 3)
    send(air, 0, 1, VO, 1010)
    send(air, 0, 1, VO, 1010)
    air.run(9000 * US)
    assert starts(air) == [("VO", 1010), ("VO", 1010 + airtime(bytes(100)) + SIFS + ACK + 50 + 3 * SLOT)]


def test_a_first_frame_longer_than_the_limit_is_sent(draws) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.8 requires fragments, which mac80211 does not make for a TXOP."""
    air = cell(2)
    contend(air, 0, VI, 2, 15, 31, txop_us=320)
    draws(3, 3, 3)
    send(air, 0, 1, VI, 1010, bytes(1000))
    send(air, 0, 1, VI, 1010, bytes(1000))
    air.run(20_000 * US)
    assert starts(air) == [("VI", 1010), ("VI", 1010 + airtime(bytes(1000)) + SIFS + ACK + 50 + 3 * SLOT)]


def test_a_burst_ends_with_a_failure(draws) -> None:  # type: ignore[no-untyped-def]
    """The second frame is not acknowledged: backoff from the next CW, and then a TXOP again."""
    air = cell(2)
    contend(air, 0, VO, 2, 7, 15, txop_us=3264)
    draws(12, 3, 3)
    send(air, 0, 1, VO, 1010)
    send(air, 0, 5, VO, 1010)  # a station that does not exist
    one = airtime(bytes(100))
    air.run(1010 * US + (one + SIFS + ACK + SIFS) * US)
    second = air.tx[-1].start / US
    assert second == 1010 + one + SIFS + ACK + SIFS
    air.run(4000 * US)
    timeout = second + one + SIFS + SLOT + 192
    boundary = second + one + 50  # the first, 10.22.2.4 e: those after the timeout count
    again = boundary + -(-(timeout - boundary) // SLOT) * SLOT + 12 * SLOT
    assert starts(air)[2] == ("VO", again)


def test_the_other_categories_wait_aifs_after_a_timeout(draws) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.4 c: after the end of the ACKTimeout."""
    air = cell(2)
    draws(1, 10, 0, 0, 0)
    send(air, 0, 5, VO, 1010)  # a station that does not exist
    send(air, 0, ALL, BE, 1100)
    air.run(3000 * US)
    timeout = 1010 + airtime(bytes(100)) + SIFS + SLOT + 192
    assert starts(air)[1] == ("BE", timeout + aifs(BE) + SLOT)


@pytest.mark.parametrize("category", DEFAULTS)
def test_after_errors_it_waits_eifs_in_place_of_difs(draws, category: int) -> None:  # type: ignore[no-untyped-def]
    """10.22.2.4 b: EIFS - DIFS + AIFS."""
    air = Core(mutual(4, {(0, 2): NEAR, (2, 3): NEAR, (1, 2): NEAR}), edca=True)
    contend(air, 2, category, *DEFAULTS[category][:3])
    draws(0, 1)  # which of the two 2 follows; its backoff
    send(air, 0, ALL, BE, 1010)
    send(air, 3, ALL, BE, 1010)  # hidden from 0: they overlap at 2
    send(air, 2, ALL, category, 1100)
    air.run(5000 * US)
    end = air.tx[0].end / US
    assert [r.outcome for r in air.rx if r.station == 2] == ["COLLISION", "COLLISION"]
    assert starts(air, 2) == [(CATEGORIES[category], end + 364 - 50 + aifs(category) + SLOT)]


def test_each_category_has_a_queue() -> None:
    air = cell(2)
    for category in (BK, BK, VO):
        for _ in range(39):
            send(air, 0, 1, category, 10)
    dropped = [s.dropped for s in air.counters(0).share]
    assert dropped == [39 - 38, 0, 0, 2 * 39 - 38]  # 37, and the one in service
    air.run(10**10)
    assert [s.acked for s in air.counters(0).share] == [38, 0, 0, 38]


@pytest.mark.parametrize(("priority", "category"), tuple(enumerate((BE, BK, BK, BE, VI, VI, VO, VO))))
def test_user_priorities(priority: int, category: int) -> None:
    """802.1D's, as mac80211 sorts them; frames without one are best effort, and management is voice."""
    air = cell(2)
    air.send(0, 1, bytes(50), at=US, priority=priority)
    air.run(10**9)
    assert air.tx[0].category == category + 1 == air.end[0].category
    assert air.tx[1].category == 0  # an ACK belongs to no category


def test_what_has_no_user_priority() -> None:
    frames = {b"\x08\0": BE, b"\x88\x03": BE, b"\x88\0": BE, b"\x40\0": VO, b"\xd0\0": VO, b"\x84\0": VO}
    for frame, category in frames.items():
        assert library().dcf_categorise(frame + bytes(24), 26) == category, frame
    mesh = b"\x88\x03" + bytes(28) + b"\x05"  # four addresses
    assert library().dcf_categorise(mesh, len(mesh)) == VI
    assert library().dcf_categorise(b"\x88", 1) == VO


def test_a_station_begins_as_the_dcf_does() -> None:
    """AIFSN 2, which is DIFS, and the PHY's CW, for all; the kernel changes them later."""
    air = Core(mutual(2, {}, NEAR), edca=True)
    assert not air.lib.dcf_set_edca(air.memory, 2, VO, Edca(3, 7, 0, 2))
    assert not air.lib.dcf_set_edca(air.memory, 0, VO, Edca(3, 7, 0, 0))
    assert not air.lib.dcf_set_edca(air.memory, 0, VO, Edca(7, 3, 0, 2))
    plain = Core(mutual(2, {}, NEAR))
    assert not plain.lib.dcf_set_edca(plain.memory, 0, VO, Edca(3, 7, 0, 2))
    air.send(0, 1, tcp(100), at=0, priority=1)
    air.run(10**9)
    assert starts(air) == [("BK", 50)]


def test_ns2_has_no_edca() -> None:
    with pytest.raises(ValueError, match="refuses"):
        Core(mutual(2, {}), edca=True, rules=["below_cw"])


def test_new_parameters_hold_at_once(draws) -> None:  # type: ignore[no-untyped-def]
    air = cell(2, phy=dsss())
    end = busy_until(air)
    draws(6, 0, 0)
    send(air, 0, ALL, BK, 1200)
    air.run(round((end + aifs(BK) + 2 * SLOT + 1) * US))  # three boundaries have passed
    contend(air, 0, BK, 2, 3, 3)
    air.run(9000 * US)
    assert starts(air, 0) == [("BK", end + aifs(BK) + 6 * SLOT)]


def test_without_edca_a_station_may_have_its_own_window() -> None:
    """As that of BE, and only for it; the others have the PHY's, which is none."""
    air = Core(mutual(2, {}, NEAR), phy=dsss(cw_min=0, cw_max=0))
    for category, wrong in ((VO, Edca(3, 7, 0, 2)), (BE, Edca(3, 7, 0, 3)), (BE, Edca(3, 7, 1, 2))):
        assert not air.lib.dcf_set_edca(air.memory, 0, category, wrong)
    assert air.lib.dcf_set_edca(air.memory, 0, BE, Edca(3, 7, 0, 2))
    found = []
    for station, answered in ((0, True), (1, True), (0, False)):
        air.link(1 - station, station, NEAR if answered else 1)
        began = air.now + 10_000 * US
        for _ in range(49):
            air.send(station, 1 - station, tcp(100), at=began)
        air.run(began + 10**9)
        mine = [t for t in air.tx if t.station == station and t.kind == "tcp_data" and t.start >= began]
        gaps = {(b.start - a.end) // (SLOT * US) for a, b in pairwise(mine)}
        found.append(sorted(gap - min(gaps) for gap in gaps))
    assert found == [[0, 1, 2, 3], [0], [0, 1, 2, 3, 4, 5, 6, 7]]
