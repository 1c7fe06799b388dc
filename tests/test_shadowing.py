# SPDX-License-Identifier: BSD-3-Clause
"""Shadowing: its distribution, its correlation over distance, and its part of a plan, with fading."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.plan.fading import FADES
from emulation.plan.shadowing import shadow_db
from emulation.specification import explain, flatten, specify, unflatten
from emulation.specification.channel import Shadowing

FAR = np.array([[1000.0 * i, 0.0, 0.0] for i in range(80)])
OUTDOORS: dict[str, Any] = {"propagation": "log-distance,exponent=3.3", "unreachable": True}


def pairs(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize("correlation", [None, 20.0])
def test_each_pair_by_itself(correlation: float | None) -> None:
    """Far apart, all pairs are independent: Gaussian with the given deviation, and symmetric."""
    shadow = shadow_db(Shadowing(sigma=6, correlation=correlation), 1, FAR)
    assert shadow == pytest.approx(shadow.T)
    found = np.sort(pairs(shadow) / 6)
    wanted = np.array([(1 + math.erf(x / math.sqrt(2))) / 2 for x in found])
    assert abs(wanted - (np.arange(found.size) + 0.5) / found.size).max() < 1.63 / math.sqrt(found.size)  # one per cent
    rows = np.array([np.delete(shadow[i], [0, 1, 2]) for i in range(3)])
    assert abs(np.corrcoef(rows) - np.eye(3)).max() < 0.4
    other = shadow_db(Shadowing(sigma=6, correlation=correlation), 2, FAR)
    assert abs(np.corrcoef(pairs(shadow), pairs(other))[0, 1]) < 0.08


def test_each_direction_has_its_own_part() -> None:
    """The difference between both directions has twice the variance of one direction's part."""
    shadow = shadow_db(Shadowing(sigma=6, asymmetry=1.5), 1, FAR)
    difference, mean = pairs(shadow - shadow.T), pairs(shadow + shadow.T) / 2
    assert difference.std() == pytest.approx(1.5 * math.sqrt(2), rel=0.05)
    assert mean.std() == pytest.approx(math.sqrt(36 + 1.5**2 / 2), rel=0.05)


@pytest.mark.parametrize("metres", [0.0, 5.0, 20.0, 60.0])
def test_correlation_falls_with_the_way_of_either_end(metres: float) -> None:
    """Gudmundson's exp(-metres / correlation) for one end, and the product for both."""
    here, there = (np.array([[10_000.0 * i, y, 0] for i in range(40)]) for y in (0.0, 1e6))
    places = np.concatenate((here, here + np.array([0, metres, 0]), there, there + np.array([0, 0, metres])))
    found = np.array([shadow_db(Shadowing(sigma=1, correlation=20), seed, places) for seed in range(4)])
    one, near, both = found[:, :40, 80:120], found[:, 40:80, 80:120], found[:, 40:80, 120:]
    assert np.mean(one * near) == pytest.approx(math.exp(-metres / 20), abs=0.05)
    assert np.mean(one * both) == pytest.approx(math.exp(-2 * metres / 20), abs=0.05)
    assert np.mean(one**2) == pytest.approx(1, abs=0.05)


def test_neighbours_have_the_same_deviation() -> None:
    """Also for two close stations, whose paths are nearly one."""
    places = np.array([[10_000.0 * i, y, 0] for i in range(80) for y in (0.0, 2.0)])
    pairs = [shadow_db(Shadowing(sigma=1, correlation=20), seed, places).diagonal(1)[::2] for seed in range(8)]
    assert np.std(pairs) == pytest.approx(1, abs=0.09)


@pytest.mark.parametrize("correlation", [None, 20.0])
def test_who_is_added_changes_nothing(correlation: float | None) -> None:
    shadowing = Shadowing(sigma=6, asymmetry=2, correlation=correlation)
    assert shadow_db(shadowing, 1, FAR)[:5, :5] == pytest.approx(shadow_db(shadowing, 1, FAR[:5]))


def test_a_seed_of_its_own() -> None:
    """The place stays the same for any seed of the run."""
    own, runs = Shadowing(sigma=6, seed=7), Shadowing(sigma=6)
    assert (shadow_db(own, 1, FAR) == shadow_db(own, 2, FAR)).all()
    assert (shadow_db(own, 1, FAR) == shadow_db(runs, 7, FAR)).all()
    assert not shadow_db(None, 1, FAR).any()


def test_the_powers_of_a_plan() -> None:
    """The matrix has the shadowing, to a thousandth of a dB; without it and fading it is unchanged."""
    plain = plan(specify("string", OUTDOORS))["air"]
    asked = specify("string", {**OUTDOORS, "shadowing": "sigma=6,asymmetry=1.5", "seed": 3})
    assert asked.medium.shadowing == Shadowing(sigma=6, asymmetry=1.5)
    shadowed = plan(asked)["air"]
    positions = np.array([node.position for node in asked.made().nodes.values()])
    shadow = shadow_db(asked.medium.shadowing, 3, positions)
    for a, b in zip(*np.nonzero(1 - np.eye(len(positions))), strict=True):
        one, other = plain["power_mdbm"][a][b], shadowed["power_mdbm"][a][b]
        assert None in (one, other) or abs(other - one - 1000 * shadow[a, b]) <= 1
    assert plain["fading"] is None and shadowed["rx_threshold_mdbm"] == plain["rx_threshold_mdbm"]
    assert plan(asked) == plan(unflatten(flatten(asked)))


