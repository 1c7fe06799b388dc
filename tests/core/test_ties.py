# SPDX-License-Identifier: BSD-3-Clause
"""Events in the same nanosecond. Equal spacing makes ties normal, so a station's number must not decide one."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from dcf import US, Core, Errors, Phy, tcp
from test_theory import saturate_pairs

from emulation.plan.error_rates import error_table
from emulation.specification.propagation import TwoRayGround, delay_ns, distances, listed, power_mdbm

GROUP = b"\xff" * 6
CAPTURE, SINR = 0, 1
ERP = Phy(9 * US, 10 * US, 15, 1023, 6 * US, 0b10101 << 4, 2250)


def at_once(powers: Sequence[int], reception: int, seed: int = 1, bodies: Sequence[int] | None = None) -> list[str]:
    """Stations that hear nobody send to the last one, where these powers arrive in one instant; return the outcome of
    each."""
    n = len(powers)
    power = [[0] * (n + 1) for _ in range(n + 1)]
    for i, p in enumerate(powers):
        power[i][n] = p
    air = Core(power, reception=reception, seed=seed)
    for i in range(n):
        air.send(i, GROUP, tcp(bodies[i] if bodies else 0), at=1000 * US)
    air.run(100_000 * US)
    assert {r.start for r in air.rx} == {1000 * US}
    return [next(r.outcome for r in air.rx if r.id == t.id) for t in sorted(air.tx, key=lambda t: t.station)]


@pytest.mark.parametrize("reception", [CAPTURE, SINR])
@pytest.mark.parametrize("powers", [(3000, 200), (200, 3000), (200, 3000, 100), (100, 3000, 200), (150, 140, 4000)])
def test_of_simultaneous_arrivals_the_strongest_is_followed(powers: tuple[int, ...], reception: int) -> None:
    """10 dB above the others together: `capture` receives it; `sinr`, without an error table, what it follows."""
    expected = ["OK" if p == max(powers) else "COLLISION" for p in powers]
    assert at_once(powers, reception) == expected
    assert at_once(powers, reception, bodies=range(0, 400 * len(powers), 400)) == expected


@pytest.mark.parametrize("n", [2, 3, 5])
def test_of_equal_ones_any_is_followed(n: int) -> None:
    """`sinr`: each as often as the others, by a draw of the receiver; the same seed draws the same."""
    trials = 600
    won = np.zeros(n)
    for seed in range(trials):
        outcomes = at_once([1000] * n, SINR, seed)
        assert sorted(outcomes) == ["COLLISION"] * (n - 1) + ["OK"]
        won[outcomes.index("OK")] += 1
    assert np.all(np.abs(won / trials - 1 / n) < 4 * ((n - 1) / n**2 / trials) ** 0.5)
    assert at_once([1000] * n, SINR, 7) == at_once([1000] * n, SINR, 7)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_equal_and_corrupted_ones_are_all_lost(order: tuple[int, int]) -> None:
    assert at_once([1000, 1000], CAPTURE) == ["COLLISION"] * 2
    assert at_once([1000, 900], CAPTURE, bodies=[400 * i for i in order]) == ["COLLISION"] * 2


def line(metres: Sequence[float], seed: int, reception: int) -> Core:
    """Stations on a line, with two-ray powers and the error tables of the plan."""
    distance = distances([(x, 0.0, 0.0) for x in metres])
    mdbm = power_mdbm(TwoRayGround().received_dbm(distance), -114.0)
    aw = [[0 if p is None else round(10 ** (p / 10_000 + 15)) for p in row] for row in listed(mdbm)]
    air = Core(aw, delay_ns(distance).tolist(), seed=seed, reception=reception, eifs=1, phy=ERP, noise=398_107,
               rx=365_261_754, cs=15_612_000)  # fmt: skip
    table = error_table([540, 240, 120, 60])
    for rate, values in table["lambda_q40"].items():
        errors = Errors(table["first_mdb"], table["step_mdb"], len(values))
        errors.lambda_q40[: len(values)] = values
        assert air.lib.dcf_set_errors(air.memory, int(rate), errors)
    return air


@pytest.mark.slow
@pytest.mark.parametrize(("reception", "spacing"), [(CAPTURE, 200.0), (SINR, 100.0)])
def test_a_mirrored_and_relabelled_network_is_the_same(reception: int, spacing: float) -> None:
    """Four stations in a line; the inner two send outwards, often in the same slot, and each receiver has the nearer
    one. Their slots begin as far apart as one's signal is ahead of the other's at a receiver, so ties are the rule. 12
    dB suffice at 12 Mb/s. A receiver that followed the signal of the lower number lost frames on one side, which
    depended on the numbers."""
    for seed in range(4):
        runs = []
        for labels in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
            metres = [0.0] * 4
            for place, label in enumerate(labels):
                metres[label] = spacing * place
            air = line(metres, seed, reception)
            far_left, left, right, far_right = labels
            saturate_pairs(air, 120, bytes(1000), {left: far_left, right: far_right}, 0.5)
            starts = [t.start for t in air.tx if t.kind == "other"]
            assert any(b - a < ERP.sensing_ns for a, b in pairwise(starts))
            runs.append(
                [[r.outcome for r in air.rx if r.addressed and r.station == end] for end in (far_left, far_right)]
            )
        for run in runs:
            assert [set(outcomes) for outcomes in run] == [{"OK"}, {"OK"}]
