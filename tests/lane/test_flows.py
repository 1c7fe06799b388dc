# SPDX-License-Identifier: BSD-3-Clause
"""Flows of all kinds in a lane: in parallel, repeated, with start and stop, and failing ones."""

import csv
import hashlib
import json

import pytest

from analysis.results import flow_series
from analysis.results.result import from_lane
from analysis.traces import trace
from emulation.plan import plan
from emulation.specification import specify

ALL = (
    "voice,from=sta1,to=sta4,codec=g729", "voice,from=sta4,to=sta1,codec=g729,arrivals=onoff",
    "udp,from=sta2,to=sta1,arrivals=poisson,rate_kbps=40,datagram_bytes=500,tos=32",
    "udp,from=sta3,to=sta4,arrivals=onoff,rate_kbps=40,datagram_bytes=500,start_s=1,stop_s=4",
    "web,from=sta1,to=sta2,think_s=0.5", "web,from=sta4,to=sta3,arrivals=poisson,sizes=pareto,shape=1.5",
    "request,from=sta4,to=sta1", "request,from=sta2,to=sta3,transactions=3",
    "bulk,from=sta4,to=sta1,start_s=2,stop_s=3", "bulk,from=sta1,to=sta3,bytes=20000,tcp=newreno,mss=1000",
    "bulk,from=sta1,to=sta3,start_s=99",
)  # fmt: skip
EVERYTHING = {"stations": 4, "flows": 0, "seconds": 6, "application": ALL, "rate": 11, "sample_s": 0.5}


def written(bench, planned):
    (bench.folder / "plan.json").write_text(json.dumps(planned))
    assert bench.run("plan").status == 0
    return bench.result()["applications"]


def left(folder):
    """Return what a lane left, by name, except its console."""
    files = (file for file in folder.iterdir() if file.is_file() and file.name != "console.log")
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_all_kinds_side_by_side_and_again_the_same(new_bench):
    seen = []
    for bench in (new_bench(), new_bench()):
        made = bench.plan(**EVERYTHING)
        found = written(bench, made)
        seen.append(left(bench.folder))
    assert seen[0] == seen[1]
    assert {"transactions-flow5.csv", "transactions-flow8.csv", "flows.csv", "air.trace"} <= set(seen[0])
    assert [one["outcome"] for one in found] == ["ran"] * 7 + ["finished", "ran", "finished", "not due"]
    run = from_lane(made, bench.result(), wall_s=1)
    check_datagrams(run.flows)
    check_transactions(run.flows, bench.folder)
    check_series(flow_series.read(bench.folder / "flows.csv"), run.flows)
    check_frames(bench.folder)


def check_datagrams(flows):
    talker, burst, poisson, onoff = (flow.datagrams for flow in flows[:4])
    assert (talker.sent, talker.duplicates, talker.reordered) == (300, 0, 0) and talker.arrived > 290
    assert burst.sent < 300 and 40 < poisson.sent < 80 and 0 < onoff.sent <= 31
    assert 2 < talker.delay_ms.p50 < talker.delay_ms.p99 <= talker.delay_ms.max < 1000
    assert 1 <= talker.mos <= 4.41 and poisson.mos is None
    assert flows[0].delivered_bytes == (12 + 20) * talker.arrived  # RTP and payload


def check_transactions(flows, folder):
    for flow in flows[4:8]:
        with open(folder / f"transactions-{flow.name}.csv") as file:
            rows = list(csv.DictReader(file))
        took, found = [float(row["seconds"]) for row in rows if row["seconds"]], flow.transactions
        assert (len(rows), len(took)) == (found.begun, found.completed + found.failed)
        assert found.failed == 0 and max(took) == pytest.approx(found.seconds.max)
        assert sum(int(row["bytes"]) for row in rows if row["seconds"]) == found.bytes <= flow.delivered_bytes
    web, opened, kept, few = (flow.transactions for flow in flows[4:8])
    assert web.begun > 3 and opened.begun > 1 and kept.begun > 20
    assert (few.begun, few.completed, few.bytes) == (3, 3, 3000)
    assert flows[7].finished_s == flows[7].last_s < 1


def check_series(series, flows):
    """Check that samples end with the flows' totals, that goodputs add up, and that flows stop when told."""
    assert set(series) == {flow.name for flow in flows[:10]}
    for flow in flows[:10]:
        of = series[flow.name]
        assert (of["delivered_bytes"][-1], (of["delivered_bytes"][1:] >= of["delivered_bytes"][:-1]).all()) == (
            flow.delivered_bytes, True
        )  # fmt: skip
    assert (series["flow4"]["time_s"][0], series["flow4"]["time_s"][-1]) == (1.5, 4)
    assert series["flow9"]["time_s"].tolist() == [2.5, 3]
    assert series["flow9"]["cwnd"][-1] > 1 and series["flow9"]["srtt_ms"][-1] > 1
    assert series["flow1"]["delay_ms"][-1] > 1 and series["flow1"]["sent"][-1] == 300
    assert series["flow1"]["goodput_kbps"].sum() / 2 * 125 == pytest.approx(flows[0].delivered_bytes, rel=1e-4)


