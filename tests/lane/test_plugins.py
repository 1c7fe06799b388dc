# SPDX-License-Identifier: BSD-3-Clause
"""Users' plug-ins, end to end: a link, a routing, an application and a recorder from a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emulation.lane import plugin_folders
from emulation.lane.errors import Misuse

ROOT = Path(__file__).parents[2]
MINE = ROOT / "tests" / "plugins"


def run(bench: Any, topology: str = "string", **options: Any) -> Any:
    """Return lane.json of a plan with these plug-ins."""
    bench.plan(topology, plugins=[str(MINE)], **options)
    assert bench.run("plan", plugins=[MINE]).status == 0
    return bench.result()


def test_a_link_of_ones_own(bench: Any) -> None:
    """Its stations forward what IP routes over them, and nothing else."""
    carried = {
        (link, routing): run(bench, stations=3, seconds=5, link=link, routing=routing)["applications"][0]
        for link, routing in (("one_hop", "static"), ("one_hop", "none"), ("mesh", "none"))
    }
    assert [one["delivered_bytes"] > 100_000 for one in carried.values()] == [True, False, True]


@pytest.mark.quick
def test_a_routing_of_ones_own(bench: Any) -> None:
    """ARP finds its neighbours, and each node forwards to the next."""
    lane = run(bench, stations=4, seconds=5, routing="row")
    assert lane["applications"][0]["delivered_bytes"] > 100_000
    assert any(station["counters"]["tx"].get("other", 0) for station in lane["air"]["stations"])


def test_a_routing_of_ones_own_says_who_cannot_be_reached(bench: Any) -> None:
    with pytest.raises(Misuse, match="no path from sta1 to sta3"):
        bench.plan(stations=3, spacing=400, routing="row", plugins=[str(MINE)])


def test_an_application_of_ones_own(bench: Any) -> None:
    """Its responses of 80 kb cross two hops of 2 Mb/s, with 0.2 s of think time after each."""
    (ask,) = run(bench, stations=3, seconds=5, traffic="ask", tcp="vegas")["applications"]
    assert 2 * 80 / 2000 < ask["answer_s"] < 0.5
    assert ask["answers"] * (0.2 + ask["answer_s"]) <= 5
    assert ask["answers"] >= 7
    assert (ask["delivered_bytes"], ask["congestion"]) == (10_000 * ask["answers"], "vegas")
    assert ask["retransmits"] == 0  # what it does not say of itself


def test_a_recorder_of_ones_own(bench: Any) -> None:
    lane = run(bench, stations=3, seconds=5, recorders="windows")
    rows = [line.split(",") for line in (bench.folder / "windows.csv").read_text().splitlines()]
    assert lane["recorders"]["windows"] == {"rows": len(rows)}
    assert len(rows) > 45
    assert {flow for _, flow, _ in rows} == {"flow1"}
    assert max(int(window) for _, _, window in rows) > 2
    assert set(lane["recorders"]) == {"air_trace", "tcp_tap", "windows"}


SCRIPT = """
import json
from emulation.net import Adhoc, Net
class Mine(Adhoc):
    def join(self, interface):
        print(interface.name, "joins", self.plan["ssid"])
        super().join(interface)
net = Net(plugins=[{folder!r}], routing="row", recorders="windows")
a, b, c, d = (net.addStation(f"sta{{i}}", position=(x, 0, 0)) for i, x in enumerate((0, 200, 2000, 2200), 1))
net.addLink(a, b, cls={cls}, ssid="mine")
net.addLink(c, d, cls="ocb", freq=2437)
net.addFlow(a, b, kind="ask", think_s=0.5)
net.addFlow(c, d)
with net:
    net.start()
    print([net.link_of(node.radio).plan["kind"] for node in (a, b, c, d)], c.radio.state()["type"])
    result = net.run(5)
    print(json.dumps([{{"answers": 0, **one}} for one in result["applications"]]))
"""


def test_plug_ins_in_a_script(bench: Any) -> None:
    """By name, and as a class of the script; two links on two channels."""
    lines = bench.script(SCRIPT.format(folder=str(MINE), cls="Mine"))
    assert lines[:2] == ["sta1-wlan0 joins mine", "sta2-wlan0 joins mine"]
    assert lines[2] == "['adhoc', 'adhoc', 'ocb', 'ocb'] ocb"
    ask, bulk = json.loads(lines[3])
    assert 5 <= ask["answers"] <= 10
    assert bulk["delivered_bytes"] > 100_000


@pytest.mark.parametrize(
    ("what", "said"),
    [("links", "there is no link 'warp'; there are: adhoc, infrastructure, mesh, ocb, one_hop, wired"),
     ("routing", "there is no routing 'warp'; there are: .*, none, .*row, static"),
     ("recorders", "there is no recorder 'warp'; there are: adaptive_retries, air_trace, .*tcp_tap, windows"),
     ("applications", "there is no application 'warp'; there are: ask, bulk, iperf3, request, udp, voice, web")],
)  # fmt: skip
def test_an_unknown_kind_is_answered_with_those_there_are(what: str, said: str) -> None:
    plugin_folders.extend([str(MINE)])
    (point,) = (point for point in plugin_folders.POINTS if point.endswith(what))
    with pytest.raises(ValueError, match=said):
        plugin_folders.find(point, "warp")


def test_a_lane_says_which_kinds_there_are(bench: Any) -> None:
    """If a plan names one that does not exist."""
    plan = bench.plan(stations=2)
    plan["recorders"] = [{"kind": "warp"}]
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(
        Exception, match=r"there is no recorder 'warp'; there are: adaptive_retries, air_trace, .*tcp_tap"
    ):
        bench.run("plan")
    assert bench.result()["error"].startswith("there is no recorder 'warp'; there are: adaptive_retries, air_trace, ")
