# SPDX-License-Identifier: BSD-3-Clause
"""Propagation models against closed forms, and against known values of ns-2's radio."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.specification import propagation, specify
from emulation.specification.propagation import (
    Disc,
    FreeSpace,
    LogDistance,
    Ranges,
    SnrMatrix,
    Thresholds,
    TwoRayGround,
)

LAWS = [FreeSpace(), TwoRayGround(), LogDistance(), Disc()]
positions = st.lists(st.tuples(*[st.floats(-5000, 5000)] * 3), min_size=1, max_size=12)


def watts(model, distance):
    return float(10 ** (model.received_dbm(np.array(float(distance))) / 10) / 1000)


def test_two_ray_gives_ns2_thresholds_at_250_and_550_metres():
    assert watts(TwoRayGround(), 250) == pytest.approx(3.652e-10, rel=5e-4)
    assert watts(TwoRayGround(), 550) == pytest.approx(1.559e-11, rel=5e-4)
    assert watts(TwoRayGround(), 251) < 3.652e-10 < watts(TwoRayGround(), 250)
    assert watts(TwoRayGround(), 551) < 1.559e-11 < watts(TwoRayGround(), 550)


def test_two_ray_is_friis_below_the_crossover_and_joins_it_there():
    model = TwoRayGround()
    friis = FreeSpace(frequency_mhz=914.0, tx_power_dbm=model.tx_power_dbm)
    assert model.crossover == pytest.approx(86.2, abs=0.1)
    assert watts(model, 50) == watts(friis, 50)
    assert watts(model, model.crossover * (1 - 1e-9)) == pytest.approx(watts(model, model.crossover), rel=1e-6)
    assert watts(model, 200) == pytest.approx(watts(model, 400) * 16)


def test_free_space_is_friis():
    wavelength = 299_792_458 / 2.412e9
    assert watts(FreeSpace(), 100) == pytest.approx(0.1 * (wavelength / (4 * math.pi * 100)) ** 2)


def test_log_distance_loses_its_exponent_in_decades():
    model = LogDistance(exponent=3.5, reference_loss_db=40.0, tx_power_dbm=16.0)
    assert model.received_dbm(np.array([1.0, 10.0, 100.0])) == pytest.approx([-24, -59, -94])


def test_disc_is_all_or_nothing():
    assert Disc(250.0).received_dbm(np.array([0.0, 250.0, 250.001])).tolist() == [20.0, 20.0, -math.inf]
    assert Disc(250.0).thresholds(None) == Thresholds(20.0, 20.0)


def test_snr_matrix_may_be_asymmetric_and_have_holes():
    model = SnrMatrix(((0, 20), (None, 0)))
    assert model.received_dbm(np.zeros((2, 2))).tolist() == [[-91.0, -71.0], [-math.inf, -91.0]]
    with pytest.raises(ValueError, match="2 stations; there are 3"):
        model.received_dbm(np.zeros((3, 3)))


@pytest.mark.parametrize("model", LAWS, ids=lambda model: model.name)
def test_power_never_rises_with_distance_nor_above_what_was_sent(model):
    power = model.received_dbm(np.concatenate([[0.0], np.geomspace(0.01, 1e6, 500)]))
    assert (power[1:] <= power[:-1]).all()
    assert power[0] <= model.tx_power_dbm


@given(positions)
def test_distances_and_powers_are_symmetric(at):
    distance = propagation.distances(at)
    assert distance.shape == (len(at), len(at))
    assert (distance == distance.T).all()
    for model in LAWS:
        power = model.received_dbm(distance)
        assert (power == power.T).all()
        assert propagation.power_mdbm(power, -120).tolist() == propagation.power_mdbm(power.T, -120).tolist()


@pytest.mark.parametrize("model", [FreeSpace(), TwoRayGround(), LogDistance()], ids=lambda model: model.name)
def test_ranges_become_the_powers_at_those_distances(model):
    found = model.thresholds(Ranges(100, 300, 178))
    assert found.receive_dbm == model.received_dbm(np.array(100.0))
    assert found.sense_dbm == model.received_dbm(np.array(300.0))
    assert found.capture_db == pytest.approx(found.receive_dbm - float(model.received_dbm(np.array(178.0))))
    assert model.reach_m(found.receive_dbm) == 100
    assert model.thresholds(Ranges(100, 300)).capture_db is None


def test_delay_is_distance_over_c_in_whole_nanoseconds():
    assert propagation.delay_ns(np.array([0.0, 200.0, 299.792458])).tolist() == [0, 667, 1000]


def test_powers_are_rounded_to_thousandths_and_nothing_below_the_floor():
    matrix = propagation.power_mdbm(np.array([[0.0, -64.37395], [-120.1, 0.0]]), -120)
    assert propagation.listed(matrix) == [[None, -64374], [None, None]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FreeSpace(frequency_mhz=0),
        lambda: FreeSpace(tx_power_dbm=math.nan),
        lambda: TwoRayGround(height_m=-1),
        lambda: LogDistance(exponent=0),
        lambda: Disc(radius_m=math.inf),
        lambda: Disc(tx_power_dbm=40.1),
        lambda: SnrMatrix(((0, 1),)),
        lambda: SnrMatrix(()),
        lambda: SnrMatrix(((0, math.nan), (0, 0))),
        lambda: Ranges(250, 550, 100),
        lambda: Ranges(math.nan, 550),
        lambda: Thresholds(-80, -90, -1),
        lambda: Thresholds(-80, -90, 67),
        lambda: Disc().thresholds(Ranges()),
        lambda: SnrMatrix(((0,),)).thresholds(Ranges()),
    ],
)
def test_parameters_out_of_their_domain_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must|leave"):
        wrong()


def test_more_than_the_air_takes_is_refused() -> None:
    """A user's model may return anything."""
    assert propagation.power_mdbm(np.full((2, 2), 40.0), -100).max() == 40_000
    with pytest.raises(ValueError, match="41 dBm would arrive; the air accepts 40 dBm"):
        propagation.power_mdbm(np.full((2, 2), 41.0), -100)


