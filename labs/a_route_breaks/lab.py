# SPDX-License-Identifier: BSD-3-Clause
"""A route breaks: which station notices, after how long, and what finding another route costs."""

from collections.abc import Sequence

import numpy as np

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind, Outcome
from labs import Choice, Essay, Frame, Lab, Number, Runs, Tap
from labs.quantities import sent

STA4, STA5 = 3, 4


def silence_s(run: Recorded) -> float:
    """Return the longest time between two datagrams that first arrived at sta5, s."""
    air = run.air
    good = sent(run, Kind.UDP) & (air.receiver == STA5) & (air.outcome == Outcome.OK)
    return float(np.diff(np.unique(air.end_ns[good] - run.lane["started_ns"]) / 1e9).max())


def silence_of(name: str, runs: Runs) -> float:
    return silence_s(runs[name])


def silences(run: Recorded) -> Sequence[str]:
    """Return what the tap must print: the silence in whole milliseconds."""
    return [f"{1000 * silence_s(run):.0f}"]


def last_by_sta4_s(run: Recorded) -> float:
    """Return when the last datagram arrived directly from sta4."""
    air = run.air
    good = sent(run, Kind.UDP, STA4) & (air.receiver == STA5) & (air.outcome == Outcome.OK)
    return float(air.end_ns[good][-1] - run.lane["started_ns"]) / 1e9


def in_vain(run: Recorded) -> Array:
    """Return which datagrams sta4 sent to sta5 when that was out of range."""
    air = run.air
    found: Array = sent(run, Kind.UDP, STA4) & (air.receiver == STA5) & (air.outcome == Outcome.BELOW_THRESHOLD)
    return found


def noticed_s(run: Recorded) -> float:
    """Return the time from the first datagram sent in vain to the next control packet."""
    air = run.air
    first = air.start_ns[in_vain(run)][0]
    control = air.start_ns[sent(run, Kind.ROUTING)]
    return float(control[control > first][0] - first) / 1e9


def control(run: Recorded) -> int:
    return int(sent(run, Kind.ROUTING).sum())


def lost(name: str, runs: Runs) -> float:
    datagrams = runs[name].result.flows[0].datagrams
    return float(datagrams.lost_percent or 0) if datagrams else 0.0


LAB = Lab(
    title="A route breaks",
    teaches="how the MAC, missing HELLOs or tables notice a broken link, and how long each takes",
    minutes=50,
    topology="route-break",
    options={"seconds": 45, "rts": "none", "traffic": "udp,rate_kbps=80,datagram_bytes=500", "views": "no"},
    runs={"feedback": {"routing": "aodv"}, "HELLO": {"routing": "aodv,feedback=0"}, "OLSR": {"routing": "olsr"}},
    drawn={"leaves": range(14, 23)},
    files=["silence.py"],
    questions=[
        Number(
            name="breaks",
            asks="Before you run anything: at which second does the link from sta4 to sta5 break?",
            unit="s",
            within=0.01,
            of=lambda runs: last_by_sta4_s(runs["feedback"]),
            slips={
                "when sta5 leaves, it is still in range": lambda runs: last_by_sta4_s(runs["feedback"]) - 5,
                "use its distance from sta4, which is 200 m at first": lambda runs: (
                    last_by_sta4_s(runs["feedback"]) + 20
                ),
            },
            look="sta5 starts to walk at --leaves, at 10 m/s, from 200 m; radios reach 250 m",
        ),
        Tap(
            name="silence",
            asks="Make silence.py print the longest time between two datagrams that arrive at sta5, in whole"
            " milliseconds.",
            file="silence.py",
            run="HELLO",
            says=silences,
            points=2,
            look="take all frames that brought a datagram to sta5 (address 1 ends in 05); from their start and"
            " length find when each arrived; print the largest gap between two, times 1000",
        ),
        Number(
            name="feedback_ms",
            asks="AODV, with reports of the MAC about unacknowledged frames: how long is the longest silence at sta5?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("feedback", runs),
            slips={"the answer is in milliseconds": lambda runs: silence_of("feedback", runs)},
            look="your silence.py, or the timeline: the last datagram over sta4, and the first over sta6",
        ),
        Number(
            name="hello_ms",
            asks="AODV that waits for missing HELLOs instead (feedback=0): how long is the longest silence?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("HELLO", runs),
            slips={"the answer is in milliseconds": lambda runs: silence_of("HELLO", runs)},
            look="your silence.py, with the run of feedback=0",
        ),
        Number(
            name="olsr_ms",
            asks="And with OLSR, which uses HELLOs and TCs?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("OLSR", runs),
            slips={"the answer is in milliseconds": lambda runs: silence_of("OLSR", runs)},
            look="your silence.py, with the run of OLSR",
        ),
        Frame(
            name="frame",
            asks="In the run with feedback, find a datagram that sta4 sent to sta5 when sta5 was already out of range.",
            run="feedback",
            which=in_vain,
            look="on the timeline, just after the break: repeated attempts of sta4 without an answer",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs?",
            points=2,
            options={
                "With feedback, the first control packet follows the first lost datagram in less than 0.1 s.": (
                    lambda r: noticed_s(r["feedback"]) < 0.1
                ),
                "With HELLOs, the silence is longer than three HELLO intervals of 1 s.": lambda r: (
                    silence_of("HELLO", r) > 3
                ),
                "OLSR, which knows all routes in advance, is the fastest to find the new one.": lambda r: (
                    silence_of("OLSR", r) < min(silence_of(name, r) for name in ("feedback", "HELLO"))
                ),
                "OLSR sends more control packets in all than AODV with feedback.": lambda r: (
                    control(r["OLSR"]) > control(r["feedback"])
                ),
                "With feedback and repair, fewer than one datagram in a hundred is lost.": lambda r: (
                    lost("feedback", r) < 1
                ),
            },
            look="the table of routes, your silence.py, and the timeline around the break; control packets have a"
            " row in the table",
        ),
        Essay(
            name="why",
            asks="In your own words: how does each of the three notice that the link is broken? Why is it not"
            " enough to send HELLOs ten times as often?",
        ),
    ],
)
