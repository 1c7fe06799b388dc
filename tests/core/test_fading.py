# SPDX-License-Identifier: BSD-3-Clause
"""Block fading: arriving powers have the requested distribution, by streams that depend on nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dcf import US, Core, Rx

from analysis.taps.fading import Fading
from analysis.taps.signals import Links
from emulation.plan.fading import FADES, cumulative, plan_fading, quantiles, strongest_db
from emulation.specification import channel

MEAN_AW, STEP_US = 10**12, 2000
RAYLEIGH, RICEAN = channel.Fading(model="rayleigh"), channel.Fading(model="ricean", k=6)
BROADCAST = b"\xff" * 6


def gains(fading: channel.Fading) -> list[int]:
    planned = plan_fading(fading)
    assert planned
    return list(planned["gain_q32"])


def broadcasts(
    frames: int, fading: channel.Fading, *, stations: int = 4, seed: int = 1, coherence_us: int = 0, **options: int
) -> list[Rx]:
    """Return what the other stations hear of this many frames of station 0, one after the other."""
    power = [[MEAN_AW * (a != b) for b in range(stations)] for a in range(stations)]
    core = Core(power, seed=seed, **{"rx": 1, "cs": 1, **options})
    assert core.fade(gains(fading), coherence_us * US)
    for number in range(frames):
        core.send(0, BROADCAST, bytes(20), number * STEP_US * US)
    core.run(frames * STEP_US * US)
    return core.rx


def powers(frames: list[Rx], station: int) -> np.ndarray:
    """Return powers over the mean, from the records; the mean is -60 dBm."""
    return np.array([10 ** ((rx.power_mdbm + 60_000) / 10_000) for rx in frames if rx.station == station])


def ks_distance(found: np.ndarray, k: float) -> float:
    """Return the largest difference between measured and expected frequencies."""
    found = np.sort(found)
    wanted = 1 - np.exp(-found) if not k else cumulative(k, found)
    steps = np.arange(found.size + 1) / found.size
    return float(max(abs(wanted - steps[1:]).max(), abs(wanted - steps[:-1]).max()))


@pytest.mark.slow
@pytest.mark.parametrize("fading", [RAYLEIGH, RICEAN])
def test_powers_have_the_distribution(fading: channel.Fading) -> None:
    """Rayleigh: exponential powers; Ricean: mean 1 and variance (1 + 2K) / (1 + K)^2. The bound on the distance is
    Kolmogorov's for one in a thousand."""
    frames, k = 6000, fading.factor
    found = powers(broadcasts(frames, fading, stations=2), 1)
    assert found.size == frames
    assert ks_distance(found, k) < 1.95 / math.sqrt(frames)
    deviation = math.sqrt((1 + 2 * k) / (1 + k) ** 2)
    assert found.mean() == pytest.approx(1, abs=4 * deviation / math.sqrt(frames))
    assert found.std() == pytest.approx(deviation, rel=0.06)


@pytest.mark.parametrize("k", [0.0, 0.1, 1.0, 4.0, 10.0, 100.0])
def test_the_table(k: float) -> None:
    """It rises, its mean is 1, and it differs from the distribution by at most 0.1 %. Rayleigh's is -ln(1 - u), except
    for the last part, which has the mean of the tail."""
    table = quantiles(k)
    assert (np.diff(table) > 0).all() and table.size == FADES + 1
    assert ((table[:-1] + table[1:]) / 2).mean() == pytest.approx(1, abs=1e-12)
    u = (np.arange(50_000) + 0.5) / 50_000
    assert abs(cumulative(k, np.interp(u, np.arange(FADES + 1) / FADES, table)) - u).max() < 1e-3
    squares = np.diff(table) ** 2 / 3 + table[:-1] * table[1:]  # means of x^2 on each part
    assert squares.mean() - 1 == pytest.approx((1 + 2 * k) / (1 + k) ** 2, rel=0.005)
    if not k:
        parts = np.arange(FADES) / FADES
        assert table[:-1] == pytest.approx(-np.log1p(-parts), rel=1e-4, abs=1e-6)
        assert table[-1] == pytest.approx(np.log(FADES) + 2, rel=2e-3)
        assert strongest_db(RAYLEIGH) == pytest.approx(9.51, abs=0.01)


