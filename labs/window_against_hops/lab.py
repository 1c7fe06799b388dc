# SPDX-License-Identifier: BSD-3-Clause
"""Window against hops: a path holds about a third of a segment for each hop; more segments only wait and collide."""

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
    """Return the goodput with the best window."""
    return max(goodput(runs, window) for window in WINDOWS)


def srtt_ms(runs: Runs, window: int) -> float:
    """Return the mean of TCP's smoothed round-trip time, ms."""
    tcp = runs[of_window(window)].result.flows[0].tcp
    return float(tcp.srtt_ms or 0) if tcp else 0.0


def hops(runs: Runs) -> int:
    return len(runs[of_window(1)].result.stations) - 1


def three_hops_away(run: Recorded) -> Array:
    """Return which segments collided with a station three hops from their sender."""
    found: Array = sent(run, Kind.TCP_DATA) & collided(run) & (abs(run.air.culprit - run.air.station) == 3)
    return found


LAB = Lab(
    title="Window against hops",
    teaches="how many segments a string of stations can hold, and what happens to the others",
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
            asks="Run one hop first, with a window of one segment. From that, what is the goodput of one segment"
            " over all your hops? Work it out before you run it.",
            unit="kb/s",
            within=0.03,
            of=lambda runs: goodput(runs, 1),
            slips={
                "each hop carries the segment again, and its ACK back": lambda runs: kbps("one hop", runs),
                "count hops, not stations": lambda runs: kbps("one hop", runs) / (hops(runs) + 3),
            },
            look="only one segment is in flight: how long does it take over one hop, there and back, and over all"
            " hops?",
        ),
        Choice(
            name="enough",
            asks="Over all your hops, which of these windows get at least 97 % of the best goodput?",
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
            asks="If all 8 segments of a window of 8 (1460 bytes each) are always in flight, which goodput follows"
            " from the SRTT that you see? Compare it with the measured one.",
            unit="kb/s",
            within=0.05,
            of=lambda runs: LITTLE * SEGMENT_BITS / srtt_ms(runs, LITTLE),
            slips={
                "a byte has eight bits, and eight segments are in flight": lambda runs: (
                    LITTLE * SEGMENT_BITS / srtt_ms(runs, LITTLE) / 8
                )
            },
            look="Little's law: segments in flight are segments each second times the round trip",
        ),
        Frame(
            name="frame",
            asks="In the run with a window of 32, find a TCP segment that collided with a frame of a station three"
            " hops from its sender.",
            points=2,
            run=of_window(LARGEST),
            which=three_hops_away,
            look="on the timeline, search for `collision and data`: which lane does the line come from, and how far"
            " is it from the sender's lane?",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs?",
            points=2,
            options={
                "A window of 32 gets at least a tenth more goodput than one of 4.": lambda r: (
                    goodput(r, LARGEST) > 1.1 * goodput(r, 4)
                ),
                "With 32, at least one and a half times as many segments collide as with 3.": lambda r: (
                    r["window 32"].result.col.data > 1.5 * r["window 3"].result.col.data
                ),
                "The best window gets more than one hop's goodput divided by the hops: several hops work at once.": (
                    lambda r: best(r) > 1.1 * kbps("one hop", r) / hops(r)
                ),
                "With 32 the queues overflow.": lambda r: r["window 32"].result.queue_drops > 0,
            },
            look="the table has goodput, collisions of DATA and queue drops for each window; you already have one"
            " hop's goodput",
        ),
        Essay(
            name="why",
            asks="In your own words: which stations of a string may send at once, and so how many segments does it"
            " hold? Where are the others, and why does TCP not notice?",
        ),
    ],
)
