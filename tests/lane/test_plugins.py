# SPDX-License-Identifier: BSD-3-Clause
"""Users' plug-ins, end to end: a link, a routing, an application and a recorder from a folder."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from emulation.lane import plugin_folders
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import LaneError, Reason
from emulation.play.lab import Lab
from emulation.play.player import play
from emulation.play.run import Task
from emulation.play.session import failures
from emulation.specification import specify

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


LINK = "from emulation.lane.links import adhoc\nclass Link(adhoc.Link):\n    def join(self, interface):\n"
RECORDER = "from emulation.lane import recorders\nclass Recorder(recorders.Recorder):\n    def start(self, loop):\n"
APPLICATION = """import time; from traffic import applications
class Application(applications.Application):
    def start(self): self.loop.at(time.monotonic_ns() + 10**9, self.later)
    def finish(self): return {}
    def later(self):
"""
MISTAKES = {
    "a key": ("link", LINK + "        {}[1]\n", "line 4: KeyError: 1"),
    "a value": ("recorders", RECORDER + "        int('x')\n", "line 4: ValueError: invalid literal for int"),
    "a file": ("recorders", RECORDER + "        open('/none')\n", "line 4: FileNotFoundError: .* '/none'"),
    "a file by a library": ("recorders", RECORDER + "        import os; os.makedirs('/proc/none')\n", "line 4: File"),
    "a module": ("recorders", RECORDER + "        import numpy\n",
                 "line 4: there is no Python module numpy in a lane: .* standard library"),
    "in the midst": ("traffic", APPLICATION + "        self.none\n", "line 6: AttributeError: 'Application' object"),
    "our function": ("link", LINK + "        super().join()\n", "line 4: TypeError: .*join.* missing 1 required"),
    "a name": ("recorders", RECORDER + "        pass\n    def report(self): return {'a': loop}\n",
                        "line 5: NameError: name 'loop' is not defined"),
}  # fmt: skip


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a plug-in named `faulty`, and return the options of a run with it."""
    folders = {"link": "links", "routing": "routing", "recorders": "recorders", "traffic": "applications"}

    def written(option: str, text: str) -> dict[str, Any]:
        for name in plugin_folders.POINTS:
            monkeypatch.setattr(point := importlib.import_module(name), "__path__", [*point.__path__])
            monkeypatch.delitem(sys.modules, f"{name}.faulty", raising=False)
        file = tmp_path / "own" / folders[option] / "faulty.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        return {option: "faulty", "plugins": [str(tmp_path / "own")], "stations": 2, "seconds": 2}

    return written


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_lane_is_reported_with_its_line(bench: Any, own: Any, mistake: str) -> None:
    """As on the host, and nothing else is printed."""
    option, text, said = MISTAKES[mistake]
    options = own(option, text)
    bench.plan(**options)
    with pytest.raises(LaneError, match=rf"faulty\.py, {said}") as caught:
        bench.run("plan", plugins=[*map(Path, options["plugins"])])
    assert (caught.value.reason, bench.lines) == (Reason.MISUSE, [])
    assert bench.result()["error"] == caught.value.detail


def test_a_plug_in_reports_what_is_no_json(bench: Any, own: Any) -> None:
    options = own("recorders", RECORDER + "        pass\n    def report(self): return {'a': {1, 2}}\n")
    bench.plan(**options)
    with pytest.raises(LaneError, match=r"not JSON: recorders\.faulty\.a: \{1, 2\}") as caught:
        bench.run("plan", plugins=[*map(Path, options["plugins"])])
    assert (caught.value.reason, bench.lines) == (Reason.MISUSE, [])


def test_a_mistake_of_a_plug_in_in_a_script_is_reported_with_its_line(bench: Any, own: Any) -> None:
    [folder] = own("link", LINK + "        {}[1]\n")["plugins"]
    text = f"""
        from emulation.net import Net
        net = Net(plugins=[{folder!r}])
        net.addLink(net.addStation("a", position=(0, 0, 0)), net.addStation("b", position=(9, 0, 0)), cls="faulty")
        net.start()
    """
    with pytest.raises(LaneError, match=r"faulty\.py, line 4: KeyError: 1") as caught:
        bench.script(text)
    assert (caught.value.reason, bench.lines) == (Reason.MISUSE, [])


@pytest.mark.parametrize(("end", "status"), [("sys.exit()", 0), ("sys.exit(3)", 3)])
def test_a_run_that_ends_without_results_says_so(lab: Lab, own: Any, tmp_path: Path, end: str, status: int) -> None:
    """Also if the folder has those of an earlier run."""
    options = own("recorders", RECORDER + f"        import sys; {end}\n")
    task = Task(specify("string", options))
    (tmp_path / "runs" / "1").mkdir(parents=True)
    (tmp_path / "runs" / "1" / "lane.json").write_text("{}")
    with pytest.raises(Failure, match=rf"ended with status {status} before it wrote lane\.json.* plug-in"), failures():
        play(lab, task, tmp_path / "runs")


@pytest.mark.parametrize(
    ("end", "how"), [("os._exit(3)", "ended with status 3"), ("ctypes.string_at(0)", "was killed by SIGSEGV")]
)
def test_a_plug_in_that_ends_its_process_is_told_so(bench: Any, own: Any, end: str, how: str) -> None:
    bench.plan(**(options := own("recorders", RECORDER + f"        import ctypes, os; {end}\n")))
    with pytest.raises(LaneError, match=f"the process in which plug-ins run {how}") as caught:
        bench.run("plan", plugins=[*map(Path, options["plugins"])])
    assert (caught.value.reason, caught.value.console) == (Reason.PROGRAM, ())
