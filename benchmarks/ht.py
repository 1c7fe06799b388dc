# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench ht`: throughput and speed of WLANs with 802.11n, ac and ax, beside ns-3.

1, 5 and 20 stations are saturated with UDP at three MCS of each format, up to their access point; with 5 stations also
down from it. Both have the same rules: one stream, guard intervals of 0.8 us, A-MPDUs of 64 MPDUs and 5.484 ms at most,
best effort, no RTS, no losses but collisions. Datagrams have 1460 bytes. A sender's socket has room for 184 of them.
The host behind the access point has a wire without a rate. Flows have batches (`traffic.applications.udp`).

CPU time is that of ns-3's process and of a lane, without a trace. Each plays a short run and a long one, in turns.
Their difference gives the CPU time of one more second. The time of a short run contains the start; a lane boots.
"""

import time
from collections.abc import Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from analysis.results import flow_series
from analysis.tables import statistics
from benchmarks import against, near, show_table, table, words
from benchmarks.aggregates import MODES
from benchmarks.compare import build_peer, output, timed
from emulation.lanes.virtual.scratch import scratch
from emulation.play.lab import Lab
from emulation.play.player import play_all
from emulation.play.progress import Progress
from emulation.play.run import Task, name_of
from emulation.play.session import failures, progress_bar, provide
from emulation.specification import Specification, specify
from topologies import Application, wlan

PEER, OURS = "ns-3", "dcflab"
DATAGRAM_BYTES, SEND_BUFFER = 1460, 212_992  # the kernel doubles the last
ECT = 2  # mac80211's CoDel marks these packets instead of dropping them; ns-3 has no CoDel here
SHORT_S = 2.0
LOADED_S = 1.0  # not counted
BURST_S, MOST = 0.1, 176  # datagrams of this time are sent down at once, at most MOST: a buffer takes them
BEACONS = {"aifsn": 1, "cw_min": 0, "cw_max": 0}  # as in ns-3; hostapd's have a window of 3
MODE = {"ht": "n", "vht": "ac", "he": "ax"}
RATES = {"ht": (6.5, 26, 65), "vht": (29.3, 175.5, 390), "he": (36, 288.2, 600.5)}  # of MODES, Mb/s
LONGER_S, TIMES = 3.0, {1: 1, 5: 1.6, 20: 4}  # see `longer_s`
OPTIONS: dict[str, Any] = {"aggregation": "ath10k", "trace": False, "tcp_trace": False, "beacon_tu": 100,
                           "routing": "static", "views": "no"}  # fmt: skip


class Scenario(NamedTuple):
    """The arguments of the peer."""

    format: str
    mcs: int
    width: int
    stations: int
    direction: str
    offered: float  # Mb/s of all flows down
    seconds: float

    def __str__(self) -> str:
        return f"{self.format.upper()}{self.width} MCS {self.mcs}, {self.stations} {self.direction}"


def longer_s(stations: int, rate: float) -> float:
    """Return how much longer a long run is: ns-3 takes LONGER_S of CPU time for that, and a lane much less, but more
    than its start varies by. ns-3's time for a second grows with the rate, and with the stations that hear a PPDU."""
    return round(LONGER_S / TIMES[stations] / (0.025 + 0.0011 * rate), 1)


def scenarios() -> list[Scenario]:
    rates = [rate for form in RATES.values() for rate in form]
    return [
        Scenario(form, mcs, width, stations, direction, rate, SHORT_S + longer_s(stations, rate))
        for stations, direction in ((1, "up"), (5, "up"), (20, "up"), (5, "down"))
        for (form, mcs, width, _), rate in zip(MODES, rates, strict=True)
    ]


