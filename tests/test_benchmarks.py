# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks work, those with another simulator if it is installed; speed is not tested."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from peers import core, peer
from rooms import needs

from benchmarks import aodv, ht, main, manet, wlan
from benchmarks.compare import HERE, build_without, output, preload
from benchmarks.manet import Light, light_in_ns2
from emulation.lane.errors import Failure, Misuse
from emulation.plan import plan
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide


def test_the_cores_benchmark_plays() -> None:
    """Stations always have frames: twice the time gives about twice as many. Counts are per second."""
    one, two = (json.loads(output(core(), 5, seconds)) for seconds in (1, 2))
    assert one["frames"] > 100 and one["events"] > one["frames"]
    for what in ("frames", "events"):
        assert two[what] / one[what] == pytest.approx(2, rel=0.1)
    assert one["events_per_s"] * one["wall_s"] == pytest.approx(one["events"], rel=0.01)


@pytest.mark.parametrize(("error", "status"), [(Failure("no source"), 1), (Misuse("no source"), 2)])
def test_a_failure_is_a_sentence(error: Exception, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    def own() -> None:
        raise error

    benchmark = ModuleType("faults")
    benchmark.main = own  # type: ignore[attr-defined]
    assert main(benchmark) == status
    assert capsys.readouterr().err == "dcflab: no source\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_the_ns3_peer_is_the_scenario_that_it_claims() -> None:
    """All control frames are at 1 Mb/s, and losses of a queue of 50 under a window of 256 are counted."""
    found = json.loads(output(peer(), "--rts=full", "--seconds=5", "--window=256"))
    assert found["goodput_segments"] > 50
    assert found["rates"] == {"CTL_ACK": [1], "CTL_CTS": [1], "CTL_RTS": [1], "DATA": [2]}
    assert found["queue_drops"] > 0


@pytest.mark.parametrize("scenario", wlan.SCENARIOS, ids=str)
def test_scenarios_of_a_wlan_can_be_planned(scenario: wlan.Scenario) -> None:
    assert plan(wlan.specification(scenario, 1, "sinr"))


def test_scenarios_of_newer_wlans_can_be_planned() -> None:
    for scenario in ht.scenarios():
        flows = plan(ht.specification(scenario, 1))["applications"]
        if scenario.direction == "up":
            assert {flow["arrivals"] for flow in flows} == {"saturated"}
        else:
            assert sum(flow["rate_kbps"] for flow in flows) / 1000 == pytest.approx(scenario.offered, rel=0.01)


@pytest.mark.parametrize("traffic", manet.TRAFFIC)
@pytest.mark.parametrize("beside", manet.BESIDE)
def test_moving_scenarios_can_be_planned(beside: str, traffic: str) -> None:
    for routing in manet.ROUTINGS[beside]:
        assert plan(manet.specification(beside, routing, traffic, 1))


@pytest.mark.skipif(not shutil.which("ns"), reason="ns-2 is not installed")
def test_ns2_can_be_played_without_what_is_held_to_be_the_cause(tmp_path: Path) -> None:
    """Ten stations in a row: without ARP the first datagram arrives sooner. Then the last one leaves, and requests for
    it become rarer."""
    movement, trace = tmp_path / "row.setdest", tmp_path / "trace"
    row = [
        f"$node_({n}) set {axis}_ {at}\n" for n in range(10) for axis, at in (("X", 200 * n + 1), ("Y", 1), ("Z", 0))
    ]
    movement.write_text("".join(row) + '$ns_ at 21.0 "$node_(9) setdest 3900 1 10000"\n')
    library = build_without(tmp_path)
    arrived, requests = [], []
    for without in aodv.NS2.values():
        before = preload(library, without)
        output(*before, "ns", HERE / "peers/mobile.tcl", movement, 10, 4000, 10, "AODV", 30, 1, "cbr", trace)
        lines = [line.split() for line in trace.read_text().splitlines()]
        arrived.append(next(float(line[1]) for line in lines if line[0] == "r" and line[3] == "AGT"))
        requests.append(
            sum(line[2:4] == ["_8_", "RTR"] and line[0] == "s" and line[-1] == "(REQUEST)" for line in lines)
        )
    assert 20 < arrived[1] == arrived[2] < arrived[0]
    assert requests[0] >= requests[1] > requests[2]


MOVING = """\
s 20.0 _0_ AGT  --- 7 cbr 512 [0 0 0 0] ------- [0:0 1:0 32 0] [0] 0 0
s 20.0 _0_ RTR  --- 6 AODV 48 [0 ffffffff 0 0] ------- [0:255 -1:255 5 0] (REQUEST)
r 20.1 _2_ RTR  --- 6 AODV 48 [0 ffffffff 0 0] ------- [0:255 -1:255 5 0] (REQUEST)
f 20.2 _2_ RTR  --- 8 AODV 44 [0 0 0 0] ------- [1:255 0:255 30 2] (REPLY)
f 20.3 _2_ RTR  --- 7 cbr 532 [13a 2 0 800] ------- [0:0 1:0 29 1] [0] 1 0
r 20.4 _1_ AGT  --- 7 cbr 532 [13a 1 2 800] ------- [0:0 1:0 29 1] [0] 2 0
r 20.5 _1_ AGT  --- 7 cbr 532 [13a 1 2 800] ------- [0:0 1:0 29 1] [0] 2 0
D 21.0 _0_ RTR  NRTE 9 cbr 532 [0 0 0 0] ------- [0:0 1:0 29 1] [1] 0 0
M 21.5 3 (960.54, 15.56, 0.00), (941.14, 105.57), 6.49
"""


def test_what_routing_sends_is_counted_hop_by_hop_and_a_datagram_once() -> None:
    light = light_in_ns2(MOVING.splitlines())
    assert light == Light(sent=1, arrived=1, hops=2, frames=2, bytes=92)
    assert light.row() == {"delivered": 100, "hops": 2, "packets": 2, "bytes": 92, "lost": 0, "control": 2}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_the_ns3_peer_moves_and_counts(tmp_path: Path) -> None:
    """Ten stations in range of each other: each datagram arrives over one hop. The program also ends under DSR."""
    file, manet = tmp_path / "a.setdest", peer("manet", "aodv", "dsr", "olsr")
    still = (f"$node_({n}) set X_ {10 * n}\n$node_({n}) set Y_ 1" for n in range(10))
    file.write_text("\n".join(still))
    for routing in ("OLSR", "DSR"):
        words = (f"--movement={file}", "--stations=10", f"--routing={routing}", "--traffic=cbr", "--seconds=22")
        found = json.loads(output(manet, *words))
        assert found["sent"] == found["arrived"] == found["hops"] == 40
        assert found["bytes"] > 20 * found["frames"] > 0


@needs("check")
def test_there_are_mutants_of_each_kind() -> None:
    """More than a hundred, each with one changed line."""
    from benchmarks.mutants import HERE as MODULES
    from benchmarks.mutants import MISTAKES, mutants

    found = list(mutants())
    assert len(found) == len(set(found)) > 100
    assert {mutant.what for mutant in found} >= {what for what, _, _ in MISTAKES} - {"a lock is another"}
    for mutant in found:
        assert mutant.text != (MODULES / mutant.file).read_text().splitlines()[mutant.line - 1]


@needs("check")
def test_faults_are_edits_of_a_kernels_source() -> None:
    """As many races as wrong numbers, except in sets 3 and 7. A source of another version is refused."""
    from benchmarks.planted import FAULTS, NUMBER, RACE, Fault, planted
    from benchmarks.unseen import FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD
    from emulation.lane.errors import Failure

    for faults in (FAULTS, FIRST, SECOND, FOURTH, FIFTH, SIXTH):
        kinds = [fault.kind for fault in faults]
        assert kinds.count(RACE) == kinds.count(NUMBER) == len(faults) / 2
    all_faults = FAULTS + FIRST + SECOND + THIRD + FOURTH + FIFTH + SIXTH + SEVENTH
    assert len({(fault.file, fault.name) for fault in all_faults}) == len(all_faults)
    assert all(old and old != new for fault in all_faults for old, new in fault.edits)
    fault = Fault("a lock is gone", RACE, "net/a.c", (("lock();\n", ""), ("a;\nun", "b;\nun")))
    assert planted(fault, "lock();\na;\nunset();\n") == "b;\nunset();\n"
    for other in ("a;\nunset();\n", "lock();\nlock();\na;\n"):
        with pytest.raises(Failure, match=r"net/a.c .* does not fit 'a lock is gone': 'lock\(\);' is not there once"):
            planted(fault, other)


@needs("check")
def test_races_go_through_the_stage_smp_with_their_modules_without_a_fault() -> None:
    from benchmarks.faults import TWIN, races
    from benchmarks.planted import FAULTS, NUMBER, RACE

    chosen = races(FAULTS)
    assert [fault.kind for fault in chosen].count(RACE) == 10
    assert not [fault for fault in chosen if fault.kind == NUMBER]
    twins = [fault.file for fault in chosen if fault.kind == TWIN]
    assert sorted(twins) == sorted({fault.file for fault in FAULTS if fault.kind == RACE})


@needs("check")
def test_what_is_found_in_the_kernels_modules_is_said_with_what_is_true_of_it() -> None:
    from benchmarks.intree import lines_run, verdict

    race, count = {"name": "data race", "true": True}, {"name": "wrong count", "true": False}
    coverage = {"sch_a.c": {"1": 0, "3": 7}, "sch_b.c": {"1": 1}}
    found = {"findings": [race, race, count], "notes": ["a note"], "coverage": coverage}
    assert (verdict(found), lines_run(found)) == ("data race (true), wrong count", "2 of 3")
    assert verdict({"findings": [], "notes": ["it needs options"]}) == "it needs options"
    assert (verdict({"findings": [], "notes": []}), lines_run({})) == ("clean", "-")


@needs("check")
def test_mutants_are_counted_by_kind() -> None:
    """With what was found, where, and why the others were not; what is no mutant counts in the time only."""
    from benchmarks.mutants import summary

    entries = [
        {"what": "a lock is gone", "found": "lock misuse", "stage": "workout", "cpu_s": 30.0},
        {"what": "off by one", "found": "wrong count", "stage": "workout", "cpu_s": 20.0},
        {"what": "off by one", "found": "", "ran": True, "differs": False, "notes": ["x"], "cpu_s": 60.0},
        {"what": "off by one", "no": "same code", "cpu_s": 10.0},
    ]
    assert summary(entries) == {
        "tried": 3, "found": 2, "cpu_minutes": 2.0,
        "kinds": {"off by one": {"tried": 2, "found": 1}, "a lock is gone": {"tried": 1, "found": 1}},
        "stages": {"workout": 2}, "names": {"lock misuse": 1, "wrong count": 1},
        "not_found": [{"ran": True, "differs": False, "count": 1}], "noted": 1, "no_mutants": {"same code": 1},
    }  # fmt: skip


@pytest.mark.lane
def test_what_each_station_of_a_wlan_carries_is_found(tmp_path: Path) -> None:
    scenario = wlan.Scenario(1, "both")
    short = {"seconds": 1, "seed": 1}
    asked = wlan.specification(scenario, 1, "capture")
    asked = asked.model_copy(update={"measurement": asked.measurement.model_copy(update=short)})
    [outcome] = play_with_progress(provide(), [Task(asked)], tmp_path)
    found = wlan.here(scenario, outcome.run)
    assert found["each up"] > 0 and found["each down"] > 0 and found["all"] == found["each up"] + found["each down"]


@pytest.mark.lane
def test_goodput_of_a_newer_wlan_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """28 MPDUs in 5.484 ms at 65 Mb/s; so many come with each access, by hand."""
    monkeypatch.setattr(ht, "LOADED_S", 0.1)
    scenario = ht.Scenario("ht", 7, 20, 1, "up", 65, 0.2)
    assert ht.here(provide(), scenario, 1)["mbps"] == pytest.approx(59.8, rel=0.03)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_the_ns3_peer_carries_the_same() -> None:
    scenario = ht.Scenario("ht", 7, 20, 1, "up", 65, 0.5)
    assert ht.there(peer("ht"), scenario, 1)["mbps"] == pytest.approx(59.8, rel=0.03)
