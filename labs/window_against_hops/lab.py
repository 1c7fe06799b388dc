# SPDX-License-Identifier: BSD-3-Clause
"""Window against hops: a path holds a few segments, a third of its hops or so; more of them only wait and collide."""

from __future__ import annotations

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind
from experiments import cwl
from labs import Choice, Essay, Frame, Lab, Number, Runs
from labs.quantities import collided, kbps, sent

WINDOWS = (1, 2, 3, 4, 6, 8, 32)
SEGMENT_BITS = 8 * 1460
LARGEST, LITTLE = 32, 8


def of_window(window: int) -> str:
    return f"window {window}"


def goodput(runs: Runs, window: int) -> float:
    return kbps(of_window(window), runs)


def best(runs: Runs) -> float:
    """What the best of the windows brings."""
    return max(goodput(runs, window) for window in WINDOWS)


def srtt_ms(runs: Runs, window: int) -> float:
    """TCP's smoothed round trip, in the mean."""
    tcp = runs[of_window(window)].result.flows[0].tcp
    return float(tcp.srtt_ms or 0) if tcp else 0.0


def hops(runs: Runs) -> int:
    return len(runs[of_window(1)].result.stations) - 1


def three_hops_away(run: Recorded) -> Array:
    """Which segments were spoilt by a station three hops from their sender."""
    found: Array = sent(run, Kind.TCP_DATA) & collided(run) & (abs(run.air.culprit - run.air.station) == 3)
    return found


LAB = Lab(
    title="Window against hops",
    teaches="how many segments a string of stations can hold, and what becomes of those beyond",
    minutes=50,
    topology="string",
    options={"seconds": 40, "views": "no"},
    runs={
        "one hop": {"stations": 2, "trace": False, **cwl(1)},
        **{of_window(window): {"trace": window == LARGEST, **cwl(window)} for window in WINDOWS},
    },
    drawn={"stations": range(7, 12)},
    files=["windows.py"],
    questions=[
        Number(
            name="one_by_one",
            asks="Run one hop first, with a window of one segment. From that: what does a window of one segment"
            " bring over all your hops? Work it out before you run it.",
            unit="kb/s",
            within=0.03,
            of=lambda runs: goodput(runs, 1),
            slips={
                "each hop carries the segment anew, and its ACK back": lambda runs: kbps("one hop", runs),
                "count hops, not stations": lambda runs: kbps("one hop", runs) / (hops(runs) + 3),
            },
            look="only one segment is on its way at a time: how long does it take over one hop, there and back, and"
            " over all?",
        ),
        Choice(
            name="enough",
            asks="Over all your hops: which of these windows bring at least 97 % of what the best one brings?",
            points=2,
            options={
                f"{window} segment{'s' if window > 1 else ''}": lambda runs, window=window: (  # type: ignore[misc]
                    goodput(runs, window) >= 0.97 * best(runs)
                )
                for window in WINDOWS
            },
            look="the row `goodput, kb/s` of the run with all windows; take 97 % of its largest number",
        ),
        Number(
            name="queueing",
            asks="How many times as long is TCP's round trip (SRTT) with a window of 32 as with one of 3?",
            unit="",
            within=0.05,
            of=lambda runs: srtt_ms(runs, LARGEST) / srtt_ms(runs, 3),
            look="the last column of the table of flows, SRTT, of these two windows",
        ),
        Number(
            name="little",
            asks="With a window of 8 segments of 1460 bytes, of which all are always on their way: which goodput"
            " follows from the SRTT that you see? Compare it with the one that you measured.",
            unit="kb/s",
            within=0.05,
            of=lambda runs: LITTLE * SEGMENT_BITS / srtt_ms(runs, LITTLE),
            slips={
                "a byte has eight bits, and eight segments are on their way": lambda runs: (
                    LITTLE * SEGMENT_BITS / srtt_ms(runs, LITTLE) / 8
                ),
            },
            look="Little's law: what is on its way is what passes each second times how long it takes",
        ),
        Frame(
            name="frame",
            asks="In the run with a window of 32, find a TCP segment that was spoilt by a station three hops from"
            " its sender.",
            points=2,
            run=of_window(LARGEST),
            which=three_hops_away,
            look="on the timeline, search for `collision and data`: from which lane comes the line that leads to it,"
            " and how many lanes are between it and the sender's?",
        ),
        Choice(
            name="holds",
            asks="Which of these hold of your runs?",
            points=2,
            options={
                "A window of 32 brings at least a tenth more than one of 4.": lambda r: (
                    goodput(r, LARGEST) > 1.1 * goodput(r, 4)
                ),
                "With 32, at least half as many segments more collide as with 3.": lambda r: (
                    r["window 32"].result.col.data > 1.5 * r["window 3"].result.col.data
                ),
                "The best window brings more than one hop's goodput divided by the hops: several hops work at once.": (
                    lambda r: best(r) > 1.1 * kbps("one hop", r) / hops(r)
                ),
                "With 32 the queues overflow.": lambda r: r["window 32"].result.queue_drops > 0,
            },
            look="the table has goodput, collisions of DATA and queue drops of each window; one hop's goodput you have",
        ),
        Essay(
            name="why",
            asks="In your words: which stations of a string may send at the same time, and so how many segments does"
            " it hold? Where are the others, and why does TCP not notice?",
            look="",
        ),
    ],
)
