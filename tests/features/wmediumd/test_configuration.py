# SPDX-License-Identifier: BSD-3-Clause
"""What configurations say: every key, what it means, and what is refused or means nothing, with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.wmediumd.inside.configuration import Configuration, parse
from emulation.features.wmediumd.inside.stations import Loss, Mode, PathLoss
from emulation.lane.errors import Misuse

IDS = 'ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00"];'
ALL = [bytes([2, 0, 0, 0, number, 0]) for number in range(3)]
PLACES = "positions = ((-69.0,0.0),(0.0,0.0),(69.0,0.0,1.5)); tx_powers = (15.0,14.0,13.0);"


def made(model: str = "", ifaces: str = "") -> Configuration:
    return parse(f"ifaces: {{\n{IDS}\n{ifaces}\n}};\n" + (f"model: {{\n{model}\n}};" if model else ""), "it")


def snrs(found: Configuration) -> list[list[float]]:
    return [[found.stations.link_snr(a, b) for b in found.stations.all] for a in found.stations.all]


def errors(found: Configuration) -> list[list[float]]:
    return [[found.stations.link_error(a, b) for b in found.stations.all] for a in found.stations.all]


def test_without_a_model_all_hear_all() -> None:
    found = made()
    assert [one.address for one in found.stations.all] == ALL
    assert found.stations.mode is Mode.SNR and not found.stations.interference and not found.warnings
    assert snrs(found) == [[30.0] * 3] * 3


def test_links_of_ifaces_are_snrs_and_both_ways() -> None:
    found = made(ifaces="links = ((0, 1, 0), (2, 1, 12)); enable_interference = true;", model='type = "prob";')
    assert snrs(found) == [[30, 0, 30], [0, 30, 12], [30, 12, 30]]
    assert found.stations.interference and found.stations.mode is Mode.SNR
    assert found.warnings == ["it:5: model is ignored, because there is ifaces.links"]


def test_a_link_that_is_given_for_both_directions_is_asymmetric() -> None:
    assert snrs(made('type = "snr"; links = ((0, 1, 10), (1, 0, 20));'))[0][1] == 10
    assert snrs(made('type = "snr"; links = ((0, 1, 10), (1, 0, 20));'))[1][0] == 20


def test_probabilities() -> None:
    found = made('type = "prob"; default_prob = 0.5; links = ((0, 2, 0.25), (1, 2, 0.0));')
    assert found.stations.mode is Mode.PROB
    assert errors(found) == [[0.5, 0.5, 0.25], [0.5, 0.5, 0.0], [0.25, 0.0, 0.5]]
    assert errors(made('type = "prob";')) == [[1.0] * 3] * 3


def test_asymmetric_probabilities_have_the_default_where_nothing_is_given() -> None:
    found = made('type = "prob_asymmetric"; default_prob = 1.0; links = ((0, 2, 0.2), (2, 0, 0.8), (0, 1, 0.5));')
    assert errors(found) == [[1, 0.5, 0.2], [1, 1, 1], [0.8, 1, 1]]


def test_a_path_loss_has_places_powers_and_steps() -> None:
    found = made(
        'type = "path_loss"; model_name = "log_distance"; path_loss_exp = 3.5; xg = 1.5; fading_coefficient = 2;'
        f"noise_threshold = -95; isnodeaps = (1, 0, 0); directions = ((0.0, 0.0), (3.0, 0.0), (0.0, -1.0)); {PLACES}"
    ).stations
    assert [one.position for one in found.all] == [(-69, 0, 0), (0, 0, 0), (69, 0, 1.5)]
    assert [one.tx_power for one in found.all] == [15, 14, 13] and [one.is_ap for one in found.all] == [
        True,
        False,
        False,
    ]
    assert found.loss == PathLoss(Loss.LOG_DISTANCE, 3.5, 1.5)
    assert (found.mode, found.fading_db, found.noise_dbm) == (Mode.PATH_LOSS, 2, -95)
    assert found.move() and [one.position for one in found.all] == [(-69, 0, 0), (3, 0, 0), (69, -1, 1.5)]


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ('model_name = "free_space"; sL = 2;', PathLoss(Loss.FREE_SPACE, system_loss=2)),
        ('model_name = "two_ray_ground"; sL = 2;', PathLoss(Loss.TWO_RAY_GROUND, system_loss=2)),
        ('model_name = "itu"; nFLOORS = 2; LF = 15;', PathLoss(Loss.ITU, floors=2, floor_db=15)),
        (
            'model_name = "itu"; nFLOORS = 2; lF = 15; pL = 30;',
            PathLoss(Loss.ITU, floors=2, floor_db=15, power_loss=30),
        ),
        (
            'model_name = "log_normal_shadowing"; path_loss_exp = 2.5; sL = 3;',
            PathLoss(Loss.LOG_NORMAL_SHADOWING, 2.5, system_loss=3),
        ),
    ],
)
def test_path_losses(text: str, loss: PathLoss) -> None:
    found = made(f'type = "path_loss"; {text} {PLACES}')
    assert found.stations.loss == loss and not found.warnings


def test_the_group_of_before_is_a_model() -> None:
    text = f'path_loss: {{ {PLACES} model_params = ("log_distance", 3.5, 0.5); }};'
    found = parse(f"ifaces: {{ {IDS} }}; {text}", "it")
    assert found.stations.loss == PathLoss(Loss.LOG_DISTANCE, 3.5, 0.5) and not found.warnings
    with pytest.raises(Misuse, match="it:1: path_loss"):
        parse(f"ifaces: {{ {IDS} }}; path_loss: {{ {PLACES} }};", "it")


def test_mediums_are_numbered_from_one() -> None:
    assert [one.medium for one in made(ifaces="medium_array = ((0, 2), (1));").stations.all] == [1, 2, 1]


def test_an_address_of_old_kernels_is_taken_for_the_one_it_means() -> None:
    found = parse('ifaces: { ids = ["42:00:00:00:00:00"]; };', "it")
    assert found.stations.all[0].address == ALL[0] and "before Linux 4.1" in found.warnings[0]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            f'type = "path_loss"; model_name = "free_space"; isnodeaps = (1, 0, 0); {PLACES}',
            "it:6: model.isnodeaps has no effect: a frame has the power of its sender",
        ),
        ('type = "prob"; band = 2;', "it:6: model.band has no meaning with type 'prob', and is ignored"),
        (
            'type = "snr";\ndefault_prob = 1.0;',
            "it:7: model.default_prob has no meaning with type 'snr', and is ignored",
        ),
        (
            f'type = "path_loss"; model_name = "free_space"; {PLACES}\nxg = 0.0;',
            "it:7: model.xg has no meaning with type 'path_loss', and is ignored",
        ),
        ('type = "snr"; links = ((0, 0, 1));', "it:6: model.links a link from a station to itself means nothing"),
        (
            'type = "snr"; links = ((0, 1, 1), (0, 1, 2));',
            "it:6: model.links this link is given twice; the last one counts",
        ),
    ],
)
def test_what_means_nothing_is_named(model: str, said: str) -> None:
    assert made(model).warnings == [said]


def test_a_whole_number_is_taken_for_a_fraction_with_a_warning() -> None:
    found = made(f'type = "path_loss"; model_name = "log_distance"; path_loss_exp = 3; {PLACES}')
    assert found.stations.loss.exponent == 3
    assert found.warnings == ["it:6: model.path_loss_exp 3 is read as 3.0; wmediumd reads it as 0"]
    assert not made('type = "prob"; links = ((0, 1, 0));').warnings


def test_an_address_that_is_given_twice_is_one_station() -> None:
    """Later numbers, and lists with a value for each of ids, count it."""
    ids = 'ids = ["02:00:00:00:00:00", "02:00:00:00:00:00", "02:00:00:00:01:00"];'
    found = parse(f'ifaces: {{ {ids} }}; model: {{ type = "path_loss"; model_name = "free_space"; {PLACES} }};', "it")
    assert [one.address for one in found.stations.all] == ALL[:2]
    assert [one.position[0] for one in found.stations.all] == [-69, 69]
    assert found.warnings == ["it:1: 02:00:00:00:00:00 is given twice; the first one counts"]
    found = parse(f"ifaces: {{ {ids} links = ((1, 2, 7)); }};", "it")
    assert found.stations.link_snr(*found.stations.all) == 7


def test_there_may_be_no_station_yet() -> None:
    assert parse("ifaces: { ids = []; };", "it").stations.all == []


def test_groups_that_mean_nothing_are_named() -> None:
    found = parse(f"ifaces: {{ {IDS} count = 3; }};\nprob: {{ }};", "it")
    assert [line.partition(" has")[0] for line in found.warnings] == ["it:2: prob", "it:1: ifaces.count"]


@pytest.mark.parametrize(
    ("ifaces", "model", "said"),
    [
        ("links = ((0, 3, 1));", "", "it:3: ifaces.links: 3 is not a station; they are numbered from 0 to 2"),
        (
            "links = ((0, 1, 20.5));",
            "",
            "it:3: ifaces.links: a whole number is expected (wmediumd reads any other as 0), not 20.5",
        ),
        ("links = ((0, 1));", "", "it:3: ifaces.links: a link is (from, to, snr)"),
        ("links = 3;", "", "it:3: ifaces.links: a list ( … ) or an array [ … ] is expected, not 3"),
        ("enable_interference = 1;", "", "it:3: ifaces.enable_interference must be true or false, not 1"),
        ("", "links = ();", "it:5: model.type is missing; there are: snr, prob, prob_asymmetric, path_loss"),
        ("", 'type = "x";', "it:6: model.type: there is no 'x'; there are: snr, prob, prob_asymmetric, path_loss"),
        ("", 'type = "prob"; default_prob = 1.5;', "it:6: model.default_prob: 1.5 is not between 0 and 1"),
        (
            "",
            'type = "path_loss"; model_name = "itu"; tx_powers = (1.0, 1.0, 1.0);',
            "it:5: model.positions is missing; path_loss needs it",
        ),
        (
            "",
            f'type = "path_loss"; model_name = "log_distance"; {PLACES}',
            "it:5: model.path_loss_exp is missing; log_distance needs it",
        ),
        (
            "",
            'type = "path_loss"; model_name = "itu"; positions = (); tx_powers = ();',
            "it:6: model.positions: 0 for 3 stations",
        ),
        (
            "",
            f'type = "path_loss"; model_name = "two"; {PLACES}',
            "it:6: model.model_name: there is no 'two'; there are: "
            "free_space, log_distance, log_normal_shadowing, itu, two_ray_ground",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(ifaces: str, model: str, said: str) -> None:
    with pytest.raises(Misuse) as refused:
        made(model, ifaces)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model: {};", "it:1: the group ifaces, which names the stations, is missing"),
        ("ifaces: {};", "it:1: ifaces.ids is missing: the addresses of the stations"),
        ("ifaces = 1;", "it:1: ifaces must be a group: { … }"),
        ('ifaces: { ids = ["sta1"]; };', "it:1: ifaces.ids: 'sta1' is not an address: \"02:00:00:00:00:00\" is one"),
        (
            'ifaces: { ids = ["ff:00:00:00:00:00"]; };',
            "it:1: ifaces.ids: ff:00:00:00:00:00 is not the address of a single station",
        ),
    ],
)
def test_files_without_stations_are_refused(text: str, said: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse(text, "it")
    assert str(refused.value) == said


KEYS = ("type", "links", "default_prob", "fading_coefficient", "positions", "tx_powers", "model_name", "path_loss_exp",
        "xg", "sL", "nFLOORS", "isnodeaps", "directions", "noise_threshold", "band")  # fmt: skip
SOME = st.sampled_from(
    ['"snr"', '"prob"', '"path_loss"', '"itu"', "1", "-91", "0.5", "1e999", "true", "()", "((0,1,2))", "((0,1,0.5))",
     "((0.0,0.0),(1.0,1.0),(2.0,2.0))", "(1.0,1.0,1.0)", "{}", "[0,1,1]"]
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(KEYS), SOME), st.dictionaries(st.sampled_from(["links", "medium_array"]), SOME))
def test_any_configuration_is_read_or_refused_with_a_line(model: dict[str, str], ifaces: dict[str, str]) -> None:
    text, own = ("\n".join(f"{name} = {value};" for name, value in each.items()) for each in (model, ifaces))
    try:
        found = made(text or "# none", own)
    except Misuse as error:
        assert str(error).startswith("it:")
    else:
        assert all(warning.startswith("it:") for warning in found.warnings)
