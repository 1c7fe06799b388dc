# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench wlan`: the shares of a saturated WLAN, beside ns-3's infrastructure mode.

Datagrams of 1472 bytes at 11 Mb/s go from, to, or from and to stations around an access point. The scenarios show the
capacity of one link, equal shares of clients, the access point's share beside many uplinks, and how one station at 1
Mb/s slows all. The basic rates are 1 and 2 Mb/s, as ns-3 answers at 2. Collisions are resolved by capture at 10 dB, the
default, and by bit errors, as in ns-3.

Then two such cells on one channel, 60 m apart, with 802.11a at 24 Mb/s. ns-3 receives and senses from -82 dBm on (its
RssiMin and CcaSensitivity), which is about the power from the other cell.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analysis.results.result import Run
from analysis.tables import statistics
from benchmarks import against, near, pool, show_table, table, words
from benchmarks.compare import build_peer, output
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import Specification, specify
from topologies import Application, Network, Node, wlan

PEER = "ns-3"
SECONDS, DATAGRAM_BYTES, OFFERED_BPS = 20, 1472, 18e6  # the last is split among stations + 1 flows
RECEPTIONS = ("capture", "sinr")
CELL_M, APART_M = 20.0, 60.0
CELLS: dict[str, Any] = {
    "rate": 24, "basic_rates": (6, 12, 24), "freq": 5180, "bit_errors": "table",
    "propagation": {"model": "log-distance", "exponent": 3, "reference_loss_db": 46.7, "tx_power_dbm": 20},
    "thresholds": {"receive_dbm": -82, "sense_dbm": -82},
}  # fmt: skip
OPTIONS: dict[str, Any] = {"rate": 11, "basic_rates": (1, 2), "seconds": SECONDS, "trace": False, "tcp_trace": False,
                           "beacon_tu": 100, "routing": "static"}  # fmt: skip


class Scenario(NamedTuple):
    """A number of stations, some of them slow, and the direction of datagrams."""

    stations: int
    direction: str
    slow: int = 0
    cells: int = 1

    def __str__(self) -> str:
        slow = f", {self.slow} of them at 1 Mb/s" if self.slow else ""
        cells = f", in each of {self.cells} cells" if self.cells > 1 else ""
        return f"{self.stations} {self.direction}{slow}{cells}"


SCENARIOS = (
    *(Scenario(1, "up"), Scenario(1, "down"), Scenario(5, "up"), Scenario(5, "down"), Scenario(5, "both")),
    *(Scenario(5, "up", 1), Scenario(20, "up"), Scenario(5, "down", cells=2), Scenario(5, "up", cells=2)),
)


def groups(scenario: Scenario, kbps: Sequence[float]) -> dict[str, float]:
    """Return the mean goodput of each kind of flow in kb/s, and Jain's index over all flows."""
    up = kbps[: scenario.cells * scenario.stations] if scenario.direction != "down" else []
    kinds = {"slow": up[: scenario.slow], "up": up[scenario.slow :], "down": kbps[len(up) :]}
    found = {f"each {kind}": sum(rates) / len(rates) for kind, rates in kinds.items() if len(rates)}
    squares = sum(rate * rate for rate in kbps)
    return found | {"all": sum(kbps)} | ({"Jain": sum(kbps) ** 2 / (len(kbps) * squares)} if squares else {})


def cell(network: Network, number: int) -> Network:
    """Return a network with the names and positions of cell `number`."""

    def named(name: str) -> str:
        return f"{name}-{number}"

    x = number * APART_M
    return Network(
        nodes={
            named(name): node.model_copy(update={"position": (node.position[0] + x, *node.position[1:])})
            for name, node in network.nodes.items()
        },
        links=tuple(
            link.model_copy(update={
                "nodes": tuple(map(named, link.nodes)),
                "settings": {**link.settings, **({"ssid": named("lab")} if link.kind == "infrastructure" else {})},
            })
            for link in network.links
        ),
        applications=tuple(
            flow.model_copy(update={"source": named(flow.source), "destination": named(flow.destination)})
            for flow in network.applications
        ),
    )  # fmt: skip


