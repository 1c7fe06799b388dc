# SPDX-License-Identifier: BSD-3-Clause
"""The requests of a session to its lane, and their times, with a fake lane's program."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from puppet import Puppet, puppet

from emulation.features.live import verbs
from emulation.lane.errors import Misuse


@pytest.fixture
def lane(tmp_path: Path) -> Iterator[Puppet]:
    with puppet(tmp_path) as made:
        yield made


def do(lane: Puppet, verb: str, **what: Any) -> None:
    lane.session.do(verbs.read(json.dumps({"do": verb, **what}).encode()))


def at_once(lane: Puppet, verb: str, **what: Any) -> threading.Thread:
    thread = threading.Thread(target=do, args=(lane, verb), kwargs=what)
    thread.start()
    return thread


def wait(lane: Puppet, holds: Callable[[], bool]) -> None:
    with lane.session.changed:
        assert lane.session.changed.wait_for(holds, 60)


def test_time_stands_when_pause_has_been_answered(lane: Puppet) -> None:
    """Even if time was passing when pause was requested."""
    do(lane, "run")
    assert lane.at_until.wait(60)
    lane.may_go.clear()
    lane.at_until.clear()
    assert lane.at_until.wait(60)  # it is in the middle of a stride
    paused = at_once(lane, "pause")
    lane.may_go.set()
    paused.join()
    t_ns = lane.session.t_ns
    do(lane, "save")
    do(lane, "move", node="sta1", position=[1, 1])
    assert lane.t_ns == t_ns == lane.session.moments["1"].t_ns == lane.session.latest["t_ns"]


def test_of_a_station_that_is_dragged_only_the_latest_place_counts(lane: Puppet) -> None:
    """While the lane is busy. Requests for others in between are carried out."""
    lane.may_go.clear()
    do(lane, "step", to="ns", ns=1000)
    assert lane.at_until.wait(60)
    asked = [at_once(lane, "move", node="sta1", position=[0, 0])]
    wait(lane, lambda: len(lane.session.jobs) == 1)
    for place in range(1, 4):
        before = asked[-1]
        asked.append(at_once(lane, "move", node="sta1", position=[place, 0]))
        before.join()  # it has been overtaken
    asked.append(at_once(lane, "move", node="sta2", position=[9, 9]))
    wait(lane, lambda: len(lane.session.jobs) == 2)
    lane.may_go.set()
    for each in asked:
        each.join()
    moves = [(one["node"], one["position"]) for one in lane.asked if one["do"] == "move"]
    assert moves == [("sta1", [3, 0, 0]), ("sta2", [9, 9, 0])]


def test_steps_are_done_one_after_the_other_and_dropped_by_pause(lane: Puppet) -> None:
    lane.may_go.clear()
    for _ in range(3):
        do(lane, "step", to="ns", ns=1_000_000_000)
    assert lane.at_until.wait(60)
    paused = at_once(lane, "pause")
    wait(lane, lambda: not lane.session.steps)
    lane.may_go.set()
    paused.join()
    t_ns = lane.session.t_ns
    do(lane, "move", node="sta1", position=[1, 1])
    assert lane.t_ns == t_ns < 1_000_000_000


def test_steps_begin_where_those_before_end(lane: Puppet) -> None:
    """Or at the current time, if it was passing."""
    lane.may_go.clear()
    for _ in range(3):
        do(lane, "step", to="ns", ns=1000)
    lane.may_go.set()
    wait(lane, lambda: lane.session.t_ns == 3000)
    do(lane, "run")
    wait(lane, lambda: lane.session.t_ns > 3000)
    do(lane, "step", to="ns", ns=7)
    asked = [one["ns"] for one in lane.asked if one["do"] == "until"]
    wait(lane, lambda: not lane.session.steps and not lane.session.striding)
    assert lane.t_ns == asked[-1] + 7 or lane.t_ns == asked[-1] == asked[-2] + 7


def test_on_the_way_back_nothing_else_is_done(lane: Puppet) -> None:
    do(lane, "step", to="ns", ns=500)
    wait(lane, lambda: lane.session.t_ns == 500)
    do(lane, "move", node="sta1", position=[5, 5])
    do(lane, "save", name="here")
    do(lane, "move", node="sta1", position=[7, 7])
    lane.asked.clear()
    lane.may_go.clear()
    lane.at_until.clear()
    do(lane, "back", moment="here")
    assert lane.at_until.wait(60)
    with pytest.raises(Misuse, match="going back to"):
        do(lane, "move", node="sta1", position=[9, 9])
    lane.may_go.set()
    wait(lane, lambda: not lane.session.busy)
    done = [one for one in lane.asked if one["do"] != "until"]
    assert done == [{"do": "move", "node": "sta1", "position": [5, 5, 0]}]
    assert [action.request for action in lane.session.actions] == done
    assert lane.session.t_ns == lane.session.moments["here"].t_ns == 500


def test_a_deed_is_in_the_script_once_it_is_done(lane: Puppet) -> None:
    """With all actions before it, and none that was undone; the script can run at any time."""

    def moved() -> list[str]:
        compile(script := lane.kept.read_text(), "script.py", "exec")
        return re.findall(r"net\['(\w+)'\]\.position", script)

    assert moved() == []
    do(lane, "move", node="sta1", position=[1, 1])
    assert moved() == ["sta1"]
    do(lane, "step", to="ns", ns=1000)
    wait(lane, lambda: lane.session.t_ns == 1000)
    do(lane, "save", name="here")
    do(lane, "move", node="sta2", position=[2, 2])
    assert moved() == ["sta1", "sta2"]
    do(lane, "back", moment="here")
    wait(lane, lambda: not lane.session.busy)
    assert moved() == ["sta1"]
    lane.refuses["move"] = "not there"
    with pytest.raises(Misuse):
        do(lane, "move", node="sta3", position=[3, 3])
    assert moved() == ["sta1", "sta3"] and "suppress(OSError, ValueError):  # not there" in lane.kept.read_text()
    times = [int(ns) for ns in re.findall(r"until\((\d[\d_]*)\)", lane.kept.read_text())]
    assert times == sorted(times)
