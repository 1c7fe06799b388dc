# SPDX-License-Identifier: BSD-3-Clause
"""When is RTS/CTS worth it? It costs the same time before every frame; the longer the frame, the more a collision
costs."""

import math
from itertools import pairwise

from analysis.traces.trace import Kind
from labs import Choice, Essay, Lab, Number, Runs
from labs.quantities import SIFS_US, airtime_us, kbps

SIZES = (100, 200, 400, 700, 1000, 1400)


def load(size: int) -> float:
    """Return what each of the two senders offers, kb/s: more than gets through; for small datagrams not much more."""
    return 1500.0 if size <= 200 else 5000.0


LOOKED_AT = ("none 100", "none 1400", "full 100")  # frame by frame
HIDDEN = {
    f"{rts} {size}": {"rts": rts, "size": size, "load_kbps": load(size), "trace": f"{rts} {size}" in LOOKED_AT}
    for size in SIZES
    for rts in ("none", "full")
}
NEAR = {
    f"near {rts} {size}": {"rts": rts, "size": size, "load_kbps": load(size), "apart": 280, "trace": False}
    for size in (100, 1400)
    for rts in ("none", "full")
}


def gain(runs: Runs, size: int, near: bool = False) -> float:
    """Return the goodput with RTS/CTS relative to that without."""
    where = "near " if near else ""
    return kbps(f"{where}full {size}", runs) / kbps(f"{where}none {size}", runs)


def worth_bytes(runs: Runs) -> float:
    """Return the size from which on RTS/CTS gains among hidden stations, interpolated linearly; nan: none."""
    for before, size in pairwise(SIZES):
        low, high = gain(runs, before), gain(runs, size)
        if low < 1 <= high:
            return before + (size - before) * (1 - low) / (high - low)
    return math.nan


def overhead_us(runs: Runs) -> float:
    """Return the time that RTS/CTS adds before a frame, us."""
    run = runs["full 100"]
    return airtime_us(run, Kind.RTS) + airtime_us(run, Kind.CTS) + 2 * SIFS_US


def worth_us(runs: Runs) -> float:
    """Return how long a frame of that size is on the air, us, interpolated linearly."""
    size = worth_bytes(runs)
    short, long = (airtime_us(runs[f"none {each}"], Kind.UDP) for each in (SIZES[0], SIZES[-1]))
    return short + (long - short) * (size - SIZES[0]) / (SIZES[-1] - SIZES[0])


def cost_percent(runs: Runs) -> float:
    """Return the cost for the longest datagrams without hidden stations, percent."""
    return 100 * (1 - gain(runs, SIZES[-1], near=True))


LAB = Lab(
    title="RTS/CTS: when is it worth it?",
    teaches="what RTS/CTS costs, what it saves, and what both depend on",
    minutes=60,
    topology="../hidden_terminal/network.py",
    options={"seconds": 3, "tcp_trace": False, "views": "no"},
    runs={**HIDDEN, **NEAR},
    drawn={"rate": (2, 5.5, 11)},
    questions=[
        Number(
            name="overhead",
            asks="Before you run anything: how much longer does a datagram take with an RTS and a CTS before it?",
            unit="µs",
            within=0.01,
            of=overhead_us,
            slips={
                "there is a SIFS after the RTS and after the CTS": lambda runs: overhead_us(runs) - 2 * SIFS_US,
                "RTS and CTS are sent at 1 Mb/s, whatever the rate of the data": lambda runs: (
                    2 * 192 + (20 + 14) * 8 / 2 + 2 * SIFS_US
                ),
                "each of the two has a PLCP preamble and header of its own": lambda runs: overhead_us(runs) - 2 * 192,
            },
            look="two frames at 1 Mb/s, each with a preamble, and the gaps between them and the datagram",
        ),
        Number(
            name="near_cost",
            asks="Without hidden stations (280 m apart), by how many per cent does RTS/CTS lower the goodput, with"
            " datagrams of 1400 bytes, at your rate?",
            unit="%",
            within=0.05,
            of=cost_percent,
            slips={
                "give it in per cent of the goodput without RTS/CTS": lambda runs: (
                    100 * (1 / gain(runs, SIZES[-1], near=True) - 1)
                ),
                "the answer is in per cent": lambda runs: cost_percent(runs) / 100,
            },
            look="the two goodputs of --apart 280 --size 1400: by how many per cent is one lower?",
        ),
        Number(
            name="worth_bytes",
            asks="With hidden stations (400 m apart), from which datagram size on does it pay, at your rate?",
            unit="bytes",
            within=0.15,
            points=2,
            of=worth_bytes,
            look="run sizes from 100 to 1400 with and without, 400 m apart: between which two does the better one"
            " change? Interpolate linearly between them",
        ),
        Number(
            name="worth_us",
            asks="How long is the frame of such a datagram on the air, at your rate?",
            unit="µs",
            within=0.12,
            points=2,
            of=worth_us,
            slips={"add the PLCP preamble and header of 192 µs": lambda runs: worth_us(runs) - 192},
            look="192 µs, and the datagram with 66 bytes of headers and FCS at your rate",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs?",
            points=2,
            options={
                "400 m apart, goodput at 1400 bytes is higher with RTS/CTS.": lambda r: gain(r, 1400) > 1,
                "400 m apart, goodput at 100 bytes is higher with RTS/CTS.": lambda r: gain(r, 100) > 1,
                "280 m apart, goodput at 1400 bytes is higher with RTS/CTS.": lambda r: gain(r, 1400, near=True) > 1,
                "280 m apart, RTS/CTS costs a larger share at 100 bytes than at 1400.": lambda r: (
                    gain(r, 100, near=True) < gain(r, 1400, near=True)
                ),
                "400 m apart, the longer the datagrams, the more RTS/CTS gains.": lambda r: all(
                    gain(r, before) < gain(r, size) for before, size in pairwise(SIZES)
                ),
            },
            look="make a table of the ratios: six sizes at 400 m and two at 280 m, each with and without",
        ),
        Choice(
            name="rule",
            asks="Ask two neighbours with other rates for their `worth_bytes` and `worth_us`. The RTS threshold of"
            " an access point is in bytes. Which of these follow?",
            options={
                "At a higher rate the threshold should be higher, because time on the air counts.": lambda r: (
                    800 < worth_us(r) < 1500
                ),
                "The threshold should be the same at all rates.": lambda r: (
                    abs(worth_bytes(r) / worth_us(r) - 1) < 0.02
                ),
                "Without hidden stations it should be too large for any RTS.": lambda r: all(
                    gain(r, size, near=True) < 1 for size in (100, 1400)
                ),
            },
            look="compare the three rates in bytes, then in µs: which of the two hardly changes?",
        ),
        Essay(
            name="why",
            asks="In your own words: what does RTS/CTS cost, what does it save, and what does each depend on?"
            " Today's data rates are a hundred times higher, but RTSs are not: what does that mean for hidden"
            " stations?",
        ),
    ],
)
