# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks work, those with another simulator if it is installed; speed is not tested."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from peers import core, peer

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
