# SPDX-License-Identifier: BSD-3-Clause
"""Moving nodes in a lane: along the plan's waypoints, and by a script."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.taps import compare
from analysis.taps.phy import radios
from analysis.traces import pcapng, trace, views
from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.specification import specify
from emulation.specification.propagation import TwoRayGround
from topologies import Application, Network, Node, Span, Waypoint

FROM_PLAN = """
import json, os
from emulation.lane.net import Net
with open(os.environ["DCFLAB_RUN"] + "/plan.json") as file:
    net = Net.from_plan(json.load(file))
"""


def arrived_s(bench):
    """Return the start of each reception at a station, in seconds of the measurement."""
    found = trace.read(bench.folder / "air.trace")
    return (found.rx[found.rx["outcome"] == 0]["start_ns"] - found.start_ns) / 1e9


def test_a_station_walks_out_of_range_and_back(bench):
    """It passes 250 m at 2.5 s and again at 5.5 s. Nothing arrives in between, and TCP continues."""
    way = (Waypoint(0, (200, 0, 0)), Waypoint(2, (200, 0, 0)), Waypoint(4, (400, 0, 0)), Waypoint(6, (200, 0, 0)))
    network = Network(
        nodes={"sta1": Node(), "sta2": Node(position=(200, 0, 0))},
        applications=(Application(source="sta1", destination="sta2"),),
        motion={"sta2": way},
    )
    (bench.folder / "plan.json").write_text(json.dumps(plan(specify(network, {"seconds": 12}))))
    assert bench.run("plan").status == 0
    ok, lane = arrived_s(bench), bench.result()
    assert not ((ok > 2.5005) & (ok < 5.4995)).any()
    assert ((ok > 2.3) & (ok < 2.5)).sum() > 10 and (ok > 5.5).sum() > 500
    assert lane["applications"][0]["delivered_bytes"] > 300_000
    assert lane["moves"] == []


def test_the_airs_powers_are_the_formulas(bench):
    """12 stations at 20 moments, from the kernel; and each node knows its position."""
    bench.plan(
        "random", stations=12, area="900x300", motion="random_waypoint,vmax=20", seconds=20, flows=1, unreachable=True
    )
    lines = bench.script(
        FROM_PLAN
        + """
said = []
def look():
    positions = [node.position for node in net.nodes.values()]
    said.append([positions, [net.air.received_powers(i) for i in range(len(net.nodes))]])
with net:
    net.start()
    for second in range(20):
        net.at(second + 0.123, look)
    net.run(20)
print(json.dumps(said))
"""
    )
    moments = json.loads(lines[0])
    assert len(moments) == 20 and moments[0][0] != moments[-1][0]
    heard = 0
    for positions, powers in moments:
        at = np.array(positions)
        with np.errstate(divide="ignore"):
            dbm = TwoRayGround().received_dbm(np.linalg.norm(at[:, None] - at[None], axis=2))
        for i, row in enumerate(powers):
            for j, power in enumerate(row):
                if i != j and power is not None:
                    heard += 1
                    assert abs(power / 1000 - dbm[i, j]) < 0.01
                elif i != j:
                    assert dbm[i, j] < -78
    assert heard > 20 * 12 * 3


def test_what_no_table_says_goes_in_steps(bench):
    """One is out of range for two of six seconds: nothing arrives meanwhile, and the flow continues."""
    made = bench.plan(stations=2, seconds=6)
    air = made["air"]
    there = {"power_mdbm": dict(enumerate(air["power_mdbm"])), "delay_ns": dict(enumerate(air["delay_ns"]))}
    gone = {"power_mdbm": {0: [None, None], 1: [None, None]}, "delay_ns": {0: [0, 0], 1: [0, 0]}}
    way = [[0, 200_000, 0, 0], [6_000_000, 800_000, 0, 0]]
    made["motion"] = {"waypoints": {"sta2": way}, "table": None,
                      "steps": [{"at_s": 2.0, **gone}, {"at_s": 4.0, **there}]}  # fmt: skip
    (bench.folder / "plan.json").write_text(json.dumps(made))
    lines = bench.script(
        FROM_PLAN
        + """
with net:
    net.start()
    heard = []
    for at in (0, 1.999, 2.001, 3.999, 4.001):
        net.at(at, lambda: heard.append(len(net.heard_by(net["sta1"]))))
    net.run(6)
    print(heard)
    print(net["sta2"].position, net.heard_by(net["sta1"])[0][0])
"""
    )
    assert lines == ["[1, 1, 0, 0, 1]", "(800.0, 0.0, 0.0) sta2"]
    ok = arrived_s(bench)
    assert not ((ok > 2.01) & (ok < 4)).any()
    assert (ok > 4).sum() > 50 and (ok < 2).sum() > 50


def test_a_script_moves_stations_while_it_runs(bench):
    """They move, powers follow the distance, and lane.json has the moves."""
    lines = bench.script("""