def together(cells: Sequence[Network]) -> Network:
    return Network(
        nodes={name: node for one in cells for name, node in one.nodes.items()},
        links=tuple(link for one in cells for link in one.links),
        applications=tuple(flow for one in cells for flow in one.applications),
    )


def specification(scenario: Scenario, seed: int, reception: str) -> Specification:
    one = wlan.layout(wlan.Parameters(stations=scenario.stations, direction=scenario.direction, delay=0, radius=CELL_M))
    network = one if scenario.cells == 1 else together([cell(one, number) for number in range(scenario.cells)])
    slow = {f"sta{i + 1}" for i in range(scenario.slow)}
    nodes = {name: Node.model_validate({**dict(node), "settings": {"rate": 1} if name in slow else {}})
             for name, node in network.nodes.items()}  # fmt: skip
    offered = OFFERED_BPS * (1 if scenario.cells == 1 else 2)
    flows = tuple(
        Application(source=flow.source, destination=flow.destination, kind="udp", settings={
            "datagram_bytes": DATAGRAM_BYTES, "start_s": 0.0037 * number,
            "interval_s": DATAGRAM_BYTES * 8 / (offered / (scenario.stations + 1) * (1 + 0.0137 * number)),
        })
        for number, flow in enumerate(network.applications)
    )  # fmt: skip
    return specify(
        network.model_copy(update={"nodes": nodes, "applications": flows}),
        {**OPTIONS, **(CELLS if scenario.cells > 1 else {}), "reception": reception, "seed": seed},
    )


def there(program: Path, scenario: Scenario, seed: int) -> dict[str, float]:
    options = words(**scenario._asdict(), apart=APART_M, seconds=SECONDS, seed=seed, bytes=DATAGRAM_BYTES)
    return groups(scenario, json.loads(output(program, *options))["kbps"])


def here(scenario: Scenario, run: Run) -> dict[str, float]:
    arrived = [flow.datagrams.arrived for flow in run.flows if flow.datagrams]
    return groups(scenario, [count * DATAGRAM_BYTES * 8 / SECONDS / 1000 for count in arrived])


def measure(seeds: int) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Return a row for each seed, by scenario and program."""
    keys = [(scenario, seed) for scenario in SCENARIOS for seed in range(1, seeds + 1)]
    with scratch("bench") as name, pool() as threads:
        folder = Path(name)
        peer = build_peer(folder, "wlan")
        theirs = list(threads.map(lambda key: there(peer, *key), keys))
        tasks = [
            Task(specification(*key, reception), reception, f"{i}")
            for i, key in enumerate(keys) for reception in RECEPTIONS
        ]  # fmt: skip
        outcomes = play_with_progress(provide(), tasks, folder / "runs")
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for (scenario, _), row in zip(keys, theirs, strict=True):
        found.setdefault(str(scenario), {PEER: [], **{reception: [] for reception in RECEPTIONS}})[PEER].append(row)
    for task, outcome in zip(tasks, outcomes, strict=True):
        scenario, _ = keys[int(task.case)]
        found[str(scenario)][task.variant].append(here(scenario, outcome.run))
    return found


def show(found: Mapping[str, Mapping[str, list[dict[str, float]]]], _: int) -> None:
    columns = [column for reception in RECEPTIONS for column in (reception, "")]
    rows = table(f"A saturated WLAN, {SECONDS} s", "stations", "kb/s", PEER, *columns)
    for scenario, of in found.items():
        for what in of[PEER][0]:
            theirs, *ours = (statistics.mean([row[what] for row in of[name]]) for name in (PEER, *RECEPTIONS))
            digits = 3 if what == "Jain" else 0
            cells = (cell for each in ours for cell in (near(each, digits), against(each, theirs)))
            rows.add_row(scenario, what, near(theirs, digits), *cells, end_section=what == "Jain")
    show_table(rows)