@pytest.mark.parametrize("margin_db", [0.0, 3.0, 10.0])
def test_outage(margin_db: float) -> None:
    """A link with this margin is out 1 - exp(-1 / margin) of the time, and then not received."""
    threshold, frames = round(MEAN_AW / 10 ** (margin_db / 10)), 4000
    heard = broadcasts(frames, RAYLEIGH, stations=2, rx=threshold)
    assert {rx.outcome for rx in heard} == {"OK"}
    out = 1 - math.exp(-threshold / MEAN_AW)
    assert 1 - len(heard) / frames == pytest.approx(out, abs=4 * math.sqrt(out / frames))


def test_retries_outlast_fades() -> None:
    """DATA and ACK fade independently: an attempt fails if either does."""
    threshold, sent = MEAN_AW // 4, 1500
    core = Core([[0, MEAN_AW], [MEAN_AW, 0]], rx=threshold, cs=threshold // 2, eifs=0)
    assert core.fade(gains(RAYLEIGH))
    for number in range(sent):
        core.send(0, 1, bytes(20), number * 20_000 * US)
    core.run(sent * 20_000 * US)
    tries = len([tx for tx in core.tx if tx.kind == "other"])
    below = [rx for rx in core.rx if rx.outcome == "BELOW_THRESHOLD"]
    assert {rx.addressed for rx in below} == {True} and len(core.rx) == len(core.tx)  # reported even if not sensed
    through = math.exp(-2 * threshold / MEAN_AW)
    assert sum(end.reason == "ACKED" for end in core.end) / tries == pytest.approx(through, abs=0.04)


@pytest.mark.slow
def test_receivers_are_independent_and_a_run_repeats() -> None:
    frames = broadcasts(3000, RAYLEIGH)
    found = np.array([powers(frames, station) for station in (1, 2, 3)])
    assert abs(np.corrcoef(found) - np.eye(3)).max() < 4 / math.sqrt(3000)
    assert abs(np.corrcoef(found[0][1:], found[0][:-1])[0, 1]) < 4 / math.sqrt(3000)
    assert broadcasts(3000, RAYLEIGH) == frames
    other = powers(broadcasts(3000, RAYLEIGH, seed=2), 1)
    assert abs(np.corrcoef(found[0], other)[0, 1]) < 4 / math.sqrt(3000)


@pytest.mark.slow
def test_a_pair_keeps_a_fade_for_the_coherence_time() -> None:
    """Ten frames, one after the other, have one fade, then the next ten another, which is independent. The distribution
    stays the same, and each pair changes at times of its own."""
    spans, of = 2000, 10
    frames = broadcasts(spans * of, RAYLEIGH, stations=3, coherence_us=of * STEP_US)
    changed = []
    for station in (1, 2):
        found = powers(frames, station)
        at = np.flatnonzero(np.diff(found)) + 1
        assert set(np.diff(at) % of) == {0}  # two in a row may be equal
        changed.append(at[0] % of)
        one_each = found[at]
        assert ks_distance(one_each, 0) < 1.95 / math.sqrt(one_each.size)
        assert abs(np.corrcoef(one_each[1:], one_each[:-1])[0, 1]) < 4 / math.sqrt(one_each.size)
    assert changed[0] != changed[1]


def test_both_directions_share_what_a_pair_keeps() -> None:
    """DATA and ACK fade alike: whenever the DATA is received, so is the ACK."""
    threshold, sent = MEAN_AW // 4, 400
    core = Core([[0, MEAN_AW], [MEAN_AW, 0]], rx=threshold, cs=threshold // 2, eifs=0)
    assert core.fade(gains(RAYLEIGH), 1_000_000 * US)
    for number in range(sent):
        core.send(0, 1, bytes(20), number * 50_000 * US)
    core.run(sent * 50_000 * US)
    acked = sum(end.reason == "ACKED" for end in core.end)
    received = sum(rx.outcome == "OK" for rx in core.rx if rx.station == 1)
    assert acked == received and 0 < acked < sent


def test_who_else_is_there_changes_nothing() -> None:
    """A pair's fades depend on the seed, the two stations and the transmission's number alone."""
    few, many = (broadcasts(50, RAYLEIGH, stations=n) for n in (2, 9))
    assert powers(few, 1).tolist() == powers(many, 1).tolist()


def test_who_is_out_of_reach_in_the_mean_hears_the_strongest() -> None:
    """A station that never senses a signal at its mean senses strong fades; beyond the strongest none does."""
    for below_db, heard in ((9.0, True), (9.6, False)):
        core = Core([[0, round(10 ** (5 - below_db / 10))], [0, 0]], rx=10**5, cs=10**5)
        assert core.fade(gains(RAYLEIGH))
        for number in range(6000):
            core.send(0, BROADCAST, bytes(20), number * STEP_US * US)
        core.run(6000 * STEP_US * US)
        assert bool(core.rx) is heard
        assert core.counters(1).busy_ns > 0 or not heard


@pytest.mark.slow
def test_interference_fades_too() -> None:
    """Two hidden stations at once: with capture, one survives where its fade is ten times the other's."""
    rounds = 3000
    core = Core([[0, MEAN_AW, 0], [0, 0, 0], [0, MEAN_AW, 0]], rx=1, cs=1)
    assert core.fade(gains(RAYLEIGH))
    for number in range(rounds):
        for station in (0, 2):
            core.send(station, BROADCAST, bytes(20), number * 20_000 * US)
    core.run(rounds * 20_000 * US)
    at_once = {tx.start for tx in core.tx if tx.station == 0} & {tx.start for tx in core.tx if tx.station == 2}
    met = [rx for rx in core.rx if rx.start in at_once]
    survived = sum(rx.outcome == "OK" for rx in met) / len(at_once)
    assert len(at_once) > 100
    assert survived == pytest.approx(2 / 11, abs=4 * math.sqrt(0.15 / len(at_once)))


@pytest.mark.parametrize("coherence_ms", [None, 0.001, 7.3, 4000.0])
def test_the_taps_find_each_power_again(coherence_ms: float | None) -> None:
    """The power in the record of each arrival, computed again from the seed, the times and the numbers."""
    seed, power = 2**63 + 12345, np.full((4, 4), float(MEAN_AW))
    fading = RICEAN.model_copy(update={"coherence_ms": coherence_ms})
    frames = broadcasts(500, fading, seed=seed, coherence_us=round((coherence_ms or 0) * 1000))
    links = Links(power, np.zeros((4, 4)), Fading.of_plan({"seed": seed, "fading": plan_fading(fading)}))
    station, number, start = (np.array([getattr(rx, what) for rx in frames]) for what in ("station", "id", "start"))
    found, _ = links.arriving(np.zeros_like(station), station, start, number)
    assert 10_000 * np.log10(found / MEAN_AW) - 60_000 == pytest.approx([rx.power_mdbm for rx in frames], abs=2)


def test_no_table_that_falls_or_is_too_strong() -> None:
    core, sound = Core([[0, 1], [1, 0]]), gains(RAYLEIGH)
    assert core.fade(sound) and core.fade(None)
    assert not core.fade([2, 1] + [3] * (FADES - 1))
    assert not core.fade([*sound[:-1], 2**38 + 1])


def test_own_thresholds() -> None:
    """One station hears better than another; then the same station changes."""
    core = Core([[0, 500, 500], [0, 0, 0], [0, 0, 0]], rx=1000, cs=100)
    assert core.lib.dcf_set_thresholds(core.memory, 1, 400, 50)
    assert not core.lib.dcf_set_thresholds(core.memory, 1, 400, 401)
    assert not core.lib.dcf_set_thresholds(core.memory, 3, 400, 50)
    core.send(0, BROADCAST, bytes(20), 0)
    core.run(5000 * US)
    assert core.lib.dcf_set_thresholds(core.memory, 1, 600, 600) and core.lib.dcf_set_thresholds(
        core.memory, 2, 500, 500
    )
    core.send(0, BROADCAST, bytes(20), 6000 * US)
    core.run(12_000 * US)
    assert [(rx.id, rx.station, rx.outcome) for rx in core.rx] == [(1, 1, "OK"), (2, 2, "OK")]
    assert core.counters(1).busy_ns < core.counters(2).busy_ns
