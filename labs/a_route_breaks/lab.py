# SPDX-License-Identifier: BSD-3-Clause
"""A route breaks: who notices, after how long, and what it costs to ask for another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind, Outcome
from labs import Choice, Essay, Frame, Lab, Number, Runs, Tap
from labs.quantities import sent

STA4, STA5, STA6 = 3, 4, 5


def arrivals_s(run: Recorded) -> Array:
    """When datagrams arrived at sta5, in seconds from the start, each once."""
    air = run.air
    good = sent(run, Kind.UDP) & (air.receiver == STA5) & (air.outcome == Outcome.OK)
    found: Array = np.unique(air.end_ns[good] - run.lane["started_ns"]) / 1e9
    return found


def silence_s(run: Recorded) -> float:
    """The longest time between two."""
    return float(np.diff(arrivals_s(run)).max())


def silence_of(name: str, runs: Runs) -> float:
    return silence_s(runs[name])


def silences(run: Recorded) -> Sequence[str]:
    """What the tap has to say, in whole milliseconds."""
    return [f"{1000 * silence_s(run):.0f}"]


def last_by_sta4_s(run: Recorded) -> float:
    """When the last datagram came from sta4 itself."""
    air = run.air
    good = sent(run, Kind.UDP, STA4) & (air.receiver == STA5) & (air.outcome == Outcome.OK)
    return float(air.end_ns[good][-1] - run.lane["started_ns"]) / 1e9


def in_vain(run: Recorded) -> Array:
    """Which datagrams sta4 sent to a sta5 that was out of reach."""
    air = run.air
    found: Array = sent(run, Kind.UDP, STA4) & (air.receiver == STA5) & (air.outcome == Outcome.BELOW_THRESHOLD)
    return found


def control_after(run: Recorded) -> int:
    """How many control packets were sent after the link was gone."""
    air = run.air
    gone = run.lane["started_ns"] + 1e9 * last_by_sta4_s(run)
    return int((sent(run, Kind.ROUTING) & (air.start_ns > gone)).sum())


def noticed_s(run: Recorded) -> float:
    """From the first datagram that was sent in vain to the first control packet after it."""
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
    teaches="how a broken link is noticed, by the MAC, by silence, or by tables, and how long that takes",
    minutes=50,
    topology="route-break",
    options={"seconds": 45, "rts": "none", "traffic": "udp,rate_kbps=80,datagram_bytes=500", "views": "no"},
    runs={
        "feedback": {"routing": "aodv"},
        "HELLO": {"routing": "aodv,feedback=0"},
        "OLSR": {"routing": "olsr"},
    },
    drawn={"leaves": range(14, 23)},
    files=["silence.py"],
    questions=[
        Number(
            name="breaks",
            asks="Before you run anything: at which second is the link from sta4 to sta5 gone?",
            unit="s",
            within=0.01,
            of=lambda runs: last_by_sta4_s(runs["feedback"]),
            slips={
                "when it leaves it is still in reach": lambda runs: last_by_sta4_s(runs["feedback"]) - 5,
                "its distance to sta4 counts, which is 200 m to begin with": lambda runs: (
                    last_by_sta4_s(runs["feedback"]) + 20
                ),
            },
            look="it begins to walk at --leaves, at 10 m/s, from 200 m; radios reach 250 m",
        ),
        Tap(
            name="silence",
            asks="Make silence.py print the longest time between two datagrams that arrive at sta5, in whole"
            " milliseconds.",
            file="silence.py",
            run="HELLO",
            says=silences,
            points=2,
            look="of all frames with a datagram to sta5 (its address 1 ends in 05) that arrived, the times at which"
            " they began and how long each is; then the largest difference from one to the next, times 1000",
        ),
        Number(
            name="feedback_ms",
            asks="AODV, told by the MAC of frames that were not acknowledged: how long is the longest silence at sta5?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("feedback", runs),
            slips={"a number in milliseconds is asked for": lambda runs: silence_of("feedback", runs)},
            look="your silence.py, or the timeline: the last datagram over sta4, and the first over sta6",
        ),
        Number(
            name="hello_ms",
            asks="AODV that listens for HELLOs instead (feedback=0): the same?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("HELLO", runs),
            slips={"a number in milliseconds is asked for": lambda runs: silence_of("HELLO", runs)},
            look="your silence.py, with the run of feedback=0",
        ),
        Number(
            name="olsr_ms",
            asks="And OLSR, whose tables are kept by HELLOs and TCs?",
            unit="ms",
            within=0.05,
            of=lambda runs: 1000 * silence_of("OLSR", runs),
            slips={"a number in milliseconds is asked for": lambda runs: silence_of("OLSR", runs)},
            look="your silence.py, with the run of OLSR",
        ),
        Frame(
            name="frame",
            asks="In the run with feedback, find a datagram that sta4 sent to sta5 when that was out of reach already.",
            run="feedback",
            which=in_vain,
            look="on the timeline, just after the break: attempts of sta4 without an answer, one after the other",
        ),
        Choice(
            name="holds",
            asks="Which of these hold of your runs?",
            points=2,
            options={
                "With feedback, the first control packet goes less than 0.1 s after the first datagram sent in vain.": (
                    lambda r: noticed_s(r["feedback"]) < 0.1
                ),
                "With HELLOs, the silence is longer than three of their intervals of 1 s.": lambda r: (
                    silence_of("HELLO", r) > 3
                ),
                "OLSR, which knows all routes before they are needed, is the fastest to find the new one.": lambda r: (
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
            " row of the table",
        ),
        Essay(
            name="why",
            asks="In your words: how does each of the three come to know that the link is gone? Why is it not enough"
            " to make HELLOs ten times as frequent?",
            look="",
        ),
    ],
)
