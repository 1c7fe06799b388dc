# SPDX-License-Identifier: BSD-3-Clause
"""A configuration as a network: what of it reaches the plan, and that a run of it needs the file no more."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from emulation.cli.main import cli
from emulation.features.wmediumd import configured as wmediumd
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.stations import Stations
from emulation.lane.errors import Misuse
from emulation.lane.per_tables import Table
from emulation.plan import plan
from emulation.plan.fading import lognormal
from emulation.specification import Specification, specify
from emulation.specification.channel import MOST_SIGMA
from topologies import Network, Node

IDS = 'ifaces: { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00"]; %s };'
PLACES = "positions = ((-69.0,0.0),(0.0,0.0),(69.0,0.0)); tx_powers = (15.0,15.0,12.0);"
STRING = f'type = "path_loss"; model_name = "log_distance"; path_loss_exp = 3.3; xg = 1.0; {PLACES}'


def stations(model: str, ifaces: str = "") -> Stations:
    return parse(IDS % ifaces + (f"model: {{ {model} }};" if model else "")).stations


def asked(found: Stations, table: Table | None = None, **options: Any) -> Specification:
    return specify(
        wmediumd.network_of(found), {**wmediumd.options_of(found, table), **wmediumd.DEFAULT_OPTIONS, **options}
    )


def planned(model: str, ifaces: str = "", **options: Any) -> Mapping[str, Any]:
    return plan(asked(stations(model, ifaces), **options))


def test_stations_have_their_addresses_and_one_flow() -> None:
    made = planned("")
    assert [node["interfaces"][0]["address"] for node in made["nodes"]] == [
        "02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00",
    ]  # fmt: skip
    assert [(flow["source"], flow["destination"]) for flow in made["applications"]] == [("sta1", "sta3")]
    assert made["nodes"][0]["interfaces"][0]["neighbours"]["10.0.0.3"] == "02:00:00:00:02:00"


def test_an_snr_is_a_power_over_the_noise() -> None:
    air = planned('type = "snr"; links = ((0, 1, 20), (1, 0, 10), (0, 2, 0));')["air"]
    assert air["noise_mdbm"] == -91_000 and air["reception"] == "sinr"
    assert air["power_mdbm"] == [[None, -71_000, -91_000], [-81_000, None, -61_000], [-91_000, -61_000, None]]


def test_nobody_receives_an_snr_of_nothing() -> None:
    with pytest.raises(Misuse, match="no path"):
        planned('type = "snr"; links = ((0, 2, 0), (0, 1, 0));')


def test_probabilities_are_sinrs_on_one_curve() -> None:
    air = planned('type = "prob"; links = ((0, 1, 0.0), (1, 2, 0.5));')["air"]
    assert air["power_mdbm"][0][2] is None
    assert air["power_mdbm"][0][1] == -56_000 and -82_000 < air["power_mdbm"][1][2] < -80_000
    curves = {tuple(curve) for curve in air["error_table"]["lambda_q40"].values()}
    assert len(curves) == 1


def test_a_path_loss_is_a_propagation_model() -> None:
    """15 - 40.1 - 1 - 33 log10(69) arrive, and three less from who sends with three less."""
    air = planned(STRING)["air"]
    arrives = 15 - 40.1 - 1 - 33 * math.log10(69)
    assert air["power_mdbm"][0][1] == pytest.approx(arrives * 1000, abs=1)
    assert air["power_mdbm"][2][1] == pytest.approx((arrives - 3) * 1000, abs=1)
    assert air["rx_threshold_mdbm"] == air["cs_threshold_mdbm"] == -90_000


@pytest.mark.parametrize(
    ("model", "lost"),
    [
        (
            'model_name = "free_space"; sL = 2;',
            20 * math.log10(4 * math.pi * 69 * 2412e6 / 299_792_458) + 10 * math.log10(2),
        ),
        ('model_name = "itu"; nFLOORS = 1; LF = 9;', 20 * math.log10(2412) + 38 * math.log10(69) + 9 - 28),
        ('model_name = "itu"; pL = 30;', 20 * math.log10(2412) + 30 * math.log10(69) - 28),
        ('model_name = "log_normal_shadowing"; path_loss_exp = 3.0;', 40.1 + 30 * math.log10(69)),
        ('model_name = "two_ray_ground";', 20 * math.log10(4 * math.pi * 69 * 2412e6 / 299_792_458)),
    ],
)
def test_path_losses(model: str, lost: float) -> None:
    air = planned(f'type = "path_loss"; {model} {PLACES}', unreachable=True)["air"]
    assert air["power_mdbm"][0][1] == pytest.approx((15 - lost) * 1000, abs=60)


def test_directions_are_motion() -> None:
    made = planned(STRING + " directions = ((3.0, 0.0), (0.0, 0.0), (0.0, 0.0));", seconds=10)
    assert made["motion"]["waypoints"]["sta1"] == [(0, -69_000, 0, 0), (10_000_000, -59_000, 0, 0)]
    assert made["motion"]["table"] is not None


def test_other_mediums_are_not_heard() -> None:
    air = planned("", "medium_array = ((0, 1), (2));", unreachable=True)["air"]
    assert air["power_mdbm"][0][1:] == [-61_000, None]


def test_a_table_of_error_rates_is_the_airs() -> None:
    found = stations("")
    table = Table(-90, ((1.0,) * 12, (0.0,) * 12))
    made = plan(asked(found, table))["air"]["error_table"]["lambda_q40"]["540"]
    assert made != plan(asked(found))["air"]["error_table"]["lambda_q40"]["540"] and made[-1] == 0


def test_fading_is_gaussian_in_decibels() -> None:
    made = planned('type = "snr"; fading_coefficient = 2;')["air"]["fading"]["gain_q32"]
    decibels = 10 * np.log10(np.array(made[1:-1]) / 2**32)
    assert decibels[511] == pytest.approx(0, abs=0.01) and decibels.std() == pytest.approx(2, rel=0.02)
    assert max(lognormal(MOST_SIGMA)) < 64


def test_what_is_played_otherwise_is_reported() -> None:
    said = wmediumd.differences(stations('type = "snr"; fading_coefficient = 9;', "enable_interference = false;"))
    assert said == [
        "ifaces.enable_interference = false: interference and collisions are played all the same",
        "model.fading_coefficient: taken as 4.5, the most that the air plays",
    ]
    assert not wmediumd.differences(stations("", "enable_interference = true;"))


def test_a_run_needs_the_file_no_more() -> None:
    found = asked(stations('type = "prob"; links = ((0, 1, 0.5)); default_prob = 0.0; fading_coefficient = 1;'))
    again = Specification.model_validate_json(found.model_dump_json())
    assert json.dumps(plan(again)) == json.dumps(plan(found))


def test_an_address_is_one_stations() -> None:
    nodes = {
        name: Node(settings={"mac": mac}) for name, mac in (("a", "02:00:00:00:00:02"), ("b", "02:00:00:00:00:03"))
    }
    with pytest.raises(Misuse, match="c: mac: 02:00:00:00:00:03 is b's address"):
        plan(specify(Network(nodes={**nodes, "c": Node()}), {}))
    with pytest.raises(Misuse, match="a: mac: give a radio's address like 02:00:00:00:00:01, not '42:00"):
        plan(specify(Network(nodes={"a": Node(settings={"mac": "42:00:00:00:00:01"})}), {}))


def test_what_is_wrong_is_misuse(tmp_path: Any) -> None:
    path = tmp_path / "lab.cfg"
    path.write_text("ifaces: {\n}")
    done = CliRunner().invoke(cli, ["run", str(path)])
    assert done.exit_code == 2 and f"{path}:1: ifaces.ids is missing" in done.output
    path.write_text(IDS % "")
    done = CliRunner().invoke(cli, ["run", str(path), "--flow", "sta1,sta9"])
    assert done.exit_code == 2 and "there is no node sta9" in done.output
    done = CliRunner().invoke(cli, ["run", str(path), "-x", str(path)])
    assert done.exit_code == 2 and f"{path}:1: a power in dBm" in done.output
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "none.cfg")])
    assert done.exit_code == 2 and "none.cfg: No such file" in done.output
