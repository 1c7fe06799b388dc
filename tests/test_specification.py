# SPDX-License-Identifier: BSD-3-Clause
"""Specifications: any input gives an experiment or an error in one message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from emulation.lane.protocol import RULES
from emulation.specification import OPTIONS, SECTIONS, Specification, explain, flatten, specify, unflatten
from emulation.specification.medium import Medium
from emulation.specification.propagation import MODELS, Disc, LogDistance, TwoRayGround
from emulation.specification.words import nearest
from topologies import Application, Network, Node
from topologies.files import USER

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fields = sorted([*Specification.model_fields, *OPTIONS])
plausible = st.sampled_from(
    [*MODELS, "string", "mesh", "full", "plain", "sinr", "newreno", "vegas,cubic", 1, 2, 5.5, 54, 1e9]
)
models = st.fixed_dictionaries(
    {"model": st.sampled_from(sorted(MODELS))},
    optional={"radius_m": anything, "exponent": anything, "snr_db": anything, "tx_power_dbm": st.floats()},
)


@given(st.dictionaries(st.sampled_from(fields) | st.text(), anything | plausible | models, max_size=5) | anything)
def test_any_json_is_a_specification_or_is_explained(value):
    try:
        specification = Specification.model_validate(value)
    except ValidationError as error:
        lines = explain(error)
        assert lines
        assert all(line and "\n" not in line for line in lines)
    else:
        assert Specification.model_validate_json(specification.model_dump_json()) == specification


def said(topology, **options):
    with pytest.raises(ValueError) as caught:
        specify(topology, options)
    return explain(caught.value)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"stations": 0}, "stations: must be at least 2, not 0"),
        ({"stations": 500}, "stations: must be at most 256, not 500"),
        ({"rate": 3}, "rate: 3 Mb/s is not possible; there are: 1, 2, 5.5, 11, 6, 9, 12, 18, 24, 36, 48, 54"),
        ({"spacing": -200}, "spacing: must be above 0, not -200"),
        ({"rts": "often"}, "rts: must be 'full', 'partial' or 'none', not 'often'"),
        ({"seconds": 0}, "seconds: must be above 0, not 0"),
        ({"seed": -1}, "seed: must be at least 0, not -1"),
        ({"colour": "red"}, "colour: there is no such option"),
        (
            {"flows": 2, "tcp": "newreno,sack,vegas"},
            "tcp: give one for all flows, or one for each of the 2 flows; not 3",
        ),
        (
            {"propagation": {"model": "disc", "radius": 1}},
            "propagation: disc: there is no parameter 'radius'; there are: radius_m, tx_power_dbm",
        ),
        ({"propagation": "disc", "ranges": {}}, "a disc has one range, its radius_m; leave out the ranges"),
        ({"basic_rates": "1,6"}, "basic_rates: stations at 2 Mb/s support only 1, 2, 5.5, 11"),
        ({"freq": 2413}, None),
        ({"freq": 2472}, None),  # the kernel would refuse to open it
        ({"freq": 5180}, "rate: at 5180 MHz there is no 2 Mb/s; there are: 6, 9, 12, 18, 24, 36, 48, 54"),
        ({"freq": 2484, "rate": 6}, "rate: at 2484 MHz there is no 6 Mb/s; there are: 1, 2, 5.5, 11"),
        (
            {"freq": 5180, "rate": 6, "basic_rates": "1,6"},
            "basic_rates: stations at 6 Mb/s support only 6, 9, 12, 18, 24, 36, 48, 54",
        ),
        ({"topology": "mesh"}, None),
    ],
)
def test_mistakes_are_answered_in_one_line(options, line):
    lines = said("string", **options) if "topology" not in options else said("torus")
    assert len(lines) == 1
    assert line is None or lines == [line]


def test_every_mistake_gets_its_line():
    assert len(said("string", rate=3, seconds=-1, stations=1)) == 3


def test_options_go_to_the_topology_or_to_the_experiment():
    specification = specify("string", {"stations": 3, "rate": "5.5", "tcp": "newreno,vegas", "flows": 2})
    assert specification.network.parameters == {"stations": 3, "spacing": 200.0, "flows": 2}
    assert (specification.radio.rate, specification.transport.tcp) == (5.5, ("newreno", "vegas"))


def test_the_defaults_are_the_seeds_scenario():
    specification = Specification()
    assert specification.medium.propagation == TwoRayGround()
    found = specification.medium.effective_thresholds()
    assert (round(found.receive_dbm, 3), round(found.sense_dbm, 3), found.capture_db) == (-64.374, -78.071, 10.0)


@pytest.mark.parametrize(
    "options",
    [
        {"thresholds": {"receive_dbm": -82, "sense_dbm": -62}},
        {"ranges": {"transmission_m": 250, "carrier_sense_m": 80}},
    ],
)
def test_only_by_sinr_may_energy_be_sensed_from_a_higher_power_on_than_frames_are_received(options):
    """17.3.10.6 has -62 and -82 dBm. With capture, a station decodes what it senses."""
    found = specify("string", {**options, "reception": "sinr"}).medium.effective_thresholds()
    assert found.sense_dbm > found.receive_dbm
    (sentence,) = said("string", **options)
    assert "with reception capture, which follows what it senses" in sentence


def test_a_propagation_models_parameters_may_be_written_on_a_command_line():
    assert Medium(propagation="log-distance,exponent=4").propagation == LogDistance(exponent=4.0)
    assert said("string", propagation="disc,radius=7") == [
        "propagation: disc: there is no parameter 'radius'; there are: radius_m, tx_power_dbm"
    ]
    assert said("string", propagation="disc,radius_m=far")[0].startswith("propagation.radius_m: must be a valid number")


def test_a_propagation_model_is_a_name_an_object_or_a_model():
    for way in ("disc", {"model": "disc"}, Disc()):
        assert Medium(propagation=way).propagation == Disc()
    dumped = json.loads(Medium(propagation="disc").model_dump_json())["propagation"]
    assert dumped == {"model": "disc", "radius_m": 250.0, "tx_power_dbm": 20.0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ackthin": "skip,skip"}, "'skip' has no value; write NAME=VALUE"),
        ({"ackthin": "skip,skip=999"}, "ackthin: skip is from 0 to 255, not 999"),
        (
            {"ackthin": "every"},
            "ackthin: there is no policy 'every' of ackthin; there are: plain, delayed, skip, daa, dynamic",
        ),
        ({"ackthin": "daa", "ack": "delayed"}, "ackthin needs ack plain"),
        ({"qdisc": "mine"}, "qdisc: 'mine' is not of the form MODULE:KIND"),
        ({"qdisc": "sch_mine:mine", "ackthin": "daa"}, "leave out the qdisc"),
        ({"initial_window": 0}, "initial_window: must be at least 1, not 0"),
        ({"rto_min_ms": 1}, "rto_min_ms: must be at least 10, not 1"),
        ({"module_parameters": "beta=3"}, "'beta' is not of the form MODULE.PARAMETER"),
        ({"sysctl": "kernel.panic=1"}, "sysctl: 'kernel.panic' does not belong to a network"),
        ({"sysctl": "net.ipv4/../../kernel.panic=1"}, "does not belong to a network"),
        ({"receive_buffer": "auto", "window_limit": 4}, "window_limit needs a receive_buffer in bytes"),
        ({"tcp": "tcp mine:mine"}, "there is no TCP 'tcp mine:mine'"),
        ({"tcp": "tcp_mine:a_name_that_is_too_long"}, "MODULE:NAME for one of your own"),
    ],
)
def test_what_is_wrong_with_modules_is_reported(options, said):
    with pytest.raises(ValueError) as caught:
        specify("string", options)
    assert said in "\n".join(explain(caught.value))


def test_flat_options_are_a_view():
    """They have all options once, and give the specification back."""
    talk = Application(source="a", destination="b")
    assert len(OPTIONS) == sum(len(model.model_fields) for model in SECTIONS.values())
    made = [
        specify("string", {"stations": 3, "tcp": "vegas", "propagation": "disc", "motion": "line,node=sta1"}),
        specify("mesh", {"size": "3x3", "ackthin": "skip,skip=2", "module_parameters": "a.b=1", "ranges": {}}),
        specify(Network(nodes={"a": Node(), "b": Node()}, applications=(talk,)), {}),
    ]
    for specification in made:
        flat = json.loads(json.dumps(flatten(specification)))
        assert unflatten(flat) == specification
    flat = flatten(made[0])
    assert (flat["stations"], flat["tcp"], flat["seconds"], flat["topology"]) == (3, ["vegas"], 120.0, "string")


@given(st.dictionaries(st.sampled_from([*OPTIONS, "stations", "flows"]), anything | plausible | models, max_size=5))
def test_any_options_make_a_specification_or_are_explained(options):
    try:
        specification = specify("string", options)
    except ValueError as error:
        assert all(line and "\n" not in line for line in explain(error))
    else:
        assert unflatten(flatten(specification), USER) == specification


def test_like_a_simulator_sets_what_was_not_said() -> None:
    medium = specify("string", {"like": "ns2", "sensing_ns": 5000}).medium
    assert (medium.rules, medium.eifs, medium.nav_reset, medium.sensing_ns) == (RULES, "energy", False, 5000)
    assert unflatten(flatten(specify("string", {"like": "ns2"}))).medium.rules == RULES


def test_a_mode_with_mcs_leaves_out_a_topologys_legacy_defaults() -> None:
    """Such as the rate of `wlan`, and the OCB of `mobile`, which has no frames of 802.11n."""
    assert specify("wlan", {}).radio.rate == 11 and specify("wlan", {"mode": "n"}).radio.rate == 54
    legacy, moving = specify("mobile", {}), specify("mobile", {"mode": "n"})
    assert legacy.network.link == "ocb" and moving.network.link == "adhoc"
    assert moving.network.motion == legacy.network.motion


def test_tcp_like_a_simulator_sets_what_was_not_said() -> None:
    names = ("initial_window", "rto_min_ms", "max_reordering", "small_queues")

    def chosen(**options):
        transport = unflatten(flatten(specify("string", options))).transport
        return tuple(getattr(transport, name) for name in names)

    assert chosen() == (None, None, None, True)
    assert chosen(tcp_like="ns2") == (2, 200, 3, False)
    assert chosen(tcp_like="ns2", rto_min_ms=1000, small_queues=True) == (2, 1000, 3, True)
    default = specify("string", {}).medium
    assert (default.rules, default.nav_reset, default.sensing_ns) == ((), True, None)


def test_rules_that_there_are_not_are_named() -> None:
    with pytest.raises(ValueError, match="there is no rule 'cts'") as caught:
        specify("string", {"rules": "below_cw,cts"})
    assert "cts_if_idle" in explain(caught.value)[0]


@pytest.mark.parametrize(
    ("name", "there", "near"),
    [
        ("on", ["full", "partial", "none"], "full"), ("off", ["full", "partial", "none"], "none"),
        ("yes", ["no", "auto"], None), ("vegs", ["vegas", "reno"], "vegas"), ("ful", ["full", "none"], "full"),
    ],
)  # fmt: skip
def test_what_is_suggested_does_not_mean_the_contrary(name: str, there: list[str], near: str | None) -> None:
    assert nearest(name, there) == near
