# SPDX-License-Identifier: BSD-3-Clause
"""ackthin's parameters in a running kernel, through netlink: valid ones are set, and wrong ones are refused."""

from __future__ import annotations

import json
import textwrap

import pytest
from output import MODULE, NAMES, Script

from emulation.lane import ackthin

pytestmark = pytest.mark.lane


def test_what_is_set_is_what_is_there(script: Script) -> None:
    lines = script(
        NAMES
        + textwrap.dedent("""
        output = Output(policy="daa")
        print(json.dumps(output.options()))
        for name, parameter in ackthin.PARAMETERS.items():
            for value in (parameter.minimum, parameter.maximum):
                if name == "policy":
                    value = ackthin.POLICIES[value]
                wanted = {"policy": "plain", "dwin_min": 1, "dwin_max": 255, "timeout_us": 1, name: value}
                output.set(**wanted)
                assert output.options()[name] == value, name
        print("all")
        """),
        MODULE,
    )
    defaults = {name: parameter.default for name, parameter in ackthin.PARAMETERS.items()}
    assert json.loads(lines[0]) == {**defaults, "policy": "daa", "limit": 500}  # as long as a TUN device's queue
    assert lines[1] == "all"


def test_what_is_wrong_is_refused_with_a_sentence(script: Script) -> None:
    """The earlier values stay."""
    lines = script(
        NAMES
        + textwrap.dedent("""
        from emulation.lane.netlink import build
        output = Output(policy="daa", timeout_us=0)
        before = output.options()
        wrong = [[(p.attribute, v)] for n, p in ackthin.PARAMETERS.items() for v in (p.minimum - 1, p.maximum + 1)
                 if 0 <= v < 1 << 32]
        wrong += [[(8, 5)], [(9, 1)], [(1, 1)], [(1, 4)], [(16, 1)], [(3, b"12")], [(3, b"")]]
        for values in wrong:
            try:
                output.route.replace_qdisc(output.wire.index, "ackthin", build(values))
                print(values, "was accepted")
            except NetlinkError as error:
                print(values, error.strerror)
        print(output.options() == before)
        """),
        MODULE,
    )
    assert lines.pop() == "True"
    said = [line.partition("] ")[2].partition(": ")[2].partition(": ")[2] for line in lines]
    ranges = len(lines) - 7
    assert said[:ranges] == ["integer out of range"] * ranges
    assert ranges == 20
    assert said[ranges:] == [
        "sch_ackthin: dwin_min must not be above dwin_max",
        "sch_ackthin: dwin_min must not be above dwin_max",
        *["sch_ackthin: delayed and dynamic need a timeout: without one, a flow's last ACK would never leave"] * 2,
        "Unknown attribute type",
        *["invalid attribute length"] * 2,
    ]
