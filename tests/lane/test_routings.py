# SPDX-License-Identifier: BSD-3-Clause
"""Each routing of Linux, and DSR, carries TCP over a string; the air, the taps, Scapy and tshark count the same
segments in any encapsulation."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.routes import flow_routes
from analysis.routes.control import Control
from analysis.taps import compare, observe, phy, tally
from analysis.traces import capture, pcapng, trace
from emulation.lanes import LaneError

FILTERS = (
    "tcp.len > 0",
    "tcp.len == 0 && tcp.flags.ack == 1 && tcp.flags.syn == 0 && tcp.flags.fin == 0 && tcp.flags.reset == 0",
    "_ws.malformed && !_ws.malformed.dissector_bug",  # of its own, that Wireshark 4.0 finds at OGM2s
)
ROUTINGS: list[dict[str, Any]] = [
    {"routing": "batman-adv"},
    {"routing": "batman-adv,algorithm=BATMAN_V,interval_ms=500", "rts": "full"},
    {"routing": "babel,hello_interval_ms=1000", "ack": "delayed", "rts": "partial"},
    {"routing": "hwmp,preq_retries=3", "link": "mesh", "rts": "full"},
    {"routing": "etx-frozen,probes=20", "rts": "none"},
    {"routing": "dsr"},
    {"routing": "dsr", "rts": "full"},
]


def play(bench: Any, **options: Any) -> Path:
    """Run a string, and return the file with its frames."""
    plan = bench.plan(**options)
    assert bench.run("plan").status == 0
    path: Path = bench.folder / pcapng.AIR
    pcapng.write(trace.read(bench.folder / "air.trace"), phy.radios(plan), bench.folder)
    return path


def filtered(file: Path) -> list[int]:
    """Return how many frames pass each filter of tshark."""
    command = ["tshark", "-q", "-r", str(file), "-z", f"io,stat,0,{','.join(FILTERS)}"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (counts,) = (line.split("<>")[1].split("|") for line in said.splitlines() if "<>" in line)
    return [int(count) for count in counts[1::2][: len(FILTERS)]]  # the others are bytes


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@pytest.mark.parametrize("options", ROUTINGS, ids=str)
def test_tcp_goes_from_end_to_end_and_is_counted_alike(bench: Any, options: dict[str, Any]) -> None:
    air = play(bench, stations=4, seconds=6, **options)
    plan, lane = json.loads((bench.folder / "plan.json").read_text()), bench.result()
    assert lane["applications"][0]["delivered_bytes"] > 20_000
    module = [station["counters"] for station in lane["air"]["stations"]]
    assert all(counters["tx"]["tcp_data"] > 30 for counters in module[:3])
    assert all(counters["tx"]["tcp_ack"] > 15 for counters in module[1:])
    seen = observe.observe(capture.read(air), phy.Medium.of_plan(plan))
    assert compare.differences(seen.counters(), module) == []
    known = compare.totals(module)
    assert filtered(air) == [known["sent, tcp_data"], known["sent, tcp_ack"], 0]
    if "rts" not in options:  # one of each way to carry TCP, as Scapy takes its time
        by_scapy = tally.counters(bench.folder)
        assert by_scapy == {name: known[name] for name in by_scapy}


def test_what_was_probed_is_frozen(bench: Any) -> None:
    """Links without loss: all packets arrive, and a station two hops away receives nothing."""
    bench.plan(stations=3, seconds=1, routing="etx-frozen,probes=20")
    assert bench.run("plan").status == 0
    found = json.loads((bench.folder / "etx.json").read_text())
    assert found["received"] == [[0, 20, 0], [20, 0, 20], [0, 20, 0]]
    ways = {(way["from"], way["to"]): (way["via"], way["hops"]) for way in found["routes"]}
    assert ways["sta1", "sta3"] == ("sta2", 2) and len(ways) == 6


def test_babeld_ends_with_its_network(bench: Any) -> None:
    lines = bench.script("""
        import glob
        from emulation.net import Net
        def running():
            names = [open(each).read().strip() for each in glob.glob("/proc/[0-9]*/comm")]
            return names.count("babeld")
        with Net(routing="babel", ack="delayed") as net:
            for i in range(3):
                net.addStation(f"sta{i}", position=(200.0 * i, 0, 0))
            net.start()
            print(running())
        print(running())
    """)
    assert lines == ["3", "0"]


@pytest.mark.parametrize(
    ("net", "link", "program"),
    [
        ('Net(routing="babel", ack="delayed")', "", "babeld"),
        (
            "Net()",
            's = net.addSwitch("s1", bridge="ovs"); net.addLink(s, net.addHost("h1"), cls=Wired)',
            "ovs-vswitchd",
        ),
    ],
)
def test_a_death_ends_the_run(bench: Any, net: str, link: str, program: str) -> None:
    with pytest.raises(LaneError, match=f"{program} has ended, killed by signal 9. Its last output: "):
        bench.script(f"""
            from emulation.net import Net, Wired
            with {net} as net:
                for i in range(2):
                    net.addStation(f"sta{{i}}", position=(200.0 * i, 0, 0))
                {link}
                net.start()
                kept = [each for node in net.nodes.values() for each in node.daemons if each.program == "{program}"]
                net.at(1, kept[-1].process.kill)
                net.run()
        """)


def test_an_unreachable_node_is_reported(bench: Any) -> None:
    """No probe found a path for the flow; the plan allows it, and the run continues."""
    bench.plan(stations=3, spacing=400, seconds=1, routing="etx-frozen,probes=2", unreachable=True)
    assert bench.run("plan").status == 0
    assert bench.result()["applications"][0]["delivered_bytes"] == 0


@pytest.mark.parametrize(
    ("routing", "link", "ack"),
    [
        ("batman-adv", "adhoc", "plain"),
        pytest.param("babel", "adhoc", "delayed", marks=pytest.mark.quick),
        pytest.param("hwmp", "mesh", "plain", marks=pytest.mark.quick),
        ("etx-frozen,probes=20", "adhoc", "plain"),
    ],
)
def test_a_node_that_was_gone_is_found_again(bench: Any, routing: str, link: str, ack: str) -> None:
    lines = bench.script(f"""
        import time
        from emulation.net import Net
        from traffic.ping import ping
        with Net(routing="{routing}", link="{link}", ack="{ack}") as net:
            a, b, c = (net.addStation(f"sta{{i}}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3))
            net.addFlow(a, c)
            net.start()
            def heard():
                try:
                    return next(ping(a, c.IP()))[2] is not None
                except OSError:
                    return False
            def soon():
                return any(heard() or time.sleep(1) for _ in range(60))
            print(heard())
            net.link_of(b.radio).leave(b.radio)
            print(heard())
            net.link_of(b.radio).rejoin(b.radio)
            net.routing.restore(b)
            print(soon())
    """)
    assert lines == ["True", "False", "True"]


@pytest.mark.parametrize("options", [
    {"routing": "batman-adv"}, {"routing": "babel,hello_interval_ms=1000", "ack": "delayed"},
    {"routing": "hwmp", "link": "mesh"},
], ids=str)  # fmt: skip
def test_routes_that_no_protocol_reports_are_looked_up(bench: Any, options: dict[str, Any]) -> None:
    """In a string whose second node is away for a while; looking up routes does not change the air."""
    plan = bench.plan(stations=3, seconds=40, **options)
    plan["presence"] = {"sta2": [[0.0, 6.0], [12.0, None]]}
    traces = []
    for recorders in (plan["recorders"], [each for each in plan["recorders"] if each["kind"] != "flow_routes"]):
        (bench.folder / "plan.json").write_text(json.dumps(plan | {"recorders": recorders}))
        assert bench.run("plan").status == 0
        traces.append((bench.folder / "air.trace").read_bytes())
    assert traces[0] == traces[1] and len(plan["recorders"]) == 3
    told = flow_routes.read(bench.folder / "routes.jsonl")
    lane = bench.result()
    whole = flow_routes.routes(told, plan, lane)["flow1"]
    assert whole.hops[0] == 2 or options["routing"] == "hwmp"
    control = Control.of_trace(trace.parse(np.frombuffer(traces[0], np.uint8)))
    summary = flow_routes.summary(control, plan, lane)
    assert summary.airtime_s > 0
    first = {"batman_adv": "ogm", "babel": "babel", "hwmp": "preq"}[plan["routing"]["kind"]]
    assert summary.control_frames[first] > 3 and summary.control_bytes and summary.control_bytes[first] > 100
    if options["routing"] != "batman-adv":  # which keeps an originator for minutes
        (broken,) = whole.breaks.tolist()[:1]
        assert 6e9 <= broken[0] < 12e9 < broken[1] < 40e9
