# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench manet`: delivery between moving stations, beside ns-2 and ns-3 with the same movement files.

50 stations move in a strip for 120 s, with a movement for each seed. The traffic is light datagrams between five pairs,
which do not adapt, so delivery, hops and routing packets depend on the protocol; or one NewReno flow. Both begin at
20 s, when a proactive protocol knows its routes.

ns-2 runs its own AODV and DSR beside the presets `cmu`, under ns-2's rules and with RTS/CTS before all frames. ns-3
runs its AODV, DSR and OLSR beside the presets `rfc`, with receptions by SINR and without RTS: ns-3 never gives an RTS
up, so a link with RTS would never fail (peers/string.cc)."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from analysis.tables import statistics
from benchmarks import near, pool, show_table, table, words
from benchmarks.compare import HERE, build_peer, output
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Outcome, Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import Specification, specify
from topologies import Application, mobile

STATIONS, AREA, VMAX, SECONDS = 50, (1500, 300), 10, 120
PAIRS, DATAGRAM_BYTES, INTERVAL_S, FROM_S = 5, 512, 0.25, 20  # as in peers/mobile.tcl and peers/manet.cc
TRAFFIC = ("cbr", "tcp")
BESIDE = {
    "ns-2": {"like": "ns2", "rts": "full", "preset": "cmu"},
    "ns-3": {"reception": "sinr", "rts": "none", "preset": "rfc"},
}
ROUTINGS = {"ns-2": ("AODV", "DSR"), "ns-3": ("AODV", "DSR", "OLSR")}
SAID = re.compile(r"acknowledged (\d+) timeouts (\d+)")
COLUMNS = {
    "delivered": "datagrams delivered, %",
    "hops": "hops",
    "packets": "routing packets for each",
    "bytes": "their bytes",
    "segments": "segments of TCP",
}

Row = dict[str, float]


class Light(NamedTuple):
    """Sent and delivered datagrams, and the sum of their hops; routing packets and bytes, counted per hop and with IP
    headers."""

    sent: int
    arrived: int
    hops: float
    frames: int
    bytes: int

    def row(self) -> Row:
        each = max(self.arrived, 1)
        return {
            "delivered": 100 * self.arrived / self.sent, "hops": self.hops / each,
            "packets": self.frames / each, "bytes": self.bytes / each,
            "lost": 100 - 100 * self.arrived / self.sent, "control": self.frames,
        }  # fmt: skip


def light_in_ns2(lines: Iterable[str]) -> Light:
    """Return the counts of a trace of agents and routing, by packet number."""
    sent, frames, size = 0, 0, 0
    hops: dict[str, int] = {}
    for line in lines:
        if line[0] not in "sfr":
            continue
        field = line.split()
        layer, packet, kind = field[3], field[5], field[6]
        if layer == "AGT" and kind == "cbr":
            sent += line[0] == "s"
            if line[0] == "r":
                hops.setdefault(packet, int(field[-2]))
        elif layer == "RTR" and line[0] != "r" and kind in ("AODV", "DSR"):
            frames += 1
            size += int(field[7])
    return Light(sent, len(hops), sum(hops.values()), frames, size)


def in_ns2(movement: Path, routing: str, traffic: str, seed: int, *before: str) -> Row:
    with scratch("bench") as folder:
        trace = Path(folder) / "trace" if traffic == "cbr" else Path("/dev/null")
        arguments = [movement, STATIONS, *AREA, routing, SECONDS, seed, traffic, trace]
        said = SAID.search(output(*before, "ns", HERE / "peers/mobile.tcl", *arguments))
        if said:
            return {"segments": int(said[1])}
        with trace.open() as lines:
            return light_in_ns2(lines).row()


def in_ns3(program: Path, movement: Path, routing: str, traffic: str, seed: int) -> Row:
    said = json.loads(output(program, *words(movement=movement, stations=STATIONS, routing=routing, traffic=traffic,
                                             seconds=SECONDS, seed=seed, rts=BESIDE["ns-3"]["rts"])))  # fmt: skip
    segments = {"segments": said.pop("segments")}
    return segments if traffic == "tcp" else Light(**said).row()


