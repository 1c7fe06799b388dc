# SPDX-License-Identifier: BSD-3-Clause
"""EDCA in saturation against published models.

A category sends at a slot boundary with a probability of its own (Bianchi, IEEE JSAC 18(3), 2000). One with a shorter
AIFS may send at earlier boundaries after a busy medium: contention zones (Robinson and Randhawa, IEEE JSAC 22(5),
2004). Inside a station a lower category costs a higher one nothing: virtual collisions (Kong, Tsang, Bensaou and Gao,
IEEE JSAC 22(10), 2004). A backoff of k slots is over at the k-th boundary from the end of AIFS on, each of which counts
(10.22.2.4): exactly Bianchi's chain.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest
from dcf import US, Core, Edca, Phy, mutual
from peers import peer

from benchmarks.compare import output

OFDM = Phy(9 * US, 16 * US, 15, 1023, 0, 0b10101 << 4, 2 * US)  # 802.11a
VO, VI, BE, BK = range(4)
USER_PRIORITY = (6, 5, 0, 1)
Sets = dict[int, tuple[int, int, int]]  # AIFSN, CWmin and CWmax of each category
Stations = list[tuple[int, ...]]  # the categories that each has
WIDE: Sets = {VO: (2, 31, 1023), VI: (3, 31, 1023), BE: (4, 63, 1023), BK: (6, 63, 1023)}


def attempts(p: float, cw_min: int, cw_max: int) -> float:
    """Return how often a category sends at a boundary at which it may, if that fails with probability p (no limit)."""
    boundaries, weight, cw, left = 0.0, 0.0, cw_min, 1.0
    while cw < cw_max:
        boundaries, weight = boundaries + left * (cw + 2) / 2, weight + left
        left, cw = left * p, 2 * cw + 1
    rest = left / (1 - p)
    return (weight + rest) / (boundaries + rest * (cw_max + 2) / 2)


def shares(stations: Stations, sets: Sets, phy: Phy, data: float, answer: float) -> dict[int, float]:
    """Return the frames per second of each category. Times in us: of a frame, and what follows a successful one."""
    there = sorted({category for station in stations for category in station})
    first = min(sets[category][0] for category in there)
    slot, aifs = phy.slot_ns / US, (phy.sifs_ns + first * phy.slot_ns) / US
    zones = max(sets[category][0] for category in there) - first + 1  # the last of them has no end
    tau = dict.fromkeys(there, 0.05)

    def quiet(station: tuple[int, ...], zone: int) -> float:
        return prod(1 - tau[c] for c in station if sets[c][0] - first <= zone)

    for _ in range(3000):
        idle = [prod(quiet(station, zone) for station in stations) for zone in range(zones)]
        reached = [prod(idle[:zone]) for zone in range(zones)]
        reached[-1] /= 1 - idle[-1]
        for category in there:
            may = range(sets[category][0] - first, zones)
            mine = next(station for station in stations if category in station)
            above = [c for c in mine if c < category]
            alone = sum(
                reached[zone] * idle[zone] / quiet(mine, zone) * quiet(tuple(above), zone) for zone in may
            ) / sum(reached[zone] for zone in may)
            wanted = attempts(1 - alone, *sets[category][1:])
            tau[category] += 0.2 * (wanted - tau[category])
    well = {
        category: sum(
            reached[zone] * tau[category] * idle[zone] / quiet(station, zone)
            * quiet(tuple(c for c in station if c < category), zone)
            for station in stations if category in station for zone in range(sets[category][0] - first, zones)
        )
        for category in there
    }  # fmt: skip
    busy = sum(at * (1 - free) for at, free in zip(reached, idle, strict=True))
    slots = sum(at * free for at, free in zip(reached, idle, strict=True))
    cycle = slots * slot + busy * (data + aifs) + sum(well.values()) * answer
    return {category: 1e6 * each / cycle for category, each in well.items()}


def saturate(
    stations: Stations, sets: Sets, phy: Phy, rate: int, seconds: float, **options: object
) -> dict[int, float]:
    """Return the same from the air: two frames of 1028 B always wait in each category, for a station that sends
    nothing."""
    n = len(stations) + 1
    air = Core(mutual(n, {}, 1000), edca=True, phy=phy, eifs=0, short=255, trace=False, **options)  # type: ignore[arg-type]
    for station in range(n):
        for category, (aifsn, cw_min, cw_max) in sets.items():
            assert air.lib.dcf_set_edca(air.memory, station, category, Edca(cw_min, cw_max, 0, aifsn))
    sent = {(s, c): 0 for s, station in enumerate(stations) for c in station}
    body, refill = bytes(998), set(range(n - 1))
    air.on_done = lambda station, _: refill.add(station)
    while air.now < seconds * 1e9:
        for station in sorted(refill):
            for category in stations[station]:
                share = air.counters(station).share[category]
                for _ in range(sent[station, category] - share.acked - share.given_up, 2):
                    air.send(station, n - 1, body, at=air.now, rate=rate, priority=USER_PRIORITY[category])
                    sent[station, category] += 1
        refill.clear()
        air.now = air.lib.dcf_next(air.memory)
        air.lib.dcf_run(air.memory, air.now)
    return {c: sum(air.counters(s).share[c].acked for s in range(n - 1)) / seconds for c in sets}


@pytest.mark.parametrize(
    "stations",
    [
        pytest.param([(VO,), (VO,), (VI,), (VI,), (BE,), (BE,), (BK,), (BK,)], id="one each"),
        pytest.param([(BE,)] * 5 + [(BK,)] * 5, id="AIFS", marks=pytest.mark.slow),
        pytest.param([(VO, VI, BE, BK)] * 6, id="all in each", marks=pytest.mark.slow),
    ],
)
def test_saturation_throughput_by_category(stations: Stations) -> None:
    """802.11a, frames of 1028 B at 54 Mb/s: within 2 %, and the noise of a short run. With CWs as small as the default
    ones the model's independence is wrong: it underestimates a category beside one of CW 3."""
    data, answer, seconds = 20 + 4 * 39, 16 + 28, 3
    got = saturate(stations, WIDE, OFDM, 540, seconds)
    for category, expected in shares(stations, WIDE, OFDM, data, answer).items():
        noise = 4 * (expected / seconds) ** 0.5
        assert got[category] == pytest.approx(expected, abs=0.02 * expected + noise), category


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_ns3_agrees() -> None:
    """Within 3 %, and the noise of both runs: in ns-3 a station that collided waits AIFS again, after the timeout."""
    seconds = 4
    words = ("--phy=a", "--wide=1", "--vo=0", "--vi=0", "--be=5", "--bk=5", f"--seconds={seconds}")
    theirs = json.loads(output(peer("edca"), *words))
    got = saturate([(BE,)] * 5 + [(BK,)] * 5, WIDE, OFDM, 540, seconds)
    for category, name in ((BE, "be"), (BK, "bk")):
        noise = 4 * (2 * got[category] / seconds) ** 0.5
        assert theirs[name] == pytest.approx(got[category], abs=0.03 * got[category] + noise), name


@pytest.mark.slow
def test_four_categories_of_equal_parameters_are_four_stations() -> None:
    """Except for the winner of an internal collision: it loses to other stations only."""
    equal: Sets = dict.fromkeys((VO, VI, BE, BK), (2, 31, 1023))
    inside = saturate([(VO, VI, BE, BK)] * 3, equal, OFDM, 540, 2)
    assert inside[VO] > inside[VI] > inside[BE] > inside[BK] > 0.6 * inside[VO]
    alone = saturate([(c,) for c in equal] * 3, equal, OFDM, 540, 2)
    assert sum(inside.values()) > sum(alone.values())  # fewer frames collide on the air
