# SPDX-License-Identifier: BSD-3-Clause
"""Settings of flows, their samples and outcomes, and that ended ones are not called."""

from pathlib import Path

import pytest

from traffic.applications import UNREPORTED, find
from traffic.loop import Loop, Part
from traffic.outcome import Outcome, judge
from traffic.plugins import kinds
from traffic.samples import COLUMNS, Samples, of_tcp
from traffic.settings import Setting, setting


@pytest.mark.parametrize(
    ("of", "value", "read"),
    [(Setting(1), "7", 7), (Setting(1.0), 2, 2), (Setting(1.0), "0.5", 0.5), (Setting("a", words=("a", "b")), "b", "b"),
     (Setting(None, of=float), None, None), (Setting(None, of=int), "3", 3), (setting(True), False, False)],
)  # fmt: skip
def test_a_setting_is_read_as_it_is_written(of: Setting, value: object, read: object) -> None:
    assert of.read(value) == read


@pytest.mark.parametrize(
    ("of", "value", "says"),
    [(Setting(1), "1.5", "must be a whole number, not '1.5'"), (Setting(1), True, "must be a whole number, not True"),
     (Setting(1.0), "nan", "must be a number, not 'nan'"), (Setting(1, 2, 3), 1, "must be at least 2, not 1"),
     (Setting(1, 2, 3), "4", "must be at most 3, not 4"), (Setting(1), None, "must be a whole number, not None"),
     (Setting("a", words=("a", "b")), "c", "must be 'a' or 'b', not 'c'"), (Setting("a"), 1, "must be a word, not 1"),
     (setting(True), "yes", "must be like True, not 'yes'")],
)  # fmt: skip
def test_what_a_setting_cannot_be(of: Setting, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        of.read(value)


@pytest.mark.parametrize("kind", kinds("traffic.applications"))
def test_defaults_are_possible(kind: str) -> None:
    found = find(kind)
    defaults = {name: setting(of).default for name, of in found.settings.items()}
    assert {name: setting(of).read(defaults[name]) for name, of in found.settings.items()} == defaults
    found.check(defaults)


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"sizes": "pareto", "shape": 1.0}, "shape: pareto sizes have a mean only for a shape above 1, not 1"),
     ({"arrivals": "poisson"}, "need connection=new"),
     ({"arrivals": "poisson", "connection": "new", "think_s": 0.0}, "think_s: with arrivals poisson")],
)  # fmt: skip
def test_settings_that_do_not_go_together(changes: dict[str, object], says: str) -> None:
    request = find("request")
    with pytest.raises(ValueError, match=says):
        request.check({name: setting(of).default for name, of in request.settings.items()} | changes)


@pytest.mark.parametrize(
    ("report", "outcome", "why"),
    [({"finished_s": 3.0, "delivered_bytes": 9, "error": "reset"}, Outcome.FINISHED, None),
     ({}, Outcome.NEVER_STARTED, "nothing arrived"),
     ({"error": "No route to host"}, Outcome.NEVER_STARTED, "No route to host"),
     ({"delivered_bytes": 9, "error": "Connection timed out"}, Outcome.DIED, "Connection timed out"),
     ({"delivered_bytes": 9, "last_s": 3.5, "waiting_s": 5.0}, Outcome.SILENT, "nothing arrived after 3.50 s"),
     ({"delivered_bytes": 9, "last_s": 3.5, "waiting_s": 4.9}, Outcome.RAN, None),
     ({"delivered_bytes": 9}, Outcome.RAN, None)],
)  # fmt: skip
def test_what_became_of_a_flow(report: dict[str, object], outcome: Outcome, why: str | None) -> None:
    assert judge(True, UNREPORTED | report) == (outcome, why)
    assert judge(False, UNREPORTED | report) == (Outcome.NOT_DUE, None)


def test_samples(tmp_path: Path) -> None:
    """Goodput is that since the row before, or the start; equal times give one row."""
    made = Samples()
    made.add("a", 2.0, of_tcp({}, 0), began_s=1.5)
    made.add("a", 3.0, of_tcp({"rtt": 1500, "snd_cwnd": 7, "total_retrans": 1}, 1000), began_s=1.5)
    made.add("a", 3.0, of_tcp({}, 5000), began_s=1.5)
    made.add("b", 3.0, {"delivered_bytes": 500, "delay_ms": 1 / 3}, began_s=2.5)
    made.write(str(tmp_path))
    made.write(str(tmp_path), more=True)
    head, *rows = (tmp_path / "flows.csv").read_text().splitlines()
    assert head == "flow,time_s," + ",".join(COLUMNS)
    assert rows == 2 * [
        "a,2.000000,0,0,,,0,,,,", "a,3.000000,1000,8,1.5,7,1,,,,", "b,3.000000,500,8,,,,,,0.333333,"
    ]  # fmt: skip


def test_of_a_part_that_is_over_nothing_is_called() -> None:
    with Loop() as loop:
        heard: list[str] = []
        one, other = Part(loop), Part(loop)
        one.at(1, lambda: setattr(other, "over", True))
        one.at(2, lambda: heard.append("one"))
        other.at(2, lambda: heard.append("other"))
        loop.run(3)
    assert heard == ["one"]