def test_fading_reaches_farther() -> None:
    """Stations that sense only the strongest fades are in the matrix; routes use the mean."""
    plain, faded = (plan(specify("string", {"stations": 30, **more}))["air"] for more in ({}, {"fading": "rayleigh"}))
    heard = [sum(power is not None for power in each["power_mdbm"][0]) for each in (plain, faded)]
    assert heard[0] < heard[1] and len(faded["fading"]["gain_q32"]) == FADES + 1
    for one, other in zip(plain["power_mdbm"][0], faded["power_mdbm"][0], strict=True):
        assert one is None or one == other
    reach = [
        plan(specify("string", {"motion": "line,node=sta3,speed=5", "link": "mesh", **more}))["motion"]["table"]
        for more in ({}, {"fading": "rayleigh"})
    ]
    assert reach[1]["reach_mm2"][0] / reach[0]["reach_mm2"][0] == pytest.approx(10 ** (9.504 / 20), rel=1e-3)


def test_shadows_of_those_who_move() -> None:
    """In steps, as no table fits; each pair keeps its own, or depends on the place."""
    moving = {**OUTDOORS, "stations": 3, "motion": "line,node=sta3,speed=5", "seconds": 10, "link": "mesh"}
    for shadowing in ("sigma=6", "sigma=6,correlation=20"):
        motion = plan(specify("string", {**moving, "shadowing": shadowing}))["motion"]
        assert motion["table"] is None and len(motion["steps"]) > 90
        assert all("0" in step["power_mdbm"] for step in motion["steps"][:3])
        standing = {step["power_mdbm"]["0"][1] for step in motion["steps"] if "0" in step["power_mdbm"]}
        assert len(standing) == 1  # two that do not move
    many = {**moving, "stations": 100, "seconds": 3000}
    with pytest.raises(Misuse, match="under shadowing: the received power between moving stations is computed"):
        plan(specify("string", {**many, "shadowing": "sigma=6"}))


def test_nodes_of_their_own() -> None:
    """A node's retry limits and thresholds are in its interface; a route needs what each end receives."""
    network = specify("string", {"stations": 3}).made()
    settings = {"short_retry": 2, "long_retry": 9, "receive_dbm": -50, "sense_dbm": -81.5}
    nodes = {**network.nodes, "sta2": network.nodes["sta2"].model_copy(update={"settings": settings})}
    options = {"unreachable": True}
    made = plan(specify(network.model_copy(update={"nodes": nodes}), options))
    first, second = (node["interfaces"][0] for node in made["nodes"][:2])
    own = {"short_retry": 2, "long_retry": 9, "rx_threshold_mdbm": -50_000, "cs_threshold_mdbm": -81_500}
    assert own.items() <= second.items() and not own.keys() & first.keys()
    assert made["nodes"][0]["routing"]["routes"] == []
    for wrong, said in (
        ({"receive_dbm": -90}, "sta2: thresholds of -90 dBm to receive, -78.0.* dBm to sense"),
        ({"sense_dbm": "low"}, "sta2: sense_dbm: must be a number of dBm, not 'low'"),
        ({"short_retry": 0}, "sta2: short_retry: must be at least 1"),
    ):
        nodes["sta2"] = network.nodes["sta2"].model_copy(update={"settings": wrong})
        with pytest.raises(Misuse, match=said):
            plan(specify(network.model_copy(update={"nodes": nodes}), options))


def test_a_node_that_senses_less_than_it_receives() -> None:
    """Under SINR this is valid, and the plan has the powers that it receives."""
    network = specify("string", {"stations": 3}).made()
    settings = {"receive_dbm": -130, "sense_dbm": -62}
    nodes = {**network.nodes, "sta2": network.nodes["sta2"].model_copy(update={"settings": settings})}
    options = {"thresholds": {"receive_dbm": -62, "sense_dbm": -62}, "unreachable": True,
               "propagation": {"model": "log-distance", "exponent": 4.5}}  # fmt: skip
    own = network.model_copy(update={"nodes": nodes})
    made = plan(specify(own, {**options, "reception": "sinr"}))
    assert made["nodes"][1]["interfaces"][0]["rx_threshold_mdbm"] == -130_000
    arriving = [made["air"]["power_mdbm"][sender][1] for sender in (0, 2)]
    assert all(power is not None and -130_000 < power < -114_000 for power in arriving), arriving
    with pytest.raises(Misuse, match="sta2: thresholds of -130 dBm to receive, -62 dBm to sense: with reception c"):
        plan(specify(own, options))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shadowing": "sigma=-1"}, "shadowing.sigma: must be at least 0"),
        ({"shadowing": "6"}, "'6' has no value; write NAME=VALUE"),
        ({"shadowing": "sigma=6,colour=3"}, "shadowing.colour: there is no such option"),
        ({"fading": "rician"}, "fading.model: must be 'rayleigh', 'ricean' or 'lognormal', not 'rician'"),
        ({"fading": "rayleigh,k=6"}, "fading: rayleigh has no k; ricean has it"),
        ({"fading": "ricean,k=21"}, "fading.k: must be at most 20"),
        ({"fading": "ricean,coherence_ms=5000"}, "fading.coherence_ms: must be at most 4000"),
        ({"fading": "rayleigh", "propagation": "disc"}, "propagation disc: .* leave out shadowing and fading"),
    ],
)
def test_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as error:
        specify("string", options)
    assert re.search(said, "; ".join(explain(error.value)))


def test_none_is_none() -> None:
    """As written in `--vary fading=none,rayleigh`."""
    off = specify("string", {"fading": "none", "shadowing": "none"})
    assert off == specify("string", {}) and off.medium.fading is None
