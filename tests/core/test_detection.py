# SPDX-License-Identifier: BSD-3-Clause
"""Reception by SINR, to the nanosecond: which of several frames a station notices, and when it senses the medium busy.

A preamble takes 4 us with OFDM (17.3.10.6) and 15 us with DSSS (aCCATime, 15.3.3). No bit of these frames is in error.
"""

import pytest
from dcf import US, Core, Phy, Rx, dsss, mutual, tcp

OFDM = Phy(9 * US, 16 * US, 15, 1023, 0, 0b10101 << 4, 2 * US)  # basic 6, 12, 24 Mb/s
SIFS, SLOT, DIFS, TIMEOUT = 16 * US, 9 * US, 34 * US, (16 + 9 + 20) * US
GROUP, BODY, T0 = b"\xff" * 6, tcp(1460), 1000 * US
WEAK, STRONG = 1000, 316_000  # 25 dB apart


NOBODY = 0xFFFF


def air(power: dict[tuple[int, int], int], n: int, **options: object) -> Core:
    """Return an air with these powers from the first to the second station, and no others."""
    powers = [[power.get((i, j), 0) for j in range(n)] for i in range(n)]
    return Core(powers, phy=options.pop("phy", OFDM), reception=1, **options)  # type: ignore[arg-type]


def at(core: Core, station: int) -> list[Rx]:
    return sorted((r for r in core.rx if r.station == station), key=lambda r: r.id)


def two(first: int, second: int, later: int, rate: int = 540, **options: object) -> list[tuple[str, int]]:
    """Return the outcome at station 2 of a frame from 0 and a frame from 1 that arrives later by this time; and the
    culprit."""
    core = air({(0, 2): first, (1, 2): second}, 3, **options)
    core.send(0, GROUP, BODY, at=T0, rate=rate)
    core.send(1, GROUP, BODY, at=T0 + later, rate=rate)
    core.run(20 * 10**6)
    core.stop()
    return [(r.outcome, r.other) for r in at(core, 2)]


@pytest.mark.parametrize(("rate", "preamble"), [(540, 4 * US), (60, 4 * US), (10, 15 * US), (110, 15 * US)])
def test_the_stronger_takes_over_while_a_preamble_is_heard(rate: int, preamble: int) -> None:
    phy = OFDM if rate >= 60 and rate != 110 else dsss()
    for later in (100, preamble - 1):
        assert two(WEAK, STRONG, later, rate, phy=phy) == [("COLLISION", 1), ("OK", NOBODY)], later
    assert [outcome for outcome, _ in two(WEAK, STRONG, preamble, rate, phy=phy)][1] == "COLLISION"
    assert two(STRONG, WEAK, 100, rate, phy=phy)[1] == ("COLLISION", 0)  # and the weaker does not


def test_each_that_takes_over_is_heard_for_a_preamble_of_its_own() -> None:
    """0 at 0, 1 at 3 us, 2 at 6 us, each 25 dB stronger: each within the previous preamble."""
    powers = {(0, 3): 100, (1, 3): 31_600, (2, 3): 10_000_000}
    core = air(powers, 4)
    for station in range(3):
        core.send(station, GROUP, BODY, at=T0 + station * 3 * US, rate=540)
    core.run(20 * 10**6)
    assert [(r.outcome, r.other) for r in at(core, 3)] == [("COLLISION", 1), ("COLLISION", 2), ("OK", NOBODY)]