import json, time
from emulation.net import Net
net = Net(seconds=10)
a, b = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in (0, 1))
net.addFlow(a, b)
def heard():
    return [power for _, power in net.heard_by(a)]
with net:
    net.start()
    b.move((400, 0, 0), 20)
    print(b.position, heard())
    time.sleep(2)
    print([round(x, 2) for x in b.position], len(heard()))
    time.sleep(1)
    print([round(x, 2) for x in b.position], heard())
    b.setPosition("100,0,0")
    print(b.position, heard())
    for wrong in (lambda: b.move((0, 0, 0), 0), lambda: b.move((0, 0), 1), lambda: b.move((9e5, 0, 0), 1001)):
        try:
            wrong()
        except ValueError as error:
            print(error)
    net.at(5, lambda: a.move((0, 300, 0), 100))
    net.at(7.5, lambda: a.setPosition((0, 0, 0)))
    print(json.dumps(net.run(name="moved")["moves"]))
""")
    assert lines[0] == "(200.0, 0.0, 0.0) [-60.498]" or lines[0].startswith("(200.0, 0.0, 0.0) [-60.")
    assert lines[1:3] == ["[240.0, 0.0, 0.0] 1", "[260.0, 0.0, 0.0] []"]
    assert lines[3].startswith("(100.0, 0.0, 0.0) [-48.")
    assert lines[4] == "sta1: move: the speed must be above 0, and at most 1000 m/s, not 0"
    assert "a position is three numbers" in lines[5] and "1001" in lines[6]
    before, out, back = json.loads(lines[7])
    assert (before["node"], before["to"], before["speed"]) == ("sta1", [100.0, 0.0, 0.0], None) and before["at_s"] < 0
    assert out == {"at_s": 5.0, "node": "sta0", "from": [0.0, 0.0, 0.0], "to": [0.0, 300.0, 0.0], "speed": 100.0}
    assert (back["at_s"], back["from"], back["to"], back["speed"]) == (7.5, [0.0, 250.0, 0.0], [0.0, 0.0, 0.0], None)


def differing(folder, **otherwise):
    """Return where taps and module differ, for a plan with these parts replaced."""
    plan, lane = (json.loads((folder / name).read_text()) for name in ("plan.json", "lane.json"))
    pcapng.write(trace.read(folder / "air.trace"), radios(plan), folder)
    told = {"changes": lane["changes"], **otherwise}
    seen, known = compare.counters(folder / pcapng.AIR, plan | told, told["changes"]), lane["air"]["stations"]
    return compare.differences(seen, [station["counters"] for station in known])


def differing_without_views(folder):
    """Return the same without records of receptions."""
    plan, lane = (json.loads((folder / name).read_text()) for name in ("plan.json", "lane.json"))
    (folder / views.FILE).unlink()
    known = [station["counters"] for station in lane["air"]["stations"]]
    return compare.differences(compare.counters(folder / pcapng.AIR, plan, lane["changes"]), known)


@pytest.mark.parametrize("reception", ["capture", "sinr"])
@pytest.mark.parametrize("topology", ["string", "random"])
def test_the_taps_know_who_heard_whom(bench, topology, reception):
    """For moving stations the taps count the same as the module, to the unit, both collisions and noise."""
    ranges = {"transmission_m": 250, "carrier_sense_m": 350}
    usual = {"seconds": 20, "reception": reception, "ranges": ranges, "unreachable": True, "routing": "aodv"}
    network = {
        "string": {"stations": 8, "motion": "line,node=sta8,speed=60,heading=178", "flows": 3},
        "random": {"stations": 20, "area": "2500x300", "motion": "random_waypoint,vmin=1,vmax=30", "flows": 6},
    }
    bench.plan(topology, **network[topology], **usual)
    assert bench.run("plan").status == 0
    assert differing(bench.folder) == []
    assert reception == "sinr" or differing(bench.folder, motion=None)
    assert differing_without_views(bench.folder) == []


def test_the_taps_know_what_a_script_changed(bench):
    """Jumps, moves and powers, before and during a run of two flows that interfere."""
    bench.script("""
from emulation.net import Net
net = Net(reception="capture", ranges={"transmission_m": 250, "carrier_sense_m": 350})
a, b, c, d = (net.addStation(name, position=(at, 0, 0)) for name, at in zip("abcd", (0, 200, 5000, 5200)))
net.addFlow(a, b)
net.addFlow(c, d)
with net:
    net.start()
    c.position, d.position = (530, 0, 0), (700, 0, 0)
    net.run(3, name="jumped")
    net.at(1, lambda: c.move((900, 0, 0), 200))
    net.at(3, lambda: setattr(c, "tx_power_dbm", 35))
    net.at(4, lambda: c.setPosition((500, 0, 0)))
    net.at(5, lambda: setattr(b, "tx_power_dbm", 10))
    net.at(6, lambda: c.move((900, 0, 0), 100))
    net.at(7, lambda: c.move((600, 100, 0), 100))
    net.run(10, name="went")