def specification(beside: str, routing: str, traffic: str, seed: int, movement: Path | None = None) -> Specification:
    """Return the specification; `routing` may have parameters. Without `movement`, the seed makes one."""
    air = dict(BESIDE[beside])
    protocol, comma, more = routing.partition(",")
    options: dict[str, Any] = {
        "seconds": SECONDS, "seed": seed, "routing": f"{protocol.lower()},preset={air.pop('preset')}{comma}{more}",
        "tcp": "newreno", "window_limit": 64, "trace": False, **air,
    }  # fmt: skip
    if movement:
        options["motion"] = {"model": "setdest", "file": str(movement)}
    moving = {"stations": STATIONS, "area": "x".join(map(str, AREA)), "vmax": VMAX}
    parameters = mobile.Parameters.model_validate({**moving, "flows": PAIRS if traffic == "cbr" else 1})
    light = {"datagram_bytes": DATAGRAM_BYTES, "interval_s": INTERVAL_S} if traffic == "cbr" else {}
    flows = tuple(
        Application(source=source, destination=to, kind="udp" if light else "bulk",
                    settings={**light, "start_s": FROM_S + number * INTERVAL_S / PAIRS})
        for number, (source, to) in enumerate(mobile.layout(parameters).flows)
    )  # fmt: skip
    network = mobile.layout(parameters).network().model_copy(update={"applications": flows})
    return specify(network, {**mobile.usual(parameters), **options})


def here(outcome: Outcome, traffic: str) -> Row:
    run = outcome.run
    if traffic == "tcp":
        return {"segments": run.goodput_segments}
    assert run.routing and run.routing.bytes is not None
    found = [flow.datagrams for flow in run.flows if flow.datagrams]
    hops = round(sum(each.arrived * (each.hops_mean or 0) for each in found))
    sent, arrived = (sum(getattr(each, name) for each in found) for name in ("sent", "arrived"))
    return Light(sent, arrived, hops, run.routing.frames, run.routing.bytes).row()


def movement(folder: Path, seed: int) -> Path:
    file = folder / f"{seed}.setdest"
    moving = ("--stations", STATIONS, "--area", "x".join(map(str, AREA)), "--vmax", VMAX)
    until = ("--seconds", SECONDS, "--seed", seed, "--out", file)
    output(HERE.parent / "dcflab", "motion", "mobile", *moving, *until)
    return file


def measure(seeds: int) -> dict[str, list[Row]]:
    """Return a row for each seed, by routing and program."""
    keys = [(beside, routing, traffic, seed) for beside, routings in ROUTINGS.items() for routing in routings
            for traffic in TRAFFIC for seed in range(1, seeds + 1)]  # fmt: skip
    with scratch("bench") as name, pool() as threads:
        folder = Path(name)
        ns3 = build_peer(folder, "manet", "aodv", "dsr", "olsr")
        movements = {seed: movement(folder, seed) for seed in range(1, seeds + 1)}

        def there(beside: str, routing: str, traffic: str, seed: int) -> Row:
            key = movements[seed], routing, traffic, seed
            return in_ns2(*key) if beside == "ns-2" else in_ns3(ns3, *key)

        theirs = list(threads.map(there, *zip(*keys, strict=True)))
        tasks = [Task(specification(*key), variant="-".join(key[:3])) for key in keys]
        outcomes = play_with_progress(provide(), tasks, folder / "runs")
    found: dict[str, dict[int, Row]] = {}
    for (beside, routing, traffic, seed), row, outcome in zip(keys, theirs, outcomes, strict=True):
        ours = f"{routing}, dcflab {BESIDE[beside]['preset']}"
        for name, one in ((f"{routing}, {beside}", row), (ours, here(outcome, traffic))):
            found.setdefault(name, {}).setdefault(seed, {"seed": seed}).update(one)
    return {name: list(rows.values()) for name, rows in found.items()}


def cells(rows: list[Row]) -> list[str]:
    """Return means over the seeds with 95 % confidence intervals."""
    of = (statistics.mean([row[column] for row in rows]) for column in COLUMNS)
    return [near(each, digits) for each, digits in zip(of, (1, 2, 2, 0, 0), strict=True)]


def show(found: Mapping[str, list[Row]], seeds: int) -> None:
    title = f"{STATIONS} stations that move, {SECONDS} s, means over {seeds} movements ± 95 %"
    shown = table(title, "", *COLUMNS.values())
    for name, rows in found.items():
        shown.add_row(name, *cells(rows), end_section="dcflab" in name)
    show_table(shown)
