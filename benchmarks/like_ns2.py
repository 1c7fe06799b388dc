# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench like-ns2`: goodput of strings under `--like ns2` and in ns-2, with the same traffic.

The traffic is a saturated source of datagrams, or TCP: NewReno, a window limit of 64 segments, and an ACK for each
segment. Frames have the same length in both. TCP is Linux's in one and ns-2's agent in the other. So the datagrams
compare the MACs, and TCP also the agents.
"""

import itertools
import tempfile
from pathlib import Path

from analysis.tables import statistics
from analysis.tables.table import percent
from benchmarks import pool, show_table, table
from benchmarks.compare import output
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import specify

PEER = Path(__file__).parent / "peers/string.tcl"
STATIONS, SECONDS = (4, 5, 6, 7, 8, 9, 10, 11, 12), 120
CASES = (("cbr", "full"), ("cbr", "none"), ("tcp", "full"), ("tcp", "partial"), ("tcp", "none"))
AIRS: dict[str, dict[str, str]] = {"dcflab --like ns2": {"like": "ns2"}, "dcflab": {}}
HEADERS = 24  # of TCP and IP in ns-2's agents, so that frames are as long as Linux's

Key = tuple[str, str, int]
Found = dict[str, dict[Key, list[float]]]  # delivered packets by program, a value for each seed


def in_ns2(traffic: str, rts: str, stations: int, seed: int) -> float:
    with tempfile.NamedTemporaryFile(prefix="dcflab-bench-") as trace:
        words = [stations, rts, "cbr" if traffic == "cbr" else "plain", SECONDS, seed, trace.name, HEADERS]
        output("ns", PEER, *words)
        arrived, last = set(), f"_{stations - 1}_"
        for line in Path(trace.name).read_text().splitlines():
            field = line.split()
            if field[0] == "r" and field[2:4] == [last, "AGT"] and field[6] in ("tcp", "cbr"):
                arrived.add(line.rsplit("[", 1)[1].split()[0])  # the sequence number
    return float(len(arrived))


def measure(seeds: int) -> Found:
    keys: list[Key] = [(*case, stations) for case, stations in itertools.product(CASES, STATIONS)]
    every = [(*key, seed) for key in keys for seed in range(1, seeds + 1)]
    with pool() as threads:
        counts = list(threads.map(in_ns2, *zip(*every, strict=True)))
    found: Found = {"ns-2": {key: counts[at * seeds : (at + 1) * seeds] for at, key in enumerate(keys)}}
    for name, air in AIRS.items():
        tasks = [
            Task(specify("string", {"stations": stations, "seconds": SECONDS, "rts": rts, "seed": seed, "trace": False,
                                    **({"traffic": "udp"} if traffic == "cbr" else {"window_limit": 64}), **air}),
                 variant=rts, case=f"{traffic}{stations}")
            for traffic, rts, stations, seed in every
        ]  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="dcflab-bench-") as folder:
            outcomes = play_with_progress(provide(), tasks, Path(folder))
        for (traffic, rts, stations, _), outcome in zip(every, outcomes, strict=True):
            one = outcome.run.flows[0]
            size = 1448 if traffic == "cbr" else 1460
            found.setdefault(name, {}).setdefault((traffic, rts, stations), []).append(one.delivered_bytes / size)
    return found


def data(found: Found) -> dict[str, dict[str, list[float]]]:
    return {name: {" ".join(map(str, key)): values for key, values in by.items()} for name, by in found.items()}


def show(found: Found, repeats: int) -> None:
    title = f"Packets that arrive in {SECONDS} s, mean of {repeats} seeds, and against ns-2, ± 95 % confidence"
    rows = table(title, "traffic", "RTS/CTS", "stations", "ns-2", *AIRS)
    for key, there in found["ns-2"].items():
        changes = [percent(statistics.relative_change(found[name][key], there)) for name in AIRS]
        rows.add_row(key[0], key[1], str(key[2]), f"{sum(there) / len(there):.0f}", *changes)
    show_table(rows)
