# SPDX-License-Identifier: BSD-3-Clause
"""Actions on the page take effect, their script repeats them to the byte, and going back restores a moment to the
byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from table import Table

from analysis.traces.trace import Kind, Records
from emulation.lane.errors import Misuse

MS = 1_000_000


def state(table: Table) -> dict[str, Any]:
    return table.session.state()


def test_a_script_repeats_to_the_byte_what_was_done(table: Callable[..., Table]) -> None:
    """Whether seen in strides of any length, by frames, or after going back."""
    live = table(stations=4)

    def play(page: Table) -> None:
        page.do("pace", pace=0.3)  # on a busy machine, too, it is paused before 700 ms
        page.wait(lambda session: session.t_ns > 300 * MS)
        page.do("set", node="sta1", rts="full")
        page.do("pause")
        for _ in range(5):
            page.do("step", to="frame")
            page.do("step", to="exchange")
        page.until(700 * MS + 1)
        page.do("save", name="here")
        page.do("move", node="sta4", position=[610.5, 40])
        page.do("start", source="sta4", destination="sta2", tcp="vegas")
        page.until(1_000 * MS)
        page.do("back", moment="here")
        page.wait(lambda session: not session.busy)
        assert page.session.t_ns == 700 * MS + 1
        page.do("tcp", flow="flow1", congestion="cubic")
        page.do("start", source="sta3", destination="sta1")
        page.do("set", tx_power_dbm=23)
        page.until(1_500 * MS + 7)
        page.do("stop", flow="flow2")
        page.do("move", node="sta3", position=[350, 120, 1])
        page.until(2_000 * MS)

    live.play(play)
    again = live.again()
    assert len(again.trace()) > 100_000
    ours, theirs = (json.loads((each.session.trace.parent / "lane.json").read_text()) for each in (live, again))
    assert ours == theirs
    assert [(flow["name"], flow["congestion"]) for flow in ours["applications"]] == [
        ("flow1", "cubic"), ("flow2", "reno")]  # fmt: skip
    assert {move["node"] for move in ours["moves"]} == {"sta3"}


def test_however_much_is_done_at_one_moment_its_script_repeats_it(table: Callable[..., Table]) -> None:
    """A program that reads the clock often without waiting advances in steps; both runs see the same."""
    live = table("mesh", size="4x4", flows=2)

    def play(page: Table) -> None:
        page.do("pause")
        page.until(300 * MS)
        for number in range(60):
            page.do("move", node="sta6", position=[200 + number, 210])
            page.do("set", node="sta3", tx_power_dbm=20 + number / 100)
            page.do("pace", pace=1 + number)  # for which it is looked at once more
        page.do("set", rts="full")
        assert page.session.t_ns < 301 * MS
        page.until(800 * MS)

    live.play(play)
    live.again()


def test_a_moment_that_one_goes_back_to_is_exactly_that_moment(table: Callable[..., Table]) -> None:
    seen: list[tuple[bytes, Any]] = []

    def look(page: Table) -> None:
        shown = state(page)
        seen.append((page.trace(), {name: shown[name] for name in ("t_ns", "nodes", "flows", "counters", "rates")}))

    def play(page: Table) -> None:
        page.do("pause")
        page.until(200 * MS)
        page.do("set", rts="full")
        page.until(900 * MS + 123)
        page.do("save")
        look(page)
        page.do("run")
        page.wait(lambda session: session.t_ns > 1_000 * MS)
        page.do("back", moment="1")
        page.wait(lambda session: not session.busy)
        look(page)
        page.do("back", moment="start")
        page.wait(lambda session: not session.busy)
        assert page.session.t_ns == 0 and not page.session.actions

    table(stations=3).play(play)
    (before, was), (after, now) = seen
    assert before == after and len(before) > 10_000
    assert was["t_ns"] == 900 * MS + 123 and {**was, "rates": 0, "flows": 0} == {**now, "rates": 0, "flows": 0}
    assert was["flows"]["flow1"]["bytes"] == now["flows"]["flow1"]["bytes"] > 0


def test_whoever_sees_a_moment_finds_all_in_the_trace_that_was_until_then(table: Callable[..., Table]) -> None:
    """Reading the state brings the air up to date: the first read must have all frames, not only the second."""
    seen: list[tuple[int, int]] = []

    def play(page: Table) -> None:
        page.do("pause")
        for moment in range(1, 21):
            page.until(moment * 10 * MS)
            page.do("pace", pace=moment)  # for which it is looked at once more
            page.wait(lambda session: not session.stale)

    live = table(stations=3)
    heard = live.session.answer

    def answer(question: str) -> str:
        seen.append((json.loads(question)["t_ns"], live.session.trace.stat().st_size))
        return heard(question)

    live.session.answer = answer  # type: ignore[method-assign]
    live.play(play)
    sizes: dict[int, set[int]] = {}
    for t_ns, size in seen:
        sizes.setdefault(t_ns, set()).add(size)
    assert len(seen) > len(sizes) + 10 and len(sizes) > 10
    assert [t_ns for t_ns, found in sizes.items() if len(found) > 1] == []


def test_a_station_that_is_dragged_away_is_heard_no_more(table: Callable[..., Table]) -> None:
    def play(page: Table) -> None:
        page.do("pause")
        page.until(1_000 * MS)
        assert state(page)["routes"] == {"flow1": ["sta1", "sta2", "sta3"]}
        assert state(page)["flows"]["flow1"]["kbps"] > 100
        assert state(page)["nodes"]["sta1"]["range_m"] == 250
        page.do("move", node="sta3", position=[2000, 0])
        assert state(page)["nodes"]["sta3"]["position"] == [2000, 0, 0]
        for second in range(2, 8):
            page.until(second * 1_000 * MS)
        assert state(page)["flows"]["flow1"]["kbps"] == 0
        assert state(page)["counters"]["given_up"] > 0

    table(stations=3).play(play)


def test_what_cannot_be_is_refused_and_the_network_continues(table: Callable[..., Table]) -> None:
    refused = {
        "there is no node sta9": ("move", {"node": "sta9", "position": [0, 0]}),
        "there is no flow flow9": ("stop", {"flow": "flow9"}),
        "both source and destination": ("start", {"source": "sta1", "destination": "sta1"}),
        "there is no TCP 'mine'": ("start", {"source": "sta1", "destination": "sta2", "tcp": "mine"}),
        "tcp: there is no TCP 'mine'": ("tcp", {"congestion": "mine"}),
        "sack needs another net.ipv4.tcp_sack": ("tcp", {"congestion": "sack"}),
        "cannot change to babel; choose one of: static, aodv,": ("routing", {"kind": "babel"}),
        "must be from -": ("set", {"tx_power_dbm": 1e6}),
        "there is no moment x": ("back", {"moment": "x"}),
        "the moment start exists": ("save", {"name": "start"}),
        "give the number of nanoseconds": ("step", {"to": "ns"}),
    }

    def play(page: Table) -> None:
        page.do("pause")
        page.until(100 * MS)
        for said, (verb, what) in refused.items():
            with pytest.raises(Misuse, match=said):
                page.do(verb, **what)
        page.until(200 * MS)

    live = table(stations=2)
    live.play(play)
    assert {action.error is not None for action in live.session.actions} == {True}
    live.again()


@pytest.mark.quick
def test_a_rate_is_changed_under_way(table: Callable[..., Table]) -> None:
    """And changed back, for one station; minstrel takes 50 ms to notice."""
    live = table(stations=3)
    changes = ((500 * MS, 11), (1_000 * MS, 2), (1_500 * MS, 5.5))

    def play(page: Table) -> None:
        page.do("pause")
        assert page.session.network["choices"]["rate"] == [1, 2, 5.5, 11]
        for at_ns, rate in changes:
            page.until(at_ns)
            page.do("set", node="sta1", rate=rate)
            assert state(page)["nodes"]["sta1"]["rate"] == rate
        page.until(2_000 * MS)

    live.play(play)
    records = Records.of(np.frombuffer(live.trace(), np.uint8), 0)
    data = records.tx[(records.tx["kind"] == Kind.TCP_DATA) & (records.tx["queued_ns"] > 0)]
    times, began_ns = [0, *(at_ns for at_ns, _ in changes), 2_000 * MS], live.session.air.began_ns
    rates = (20, 20, 110, 20, 55)
    for (begin, end), (before, rate) in zip(pairwise(times), pairwise(rates), strict=True):
        since = data["queued_ns"] - began_ns - begin
        mine, others = ((data["station"] == station) & (since < end - begin) for station in (0, 1))
        assert set(data[others & (since >= 0)]["rate"]) == {20}
        assert set(data[mine & (since >= 0)]["rate"]) <= {before, rate}
        assert set(data[mine & (since >= 100 * MS)]["rate"]) == {rate}


def test_who_moves_by_itself_does_so_and_can_be_taken_elsewhere(table: Callable[..., Table]) -> None:
    live = table("route-break", routing="aodv")

    def play(page: Table) -> None:
        page.do("pause")
        places = {name: node["position"] for name, node in state(page)["nodes"].items()}
        page.until(36_000 * MS)
        now = {name: node["position"] for name, node in state(page)["nodes"].items()}
        assert {name for name in places if places[name] != now[name]} == {"sta5", "sta6"}
        assert now["sta5"] == [860, 0, 0] and now["sta6"] == [760, 130, 0]
        page.do("move", node="sta5", position=[1, 2])
        page.until(37_000 * MS)
        assert state(page)["nodes"]["sta5"]["position"] == [1, 2, 0]
        assert state(page)["flows"]["flow1"]["bytes"] > 0

    live.play(play)
    live.again()


def test_static_routes_are_made_again_where_all_are_now(table: Callable[..., Table]) -> None:
    """Moving a station away breaks a path; moving another there restores it."""
    live = table(stations=4)

    def play(page: Table) -> None:
        page.do("pause")
        page.do("stop", flow="flow1") if state(page)["flows"]["flow1"]["running"] else None
        page.do("start", source="sta1", destination="sta3")
        page.until(1_000 * MS)
        assert state(page)["routes"]["flow2"] == ["sta1", "sta2", "sta3"]
        page.do("move", node="sta2", position=[0, 2000])
        page.do("routing", kind="static")
        assert state(page)["routes"]["flow2"] == []
        page.do("move", node="sta4", position=[200, 100])
        page.do("routing", kind="static")
        assert state(page)["routes"]["flow2"] == ["sta1", "sta4", "sta3"]
        before = state(page)["flows"]["flow2"]["bytes"]
        page.until(6_000 * MS)
        assert state(page)["flows"]["flow2"]["bytes"] > before + 100_000

    live.play(play)
    live.again()


def test_another_routing_does_the_same_from_the_start(table: Callable[..., Table]) -> None:
    """The actions are repeated under it; moments keep their routing."""
    live = table(stations=3)

    def play(page: Table) -> None:
        page.do("pause")
        page.until(400 * MS)
        page.do("set", node="sta1", rts="full")
        page.do("save", name="static")
        page.until(1_000 * MS)
        assert state(page)["routing"] == "static" and state(page)["counters"]["sent"] > 0
        page.do("routing", kind="aodv")
        page.wait(lambda session: not session.busy)
        assert state(page)["routing"] == "aodv" and state(page)["t_ns"] == 1_000 * MS
        assert state(page)["nodes"]["sta1"]["rts"] == "full" and state(page)["actions"] == 1
        page.until(6_000 * MS)
        assert state(page)["routes"] == {"flow1": ["sta1", "sta2", "sta3"]}
        page.do("back", moment="static")
        page.wait(lambda session: not session.busy)
        assert state(page)["routing"] == "static"
        assert state(page)["t_ns"] == page.session.moments["static"].t_ns
        page.do("routing", kind="aodv")
        page.wait(lambda session: not session.busy)
        page.until(3_000 * MS)

    live.play(play)
    live.again()


def test_a_station_is_switched_off_and_on_again(table: Callable[..., Table]) -> None:
    live = table(stations=3)

    def play(page: Table) -> None:
        page.do("pause")
        page.until(1_000 * MS)
        page.do("switch", node="sta2", on=False)
        assert state(page)["nodes"]["sta2"]["doing"] == "off"
        page.until(3_000 * MS)
        before = state(page)["flows"]["flow1"]["bytes"]
        page.do("switch", node="sta2", on=True)
        page.until(10_000 * MS)
        assert state(page)["nodes"]["sta2"]["doing"] != "off"
        assert state(page)["flows"]["flow1"]["bytes"] > before + 10_000

    live.play(play)
    live.again()