def check_frames(folder):
    """Check the priorities of frames at their source: EF, CS1, and none."""
    seen = trace.read(folder / "air.trace")
    at = seen.frame[(seen.tx["kind"] == trace.Kind.UDP) & (seen.tx["caplen"] > 80)] + 26 + 8 + 1
    assert set(seen.data[at].tolist()) == {46 << 2, 32, 0}


def test_what_is_offered_hangs_on_seed_and_name_alone(new_bench):
    """Not on TCP: sizes and think times are the same, and a Poisson process's times, to the nanosecond."""
    offered, poisson = [], []
    for tcp in ("newreno", "cubic"):
        bench = new_bench()
        bench.plan(stations=3, seconds=5, tcp=tcp, traffic="web,think_s=0.3",
                   application="web,from=sta3,to=sta1,arrivals=poisson,think_s=0.5")  # fmt: skip
        bench.run("plan")
        rows = [(bench.folder / f"transactions-flow{n}.csv").read_text().splitlines()[1:] for n in (1, 2)]
        closed, opened = ([row.split(",") for row in of] for of in rows)
        offered.append([row[1] for row in closed[:5]])
        poisson.append([row[:2] for row in opened])
    assert offered[0] == offered[1] and len(offered[0]) == 5
    assert poisson[0] == poisson[1] and len(poisson[0]) > 4


def test_iperf3_with_datagrams(bench):
    """The server's report when time was up, and the whole report of a flow that ended before."""
    unended, ended = written(bench, bench.plan(
        stations=2, seconds=3, traffic="iperf3,protocol=udp,rate_kbps=400",
        application="iperf3,from=sta2,to=sta1,protocol=udp,rate_kbps=200,bytes=14480",
    ))  # fmt: skip
    assert (unended["outcome"], ended["outcome"]) == ("ran", "finished")
    assert (ended["datagrams"]["sent"], ended["delivered_bytes"]) == (10, 14_480)
    assert 95 <= unended["datagrams"]["arrived"] == unended["delivered_bytes"] / 1448 <= 104
    assert unended["datagrams"]["lost_percent"] == 0 < unended["datagrams"]["jitter_ms"]


@pytest.mark.parametrize(("kind", "why"), [
    ("bulk", "No route to host"), ("web", "No route to host"), ("voice", "nothing arrived"),
    ("iperf3", "No route to host"),
])  # fmt: skip
def test_a_flow_that_never_starts_says_why(bench, kind, why):
    """There is no route to its other end, which ARP finds after 3 s; datagrams get no error."""
    (found,) = written(bench, bench.plan(stations=2, seconds=4, spacing=600, unreachable=True, traffic=kind))
    assert (found["outcome"], found["delivered_bytes"]) == ("never started", 0)
    assert why in found["why"]
    if kind == "web":
        assert (found["transactions"]["failed"], found["transactions"]["completed"]) == (1, 0)
    if kind == "voice":
        assert (found["datagrams"]["sent"], found["datagrams"]["lost_percent"]) == (200, 100)


SATURATED = """
import json
from emulation.net import Net
with Net(mode="n", mcs=7, trace=False) as net:
    sender, receiver, far = net.addStation("sta1"), net.addStation("sta2", position=(20, 0, 0)), net.addHost("h1")
    net.addLink(sender, receiver)
    net.addLink(receiver, far, cls="wired")
    for a, b, count in ((sender, receiver, None), (receiver, sender, 70), (far, receiver, None)):
        net.addFlow(a, b, kind="udp", arrivals="saturated", bytes=count and 1448 * count)
    net.addFlow(sender, receiver, kind="udp", arrivals="saturated", datagram_bytes=5000)
    net.start()
    ran = net.run(0.98)
    print(json.dumps([[flow["datagrams"]["sent"], flow["datagrams"]["arrived"], flow["outcome"]]
                      for flow in ran["applications"]]))
"""


STEADY = (
    "from=sta1,to=sta3,interval_s=0.02",
    "from=sta3,to=sta1,arrivals=poisson,stop_s=1.5",
    "from=sta2,to=sta3,bytes=14480",
)


