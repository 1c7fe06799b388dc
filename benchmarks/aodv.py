# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench aodv`: why ns-2's AODV loses more datagrams, and sends more packets, than the preset `cmu`.

It runs the five movements and the light datagrams of `./dcflab bench manet`, each movement under several seeds, in both
simulators. ns-2 also runs without the supposed cause (peers/ns2_without.c), and dcflab with its own equivalent.
"""

from collections.abc import Mapping
from pathlib import Path

from analysis.tables import statistics
from benchmarks import manet, near, pool, show_table, table
from benchmarks.compare import build_without, preload
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide

MOVEMENTS = range(1, 6)
NS2 = {
    "ns-2": "",
    "ns-2, MAC addresses known": "arp",
    "ns-2, MAC addresses known, waits not measured": "arp,measuring",
}
HERE_TOO = {
    "dcflab": "",
    "dcflab, TTLs as in ns-2": ",ttl_start=30,local_add_ttl=30",
    "dcflab, no local repair": ",local_repair=0",
}  # fmt: skip
Found = dict[str, list[list[manet.Row]]]  # by program and movement, a row for each seed


def measure(papers: int) -> Found:
    keys = [(number, 100 * number + paper) for number in MOVEMENTS for paper in range(1, papers + 1)]
    with scratch("bench") as name, pool() as threads:
        folder = Path(name)
        library = build_without(folder)
        movements = {number: manet.movement(folder, number) for number in MOVEMENTS}

        def there(without: str, number: int, seed: int) -> manet.Row:
            return manet.in_ns2(movements[number], "AODV", "cbr", seed, *preload(library, without))

        played = {name: list(threads.map(there, [without] * len(keys), *zip(*keys, strict=True)))
                  for name, without in NS2.items()}  # fmt: skip
        tasks = [
            Task(manet.specification("ns-2", "AODV" + more, "cbr", seed, movements[number]), variant=f"{at}-{number}")
            for at, more in enumerate(HERE_TOO.values()) for number, seed in keys
        ]  # fmt: skip
        outcomes = play_with_progress(provide(), tasks, folder / "runs")
        rows = [manet.here(outcome, "cbr") for outcome in outcomes]
    for at, name in enumerate(HERE_TOO):
        played[name] = rows[at * len(keys) : (at + 1) * len(keys)]
    return {name: [rows[at : at + papers] for at in range(0, len(keys), papers)] for name, rows in played.items()}


def cells(movements: list[list[manet.Row]]) -> list[str]:
    """Return means over the movements with 95 % confidence intervals, and the losses of each movement."""
    columns = ("lost", "control")
    means = {column: [sum(row[column] for row in rows) / len(rows) for rows in movements] for column in columns}
    lost, control = (statistics.mean(means[column]) for column in columns)
    each = ", ".join(f"{value:.2f}" for value in means["lost"])
    return [near(lost, 2), each, near(control)]


def show(found: Mapping[str, list[list[manet.Row]]], papers: int) -> None:
    title = f"AODV, five movements, {papers} papers of random numbers for each: means over the movements ± 95 %"
    rows = table(title, "", "datagrams lost, %", "in each movement", "routing packets")
    for name, movements in found.items():
        rows.add_row(name, *cells(movements))
    show_table(rows, width=150)