def specification(scenario: Scenario, seed: int) -> Specification:
    network = wlan.layout(wlan.Parameters(stations=scenario.stations, direction=scenario.direction))
    air, wire = network.links
    kbps = scenario.offered * 1000 / scenario.stations
    burst = max(1, min(MOST, int(BURST_S * kbps * 1000 / 8 / DATAGRAM_BYTES)))
    flows: list[Application] = []
    for number, flow in enumerate(network.applications):
        own: dict[str, Any] = {"datagram_bytes": DATAGRAM_BYTES, "start_s": 0.0037 * number, "batches": "on",
                               "send_buffer": SEND_BUFFER, "tos": ECT}  # fmt: skip
        if scenario.direction == "up":
            own["arrivals"] = "saturated"
        else:
            own |= {"rate_kbps": kbps * (1 + 0.0137 * number / scenario.stations), "burst": burst}
        flows.append(flow.model_copy(update={"kind": "udp", "settings": own}))
    nodes = {name: node.model_copy(update={"settings": {**node.settings, "edca": {"VO": BEACONS}}})
             if name == air.nodes[0] else node for name, node in network.nodes.items()}  # fmt: skip
    network = network.model_copy(update={
        "nodes": nodes, "applications": tuple(flows), "links": (air, wire.model_copy(update={"settings": {}})),
    })  # fmt: skip
    mode = {"mode": MODE[scenario.format], "mcs": scenario.mcs, "width": scenario.width}
    length = {"seconds": LOADED_S + scenario.seconds, "sample_s": LOADED_S}
    return specify(network, {**OPTIONS, **mode, **length, "seed": seed})


def goodput(scenario: Scenario, folder: Path) -> float:
    """Return Mb/s of payload, after the first sample."""
    flows = flow_series.read(folder / flow_series.FILE).values()
    delivered = sum(of["delivered_bytes"][-1] - of["delivered_bytes"][0] for of in flows)
    return float(delivered) * 8 / scenario.seconds / 1e6


def there(program: Path, scenario: Scenario, seed: int) -> dict[str, float]:
    said: list[str] = []
    options = words(**scenario._asdict(), seed=seed, bytes=DATAGRAM_BYTES)
    took = timed(lambda: said.append(output(program, *options)))
    return {"mbps": float(said[0]), **took._asdict()}


def here(lab: Lab, scenario: Scenario, seed: int) -> dict[str, float]:
    with scratch("bench") as runs:
        task = Task(specification(scenario, seed))
        with failures():
            took = timed(lambda: play_all(lab, [task], Path(runs)))
        return {"mbps": goodput(scenario, Path(runs) / name_of(task)), **took._asdict()}


def measure(seeds: int) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Return goodput, wall time and CPU time of each seed, by scenario and program. `short_cpu` is of the short run."""
    lab = provide()
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    progress = Progress([1.0] * len(scenarios()) * seeds, time.monotonic)  # each takes about as long
    with scratch("bench") as name, progress_bar(len(progress.done), air=False) as tell:
        programs = {PEER: partial(there, build_peer(Path(name), "ht")), OURS: partial(here, lab)}
        for number, (scenario, seed) in enumerate(product(scenarios(), range(1, seeds + 1))):
            of = found.setdefault(str(scenario), {PEER: [], OURS: []})
            for part, (program, run) in enumerate(programs.items()):
                progress.update(number, part / len(programs))
                tell(progress)
                long, short = run(scenario, seed), run(scenario._replace(seconds=SHORT_S), seed)
                of[program].append({**long, "seconds": scenario.seconds, "short_cpu": short["cpu"]})
            progress.update(number, 1.0)
            tell(progress)
    return found


def costs(rows: list[dict[str, float]]) -> tuple[float, float]:
    """Return the CPU time in seconds of a further second, and of a short run: the least of all seeds, as other load on
    the machine only adds."""
    long, short = (min(row[name] for row in rows) for name in ("cpu", "short_cpu"))
    return (long - short) / (rows[0]["seconds"] - SHORT_S), short


def show(found: Mapping[str, Mapping[str, list[dict[str, float]]]], _: int) -> None:
    columns = ("Mb/s, ns-3", "dcflab", "", "CPU s for 1 s more, ns-3", "dcflab", "ratio",
               f"CPU s for {LOADED_S + SHORT_S:.0f} s, ns-3", "dcflab", "ratio")  # fmt: skip
    rows = table("Saturated WLANs of 802.11n, ac and ax", "mode, stations", *columns)
    for scenario, of in found.items():
        theirs, ours = (statistics.mean([row["mbps"] for row in of[name]]) for name in (PEER, OURS))
        cells = [near(theirs, 1), near(ours, 1), against(ours, theirs)]
        for there, here in zip(*(costs(of[name]) for name in (PEER, OURS)), strict=True):
            cells += [f"{there:.3f}", f"{here:.3f}", f"{there / here:.1f}"]
        rows.add_row(scenario, *cells)
    show_table(rows)
