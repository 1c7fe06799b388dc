# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench aggregates`: saturated 802.11n, ac and ax, in the core alone and in ns-3.

1, 5 and 20 stations send to a sink at three MCS of each format, without losses. Then one station sends, and the sink
loses some of its MPDUs. The result is acknowledged MPDUs per second. The core runs with ns-3's durations
(aggregates.c), and with the standard's."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.tables import statistics
from benchmarks import against, near, pool, show_table, table, words
from benchmarks.compare import build_core, build_peer, output
from emulation.lanes.virtual.scratch import scratch

PEER, LIKE_IT, OURS = "ns-3", "dcflab, ns-3's durations", "dcflab"


class Scenario(NamedTuple):
    """The arguments of both programs."""

    format: str
    mcs: int
    width: int
    stations: int = 1
    seconds: float = 4
    streams: int = 1
    window: int = 64
    loss: float = 0

    def __str__(self) -> str:
        loss = f", window {self.window}, {100 * self.loss:.0f} % lost" if self.loss else ""
        return f"{self.format.upper()}{self.width} MCS {self.mcs}, {self.stations}{loss}"


# Format, MCS, width, and about how many ms a PPDU lasts.
MODES: list[tuple[str, int, int, float]] = [
    *(("ht", mcs, 20, 5.4) for mcs in (0, 3, 7)), ("vht", 0, 80, 5.4), ("vht", 4, 80, 3.5), ("vht", 9, 80, 2.1),
    ("he", 0, 80, 5.4), ("he", 5, 80, 2.0), ("he", 11, 80, 1.3),
]  # fmt: skip
PPDUS = {1: 750, 5: 5500, 20: 7400}  # enough for about 0.5 % of noise, by stations
SCENARIOS = [
    Scenario(form, mcs, width, stations, round(ppdus * ms / 1000, 1))
    for stations, ppdus in PPDUS.items()
    for form, mcs, width, ms in MODES
] + [Scenario("he", 11, 80, streams=2, window=window, loss=loss) for window in (64, 256) for loss in (0.05, 0.2, 0.5)]


def played(program: Path, scenario: Scenario, seed: int, *more: str) -> float:
    """Return MPDUs per second."""
    return float(output(program, *words(**scenario._asdict(), seed=seed), *more))


def measure(seeds: int) -> dict[str, dict[str, list[float]]]:
    with scratch("bench") as name, pool() as threads:
        folder = Path(name)
        core = build_core(folder, "aggregates")
        programs: dict[str, tuple[Path, Sequence[str]]] = {
            PEER: (build_peer(folder, "aggregates"), ()),
            LIKE_IT: (core, ["--rules=ns3"]), OURS: (core, ()),
        }  # fmt: skip
        jobs = {
            (str(scenario), name, seed): threads.submit(played, program, scenario, seed, *more)
            for scenario in SCENARIOS for name, (program, more) in programs.items() for seed in range(1, seeds + 1)
        }  # fmt: skip
        found: dict[str, dict[str, list[float]]] = {str(scenario): {} for scenario in SCENARIOS}
        for (scenario, name, _), job in jobs.items():
            found[scenario].setdefault(name, []).append(job.result())
    return found


def show(found: dict[str, dict[str, list[float]]], _: int) -> None:
    rows = table("MPDUs acknowledged a second", "mode, stations", PEER, LIKE_IT, "", OURS, "")
    for scenario, of in found.items():
        theirs, *ours = (statistics.mean(of[name]) for name in (PEER, LIKE_IT, OURS))
        rows.add_row(scenario, near(theirs), *(cell for each in ours for cell in (near(each), against(each, theirs))))
    show_table(rows)