""")
    for name in ("jumped-1", "went-1"):
        assert differing(bench.folder / name) == []
        assert differing(bench.folder / name, changes=[])


def test_stations_come_and_go(bench):
    """The middle one is off for two seconds and then relays again; the last one appears after three."""
    nodes = {f"sta{i}": Node(position=(200.0 * i, 0, 0)) for i in (1, 2, 3, 4)}
    flows = (Application(source="sta1", destination="sta3"), Application(source="sta4", destination="sta3",
                                                                         settings={"start_s": 3.5}))  # fmt: skip
    spans = {"sta2": (Span(0, 2), Span(4, 12)), "sta4": (Span(3, 12),)}
    network = Network(nodes=nodes, applications=flows, presence=spans)
    (bench.folder / "plan.json").write_text(json.dumps(plan(specify(network, {"seconds": 12, "rts": "full"}))))
    assert bench.run("plan").status == 0
    found = trace.read(bench.folder / "air.trace")
    for station, away in ((1, ((2, 4),)), (3, ((0, 3),))):
        sent = (found.tx[found.tx["station"] == station]["start_ns"] - found.start_ns) / 1e9
        came = found.rx[(found.rx["station"] == station)]
        heard = (came["start_ns"] - found.start_ns) / 1e9
        for begin, end in away:
            for times in (sent, heard):
                assert not ((times > begin + 0.02) & (times < end)).any()
                assert (times > end).sum() > 100
    assert all(flow["delivered_bytes"] > 100_000 for flow in bench.result()["applications"])


def test_who_is_not_there_begins_no_flow():
    flow = Application(source="sta1", destination="sta2", settings={"start_s": 5.0})
    spans = {"sta1": (Span(0, 5),)}
    network = Network(nodes={"sta1": Node(), "sta2": Node()}, applications=(flow,), presence=spans)
    with pytest.raises(Misuse, match="flow1: it starts at 5 s, when sta1 is not present"):
        plan(specify(network, {"seconds": 12}))


def test_what_is_wrong_is_said(bench):
    """Each kernel error has a message, and the earlier state stays."""
    bench.plan(stations=2)
    lines = bench.script(
        FROM_PLAN
        + """
from emulation.lane.motion import Trajectory
from emulation.lane.netlink import NetlinkError
from emulation.lane.protocol import Attribute as A, Command
table = {"first": 12, "bin_bits": 6, "power_mdbm": [-60_000] * 2000, "reach_mm2": [10**11] * 2, "weaker_mdb": [0, 0]}
long = [(i * 1000, 200_000 + i, 0, 0) for i in range(10_000)]
with net:
    net.start()
    net.air.set_table(table)
    net.air.set_trajectory("sta1", Trajectory([(0, 0, 0, 0)]))
    net.air.set_trajectory("sta2", Trajectory(long))
    print(net.air.received_powers(0))
    way = lambda *stops: lambda: net.air.set_trajectory("sta2", Trajectory(stops))
    ask = lambda command, *values: lambda: net.air._ask(command, values, "")
    index = (A.STATION, b"\\0\\0")
    for wrong in (way((5, 0, 0, 0), (5, 0, 0, 0)), way((0, 0, 0, 0), (1000, 5000, 0, 0)), way((0, 10**9, 0, 0)),
                  lambda: net.air.set_table({**table, "power_mdbm": [41_000]}),
                  lambda: net.air.set_table({**table, "reach_mm2": [2**63] * 2}),
                  ask(Command.WAYPOINTS, index, (A.TIME_NS, b"\\0" * 8), (A.OFFSET, 99), (A.WAYPOINTS, b"")),
                  ask(Command.WAYPOINTS, index, (A.TIME_NS, b"\\0" * 8), (A.OFFSET, 0), (A.WAYPOINTS, b"123")),
                  ask(Command.WAYPOINTS, index), ask(Command.HEARD, (A.STATION, b"\\7\\0"))):
        try:
            wrong()
            print("took it")
        except NetlinkError as error:
            print(error.strerror)
    print(net.air.received_powers(0))
"""
    )
    assert lines[0] == lines[-1] == "[None, -60000]"
    for line, said in zip(
        lines[1:-1],
        ("times must rise", "at most 1000 m/s", "100 km of the origin", "at most 10 W", "a reach above",
         "offset beyond", "not whole entries", "is missing", "no such station"),
        strict=True,
    ):  # fmt: skip
        assert said in line
