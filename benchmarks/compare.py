# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench speed`: whole runs of dcflab, ns-2 and ns-3 side by side, and the core alone.

It measures whole processes: wall time, and CPU time with children. First the papers' study: a string of five under
three RTS/CTS strategies, 120 s each. Then 900 s of one strategy, and meshes, which have no peer here. All write a trace
unless stated otherwise. The programs take turns, so a slow moment of the machine affects all. Results are medians and
their ratios; nothing here is a test."""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import show_table, table, words
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide

HERE = Path(__file__).parent
STRATEGIES = ("full", "partial", "none")
STATIONS, SECONDS, LONG_S, MESH_S = 5, 120, 900, 60
NS3 = ("wifi", "applications", "internet", "traffic-control", "propagation", "mobility", "network", "core")
AIR = HERE.parent / "emulation/dcf80211"


class Took(NamedTuple):
    """Times in seconds."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Comparison:
    """Programs with the same task of `air_s` of air time, by name; the first is the reference."""

    title: str
    air_s: float
    programs: Mapping[str, Callable[[], object]]


def timed(run: Callable[[], object]) -> Took:
    """Return the time of a function that waits for other processes."""

    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    wall, before = time.monotonic(), cpu()
    run()
    return Took(time.monotonic() - wall, cpu() - before)


def output(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def dcflab(*arguments: object) -> None:
    """Run dcflab as a user does, and remove the run folder."""
    with scratch("bench") as out:
        output(HERE.parent / "dcflab", "run", *arguments, "--out", out)


def ns2(trace: Path, strategies: Iterable[str], seconds: float, count: bool = False) -> None:
    for rts in strategies:
        output("ns", HERE / "peers/string.tcl", STATIONS, rts, "plain", seconds, 1, trace)
        if count:
            output(sys.executable, HERE / "peers/count.py", trace, STATIONS, seconds)


def ns3(program: Path) -> None:
    for rts in STRATEGIES:
        output(program, *words(stations=STATIONS, rts=rts, ack="plain", seconds=SECONDS, seed=1))


def comparisons(folder: Path) -> list[Comparison]:
    """Return all comparisons. `folder` is for built programs and their output."""
    peer, trace = build_peer(folder), folder / "ns2.tr"
    long = ("string", "--stations", STATIONS, "--rts", "full", "--seconds", LONG_S)
    study = {
        "dcflab": partial(dcflab, "rts-cts", "--seconds", SECONDS),
        "dcflab, --figures": partial(dcflab, "rts-cts", "--seconds", SECONDS, "--figures"),
        "ns-2": partial(ns2, trace, STRATEGIES, SECONDS),
        "ns-2, trace counted": partial(ns2, trace, STRATEGIES, SECONDS, count=True),
        "ns-3, no trace": partial(ns3, peer),
    }
    one = {
        "dcflab": partial(dcflab, *long),
        "dcflab, --figures": partial(dcflab, *long, "--figures"),
        "dcflab, no trace": partial(dcflab, *long, "--no-trace"),
        "ns-2": partial(ns2, trace, ["full"], LONG_S),
        "ns-2, trace counted": partial(ns2, trace, ["full"], LONG_S, count=True),
    }
    meshes = [
        Comparison(f"Mesh of {size * size}, {MESH_S} s", MESH_S, {
            "dcflab": partial(dcflab, "mesh", "--size", f"{size}x{size}", "--flows", size, "--seconds", MESH_S),
        })
        for size in (5, 10)
    ]  # fmt: skip
    return [
        Comparison(f"The study: a string of {STATIONS}, three strategies of {SECONDS} s each", 3 * SECONDS, study),
        Comparison(f"A string of {STATIONS}, {LONG_S} s", LONG_S, one),
        *meshes,
    ]


def build_peer(folder: Path, name: str = "string", *more: str) -> Path:
    """Build a peer in ns-3, by default the same string. `more` are further libraries of ns-3."""
    peer = folder / f"{name}-ns3"
    output("g++", "-O2", "-o", peer, HERE / f"peers/{name}.cc", *(f"-lns3-{name}" for name in (*more, *NS3)))
    return peer


def build_without(folder: Path) -> Path:
    """Build the library that ns-2 is preloaded with."""
    library = folder / "ns2_without.so"
    output("gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, HERE / "peers/ns2_without.c")
    return library


def preload(library: Path, without: str) -> tuple[str, ...]:
    """Return the prefix of an ns-2 command that preloads the library."""
    return ("env", f"LD_PRELOAD={library}", f"NS2_WITHOUT={without}") if without else ()


def build_core(folder: Path, name: str = "core") -> Path:
    """Build a program of the core alone: a saturated string, or that of `name`."""
    core = folder / name
    sources = (HERE / f"{name}.c", *AIR.glob("core/*.c"), *AIR.glob("wire/*.c"))
    output("gcc", "-O2", f"-I{AIR}/core", "-o", core, *sources, "-lm")
    return core


def events_per_s(core: Path, stations: int, air_s: int) -> float:
    return float(json.loads(output(core, stations, air_s))["events_per_s"])


def measure(repeats: int) -> dict[str, Any]:
    provide()
    with scratch("bench") as name:
        folder = Path(name)
        core = build_core(folder)
        found = take_turns(comparisons(folder), repeats)
        events = {n: events_per_s(core, n, 60) for n in (5, 25, 100)}
    return {"repeats": repeats, "comparisons": found, "core_events_per_s": events}


def take_turns(comparisons: Sequence[Comparison], repeats: int) -> list[dict[str, Any]]:
    """Time all programs `repeats` times, and return their `summary`."""
    took: dict[tuple[str, str], list[Took]] = {}
    for _ in range(repeats):
        for comparison in comparisons:
            for program, run in comparison.programs.items():
                took.setdefault((comparison.title, program), []).append(timed(run))
    return [
        {"title": each.title, "air_s": each.air_s,
         "programs": {name: summary([took[each.title, first] for first in (next(iter(each.programs)), name)],
                                    each.air_s) for name in each.programs}}
        for each in comparisons
    ]  # fmt: skip


def summary(took: list[list[Took]], air_s: float) -> dict[str, float]:
    """Return the medians of a program, and their ratios to the reference."""
    ours, theirs = (statistics.median(each.wall for each in times) for times in took)
    cpu = statistics.median(each.cpu for each in took[1])
    return {"wall_s": theirs, "cpu_s": cpu, "times_real_time": air_s / theirs, "times_dcflab": theirs / ours}


def show(found: Mapping[str, Any], repeats: int) -> None:
    for comparison in found["comparisons"]:
        title = f"{comparison['title']}; median of {repeats}"
        first = next(iter(comparison["programs"]))
        rows = table(title, "", "wall s", "CPU s", "times real time", f"times {first}")
        for name, of in comparison["programs"].items():
            rows.add_row(name, f"{of['wall_s']:.2f}", f"{of['cpu_s']:.2f}", f"{of['times_real_time']:.0f}",
                         f"{of['times_dcflab']:.2f}")  # fmt: skip
        show_table(rows)
    for stations, rate in found.get("core_events_per_s", {}).items():
        print(f"the core alone, string of {stations}: {rate / 1e6:.1f} million events per second")