DELAYED = """
import json
from emulation.net import Net
with Net(trace=False) as net:
    net.addLink(net.addHost("h1"), net.addHost("h2"), cls="wired", delay="7ms")
    net.addFlow("h1", "h2", kind="udp", arrivals="poisson")
    net.start()
    print(json.dumps(net.run(2.0)["applications"][0]["datagrams"]["delay_ms"]))
"""


def test_a_datagram_that_is_read_late_has_its_own_delay(bench):
    (line,) = bench.script(DELAYED)
    assert {name: round(ms, 2) for name, ms in json.loads(line).items()} == dict.fromkeys(json.loads(line), 7)


def test_batches_do_not_change_what_a_slow_flow_reports(bench):
    """Over two hops, with losses. Timers of one move those of others by less than a microsecond, now and then."""
    seen = []
    for batches in ("off", "on"):
        written(bench, bench.plan(
            stations=3, seconds=3, flows=0, routing="dsr", sample_s=0.4, rate=11, trace=False,
            application=[f"udp,{flow},batches={batches}" for flow in STEADY],
        ))  # fmt: skip
        told = [flow["datagrams"] for flow in bench.result()["applications"]]
        series = flow_series.read(bench.folder / "flows.csv").values()
        seen.append([
            *({**of, **of["delay_ms"], "delay_ms": 0} for of in told), *(dict(each) for each in series)
        ])  # fmt: skip
    for single, together in zip(*seen, strict=True):
        assert {name: pytest.approx(value, abs=0.001, nan_ok=True) for name, value in single.items()} == together
    assert [of["hops_mean"] for of in told] == [2, 2, 1] and told[1]["lost_percent"] > 0


def test_a_saturated_source_sends_when_its_socket_has_room(bench):
    """A socket of 92 datagrams takes 45 at a time while it has room. One on a wire has room at once, and pauses. The
    kernel takes no datagrams in batches that it has to fragment."""
    (line,) = bench.script(SATURATED)
    radio, ended, wire, fragmented = json.loads(line)
    sent, arrived, outcome = radio
    assert arrived < sent < arrived + 92 + 45 and arrived > 250 and outcome == "ran"
    assert ended == [70, 70, "finished"]
    assert wire == [20 * 1024, 20 * 1024, "ran"]
    assert fragmented[2] == "ran" and 0 < fragmented[1] < fragmented[0] < fragmented[1] + 92


def test_a_flow_that_falls_silent_says_when(bench):
    """A station on its path is switched off at 3 s. A flow beside it continues, and a finished one stays finished."""
    made = bench.plan(
        stations=4, seconds=9, flows=0, rate=11,
        application=["bulk,from=sta1,to=sta3", "voice,from=sta3,to=sta1", "request,from=sta1,to=sta3",
                     "bulk,from=sta1,to=sta3,bytes=1000", "voice,from=sta3,to=sta4"],
    )  # fmt: skip
    found = written(bench, {**made, "presence": {"sta2": [[0, 3]]}})
    assert [one["outcome"] for one in found] == ["fell silent"] * 3 + ["finished", "ran"]
    for one in found[:3]:
        assert 2.5 < one["last_s"] < 3.1
        assert one["why"] == f"nothing arrived after {one['last_s']:.2f} s"
    assert found[2]["transactions"]["unfinished"] == 1


def test_a_killed_kinds_flow_leaves_the_others_alone(bench):
    """iperf3's time may end before that of the run."""
    stopped, other = written(bench, bench.plan(
        stations=2, seconds=4, traffic="iperf3,stop_s=1.5", application="voice,from=sta2,to=sta1"
    ))  # fmt: skip
    assert stopped["delivered_bytes"] > 100_000 and other["datagrams"]["arrived"] > 150
    seen = trace.read(bench.folder / "air.trace")
    data = seen.tx["start_ns"][seen.tx["kind"] == trace.Kind.TCP_DATA] - seen.start_ns
    assert 1.4e9 < data.max() < 2.5e9  # what was on its way


def test_flows_in_a_plan():
    """Those of the topology come first. Each has its own port, and only flows with TCP need its settings."""
    made = plan(
        specify(
            "string", {"stations": 3, "tcp": "vegas", "application": "voice,from=sta3,to=sta1;udp,from=sta2,to=sta1"}
        )
    )
    assert [(one["name"], one["kind"], one["port"], one["congestion"], one["tos"]) for one in made["applications"]] == [
        ("flow1", "bulk", 5001, "vegas", None), ("flow2", "voice", 5002, "", 184), ("flow3", "udp", 5003, "", None)
    ]  # fmt: skip
    assert ["net.ipv4.tcp_sack" in node["sysctl"] for node in made["nodes"]] == [True, False, True]
