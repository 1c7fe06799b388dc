# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench mobile`: the cost of motion and routing, beside ns-2 with the same movement file.

50 stations in a strip, DSR, one flow, 900 s. An unlimited flow, of which ns-2 delivers a third as much unless its ARP,
which loses packets, is taken out (docs/routing-studies.md); and one with the same number of segments, which is the same
work. Then a string under static routes, in the kernel's table and in routing interfaces. Then 25 to 200 stations at the
same density, which shows whether work grows with neighbours or with all stations.
"""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.compare import HERE, Comparison, build_without, dcflab, output, preload, take_turns
from benchmarks.compare import show as show
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide

STATIONS, AREA, VMAX, LONG_S, STRING_S, GROWING_S = 50, (1500, 300), 10, 900, 300, 60
SEGMENTS, MSS = 15_000, 1460  # what ns-2's flow delivers in LONG_S
SIZES = (25, 50, 100, 200)


def comparisons(folder: Path) -> list[Comparison]:
    """Return all comparisons. `folder` is for the movement file."""
    movement = folder / "mobile.setdest"
    moving = ("mobile", "--stations", STATIONS, "--area", "x".join(map(str, AREA)), "--vmax", VMAX)
    output(HERE.parent / "dcflab", "motion", *moving, "--seconds", LONG_S, "--out", movement)
    quick = ("--no-trace", "--window-limit", 64)
    run = (*moving, "--seconds", LONG_S, "--routing", "dsr,preset=cmu", *quick)
    string = ("string", "--rts", "full", "--seconds", STRING_S, *quick)
    ns2 = ("ns", HERE / "peers/mobile.tcl", movement, STATIONS, *AREA, "DSR", LONG_S, 1)
    growing = ("--vmax", VMAX, "--routing", "aodv", "--seconds", GROWING_S, *quick)
    strips = {count: f"{AREA[0] * count // STATIONS}x{AREA[1]}" for count in SIZES}
    known = preload(build_without(folder), "arp")
    return [
        Comparison(f"{STATIONS} stations that move, DSR, one flow, {LONG_S} s", LONG_S, {
            "dcflab, no trace": partial(dcflab, *run),
            "dcflab": partial(dcflab, *run[:-3], *quick[-2:]),
            "ns-2, no trace": partial(output, *ns2),
            "the same, MAC addresses known": partial(output, *known, *ns2),
        }),
        Comparison(f"The same, {SEGMENTS} segments", LONG_S, {
            "dcflab, no trace": partial(dcflab, *run, "--bytes", SEGMENTS * MSS),
            "ns-2, no trace": partial(output, *ns2, SEGMENTS),
        }),
        Comparison(f"A string of five, static routes, {STRING_S} s, no trace", STRING_S, {
            "kernel's routes": partial(dcflab, *string),
            "routing interfaces": partial(dcflab, *string, "--routing", "manet_static"),
        }),
        Comparison(f"Growing networks of equal density, AODV, {GROWING_S} s, no trace", GROWING_S, {
            str(count): partial(dcflab, "mobile", "--stations", count, "--area", area, *growing)
            for count, area in strips.items()
        }),
    ]  # fmt: skip


def measure(repeats: int) -> dict[str, Any]:
    provide()
    with scratch("bench") as name:
        return {"repeats": repeats, "comparisons": take_turns(comparisons(Path(name)), repeats)}