@pytest.mark.parametrize(("rate", "ratio"), [(540, 2.512), (20, 0.229)])
def test_a_preamble_is_noticed_from_so_many_db_on(rate: int, ratio: float) -> None:
    """4 dB above all else, which is 1000 aW here; DSSS, before despreading, from -6.4 dB on."""
    enough = -(-1000 * round(1000 * ratio) // 1000)
    for power, outcome in ((enough, ("OK", NOBODY)), (enough - 1, ("COLLISION", 0))):
        core = air({(0, 2): 1000, (1, 2): power}, 3, phy=OFDM if rate == 540 else dsss(), rx=100, cs=10)
        core.send(2, GROUP, tcp(0), at=T0, rate=rate)
        core.send(0, GROUP, BODY, at=T0 + 1, rate=10)  # 2 sends while it begins: it is energy
        core.send(1, GROUP, tcp(0), at=T0 + 2000 * US, rate=rate)
        core.run(20 * 10**6)
        assert [(r.outcome, r.other) for r in at(core, 2)] == [("OWN_TX", 2), outcome]


def test_equally_strong_frames_in_one_slot_are_not_noticed() -> None:
    """With OFDM neither is 4 dB above the other: both are lost. No frame began, so no EIFS follows (10.3.2.3.7). Below
    the energy threshold, the medium is idle from when the preamble was not noticed."""
    for sense, idle in ((100, "the end"), (5000, "the preamble's end")):
        core = air({(0, 2): WEAK, (1, 2): WEAK}, 3, rx=100, cs=sense)
        core.send(0, GROUP, BODY, at=T0, rate=540)
        core.send(1, GROUP, BODY, at=T0, rate=540)
        core.send(2, GROUP, tcp(0), at=T0 + 1, rate=540)
        core.run(20 * 10**6)
        assert [r.outcome for r in at(core, 2)] == ["COLLISION", "COLLISION"]
        mine = next(t for t in core.tx if t.station == 2)
        since = core.tx[0].end if idle == "the end" else T0 + 4 * US
        slots, rest = divmod(mine.start - since - DIFS, SLOT)
        assert rest == 0 and slots in range(16), idle


def test_sensing_above_receiving() -> None:
    """17.3.10.6: -82 dBm of a frame that is noticed, -62 dBm of anything: a frame between is received and holds the
    medium; as mere energy it does not."""
    core = air({(0, 1): WEAK}, 2, rx=100, cs=5000)
    core.send(0, GROUP, BODY, at=T0, rate=540)
    core.send(1, GROUP, tcp(0), at=T0 + 10 * US, rate=540)
    core.run(20 * 10**6)
    assert [(r.outcome, r.station) for r in core.rx if r.id == 1] == [("OK", 1)]
    first, second = core.tx
    assert (second.start - first.end - DIFS) % SLOT == 0

    core = air({(0, 1): WEAK}, 2, rx=100, cs=5000)
    core.send(1, GROUP, tcp(0), at=T0, rate=540)
    core.send(0, GROUP, BODY, at=T0 + 1, rate=540)  # 1 sends while it begins: it is energy
    core.run(T0 + 1)
    core.send(1, GROUP, tcp(0), at=core.tx[0].end + 100 * US, rate=540)
    core.run(20 * 10**6)
    mine = [t for t in core.tx if t.station == 1]
    slots, rest = divmod(mine[1].start - mine[0].end - DIFS, SLOT)
    assert (rest, slots in range(16), mine[1].start < core.tx[1].end) == (0, True, True)


def test_only_a_noticed_frame_holds_a_timeout() -> None:
    """10.3.2.9: a signal that begins in place of an ACK decides when it ends, if PHY-RXSTART was seen. 0 does not hear
    1's ACK; 2 sends meanwhile, and 3 at the same time as strongly, or not at all."""
    for spoiler, fails in ((0, "its end"), (WEAK, "the timeout")):
        core = air({(0, 1): STRONG, (2, 0): WEAK, (3, 0): spoiler}, 4, rx=100, cs=5000)
        core.send(0, 1, tcp(0), at=T0, rate=540)
        core.run(T0)
        end = core.tx[0].end
        for station in (2, 3):
            core.send(station, GROUP, BODY, at=end + 20 * US, rate=540)
        core.run(20 * 10**6)
        mine = [t for t in core.tx if t.station == 0]
        other = next(t for t in core.tx if t.station == 2)
        since = other.end + DIFS if fails == "its end" else end + TIMEOUT
        if fails == "the timeout":  # the medium has been idle for DIFS, but for that preamble
            since = max(end + TIMEOUT, other.start + 4 * US + DIFS)
        slots, rest = divmod(mine[1].start - since, SLOT)
        assert rest == 0 and slots in range(32), fails


def test_who_begins_to_send_looks_for_nothing() -> None:
    """A station whose slot comes 1 us after a signal sends, as sensing takes longer. That signal is lost as OWN_TX, and
    none of it is noticed when its preamble is over."""
    core = air({(0, 1): WEAK}, 2)
    core.send(1, GROUP, tcp(0), at=DIFS - 10 * US, rate=540)
    core.send(0, GROUP, BODY, at=DIFS - 1 * US, rate=540)
    core.run(20 * 10**6)
    assert [(t.station, t.start) for t in sorted(core.tx, key=lambda t: t.station)] == [(0, DIFS), (1, DIFS)]
    assert [(r.outcome, r.other) for r in at(core, 1)] == [("OWN_TX", 1)]


def test_with_capture_nobody_receives_what_he_does_not_sense() -> None:
    with pytest.raises(ValueError, match="refuses"):
        Core(mutual(2, {}), rx=10, cs=100)
    core = Core(mutual(2, {}))
    assert not core.lib.dcf_set_thresholds(core.memory, 0, 10, 100)
    core = Core(mutual(2, {}), reception=1, rx=10, cs=100)
    assert core.lib.dcf_set_thresholds(core.memory, 0, 10, 1000)
    assert not core.lib.dcf_set_thresholds(core.memory, 0, 0, 1000)