def test_a_model_of_ones_own_is_found_by_its_name(monkeypatch):
    monkeypatch.setitem(propagation.MODELS, "itu", Disc)  # so that the end of the test removes it

    @propagation.model("itu")
    @dataclass(frozen=True)
    class Indoor(propagation.Propagation):
        coefficient: float = 30.0

        def received_dbm(self, distance):
            return 20 - (20 * np.log10(2412) + self.coefficient * np.log10(distance) - 28)

    chosen = specify("string", {"propagation": "itu,coefficient=28"}).medium.propagation
    assert isinstance(chosen, Indoor)
    assert float(chosen.received_dbm(np.array(10.0))) == pytest.approx(20 - 20 * math.log10(2412))


def test_the_channel_is_the_frequency_unless_another_is_given():
    """At 5 GHz free space takes 6.6 dB more; two-ray keeps ns-2's 914 MHz."""
    at_5_ghz = {"freq": 5180, "rate": 54.0}
    for name, said in (("free-space", "frequency_mhz=2400"), ("log-distance", "reference_loss_db=40")):
        near, far = (specify("string", {"propagation": name, **more}).medium.propagation for more in ({}, at_5_ghz))
        lost = near.received_dbm(np.array([100.0])) - far.received_dbm(np.array([100.0]))
        assert lost == pytest.approx(20 * math.log10(5180 / 2412), abs=0.1)
        own = [specify("string", {"propagation": f"{name},{said}", **more}).medium for more in ({}, at_5_ghz)]
        assert own[0] == own[1]
    assert specify("string", at_5_ghz).medium.propagation == TwoRayGround()
    assert specify("string", {"propagation": "log-distance"}).medium.propagation.reference_loss_db == 40.1
