# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench ht`: throughput and speed of WLANs with 802.11n, ac and ax, beside ns-3.

1, 5 and 20 stations are saturated with UDP at three MCS of each format, up to their access point; with 5 stations also
down from it. Both have the same rules: one stream, guard intervals of 0.8 us, A-MPDUs of 64 MPDUs and 5.484 ms at most,
best effort, no RTS, no losses but collisions. Datagrams have 1460 bytes. A station has two flows, as a socket has too
little room for two aggregates. The host behind the access point has a wire without a rate.

CPU time is that of ns-3's process and of a lane, from its boot on, without a trace. The runs take turns.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from analysis.results import flow_series
from analysis.tables import statistics
from benchmarks import against, main, near, show_table, table, words
from benchmarks.aggregates import MODES
from benchmarks.compare import build_peer, output, timed
from emulation.lanes.virtual.scratch import scratch
from emulation.play.lab import Lab
from emulation.play.run import Task, name_of
from emulation.play.session import play_with_progress, provide
from emulation.specification import Specification, specify
from topologies import Application, wlan

PEER, OURS = "ns-3", "dcflab"
DATAGRAM_BYTES, FLOWS, LEAST_S = 1460, 2, 2.0
LOADED_S = 1.0  # not counted
BURST_S, MOST = 0.02, 64  # datagrams of this time are sent down at once, at most MOST
MODE = {"ht": "n", "vht": "ac", "he": "ax"}
RATES = {"ht": (6.5, 26, 65), "vht": (29.3, 175.5, 390), "he": (36, 288.2, 600.5)}  # of MODES, Mb/s
PPDUS = {1: 400, 5: 1000, 20: 1000}  # in a run, about, by stations
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


def scenarios() -> list[Scenario]:
    rates = [rate for form in RATES.values() for rate in form]
    return [
        Scenario(form, mcs, width, stations, direction, rate, max(PPDUS[stations] * ms / 1000, LEAST_S))
        for stations, direction in ((1, "up"), (5, "up"), (20, "up"), (5, "down"))
        for (form, mcs, width, ms), rate in zip(MODES, rates, strict=True)
    ]


def specification(scenario: Scenario, seed: int) -> Specification:
    network = wlan.layout(wlan.Parameters(stations=scenario.stations, direction=scenario.direction))
    air, wire = network.links
    kbps = scenario.offered * 1000 / scenario.stations / FLOWS
    burst = max(1, min(MOST, int(BURST_S * kbps * 1000 / 8 / DATAGRAM_BYTES)))
    flows: list[Application] = []
    for number, flow in enumerate(network.applications):
        own: dict[str, Any] = {"datagram_bytes": DATAGRAM_BYTES, "start_s": 0.0037 * number}
        if scenario.direction == "up":
            own |= {"arrivals": "saturated"}
        else:
            own |= {"rate_kbps": kbps * (1 + 0.0137 * number / scenario.stations), "burst": burst}
        flows += [flow.model_copy(update={"kind": "udp", "settings": own})] * FLOWS
    network = network.model_copy(
        update={"applications": tuple(flows), "links": (air, wire.model_copy(update={"settings": {}}))}
    )
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
        took = timed(lambda: play_with_progress(lab, [task], Path(runs)))
        return {"mbps": goodput(scenario, Path(runs) / name_of(task)), **took._asdict()}


def measure(seeds: int) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Return goodput, wall time and CPU time of each seed, by scenario and program."""
    lab = provide()
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    with scratch("bench") as name:
        peer = build_peer(Path(name), "ht")
        for scenario in scenarios():
            of = found[str(scenario)] = {PEER: [], OURS: []}
            for seed in range(1, seeds + 1):
                of[PEER].append(there(peer, scenario, seed))
                of[OURS].append(here(lab, scenario, seed))
    return found


def show(found: Mapping[str, Mapping[str, list[dict[str, float]]]], _: int) -> None:
    rows = table("Saturated WLANs of 802.11n, ac and ax", "mode, stations", "Mb/s, ns-3", "dcflab", "", "CPU s, ns-3",
                 "dcflab", "ratio")  # fmt: skip
    for scenario, of in found.items():
        theirs, ours = (statistics.mean([row["mbps"] for row in of[name]]) for name in (PEER, OURS))
        cpu = [sum(row["cpu"] for row in of[name]) / len(of[name]) for name in (PEER, OURS)]
        rows.add_row(scenario, near(theirs, 1), near(ours, 1), against(ours, theirs),
                     *(f"{each:.2f}" for each in cpu), f"{cpu[0] / cpu[1]:.1f}")  # fmt: skip
    show_table(rows)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, show))
