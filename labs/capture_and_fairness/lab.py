# SPDX-License-Identifier: BSD-3-Clause
"""Capture and fairness: of two overlapping frames the stronger survives, and its sender keeps its small contention
window."""

import math

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind
from labs import Choice, Essay, Frame, Lab, Number, Runs
from labs.quantities import collided, fairness, flow_kbps, kbps, meanwhile, sent

STA1, STA3 = 0, 2
NEAR, FAR = 0, 1  # flows


def distance(runs: Runs, station: str) -> float:
    """Return the distance from a station to sta2, m."""
    nodes = {node["name"]: node for node in runs["capture"].plan["nodes"]}
    return math.dist(nodes[station]["position"], nodes["sta2"]["position"])


def stronger_db(runs: Runs) -> float:
    """Return by how many dB sta1 arrives stronger: two-ray's power falls with the fourth power of the distance."""
    return 40 * math.log10(distance(runs, "sta3") / distance(runs, "sta1"))


def edge_m(runs: Runs, exponent: float = 4) -> float:
    """Return the distance up to which sta1's frames survive those of sta3, m."""
    return float(distance(runs, "sta3") / 10 ** (runs["capture"].plan["air"]["capture_db"] / 10 / exponent))


def captured(run: Recorded) -> Array:
    """Return which datagrams of sta1 arrived although one of sta3 began more than a slot before them."""
    found: Array = sent(run, Kind.UDP, STA1) & meanwhile(run, STA3) & ~collided(run)
    return found


def arrives(run: Recorded, station: int) -> float:
    """Return the share of a station's data frames that arrives."""
    mine = sent(run, Kind.UDP, station)
    return float((mine & ~collided(run)).sum() / mine.sum())


LAB = Lab(
    title="Capture and fairness",
    teaches="the stronger of two overlapping frames survives: what that means for both senders",
    minutes=45,
    topology="network.py",
    options={"seconds": 10},
    runs={
        "capture": {"rts": "none"},
        "level": {"rts": "none", "near": 200},
        "RTS": {"rts": "full"},
        "in range": {"rts": "none", "sense": 550},
    },
    drawn={"size": range(800, 1401, 100), "near": range(88, 109, 4)},
    questions=[
        Number(
            name="stronger",
            asks="Before you run anything: by how many dB does sta1's frame arrive stronger at sta2 than sta3's?",
            unit="dB",
            within=0.03,
            of=stronger_db,
            slips={"power falls with the fourth power of the distance here": lambda runs: stronger_db(runs) / 2},
            look="the ratio of the distances, to the fourth power, in dB: ten times its logarithm",
        ),
        Number(
            name="edge",
            asks="A frame survives another one that is at least 10 dB weaker. With sta3 at 200 m, how many metres"
            " from sta2 may sta1 be at most?",
            unit="m",
            within=0.02,
            of=edge_m,
            slips={"power falls with the fourth power of the distance here": lambda runs: edge_m(runs, 2)},
            look="invert the last question; then try a metre on either side at the prompt",
        ),
        Number(
            name="near_kbps",
            asks="Neither senses the other. What is the goodput of the near station, sta1?",
            unit="kb/s",
            within=0.01,
            of=lambda runs: flow_kbps("capture", NEAR, runs),
            look="the table of flows, flow1, of the run with your seed, size and distance, without RTS/CTS",
        ),
        Number(
            name="far_kbps",
            asks="And of the far one, sta3?",
            unit="kb/s",
            within=0.05,
            of=lambda runs: flow_kbps("capture", FAR, runs),
            look="the table of flows, flow2, of the same run",
        ),
        Number(
            name="jain",
            asks="With RTS/CTS, what is Jain's fairness index of the two goodputs, (x + y)² / 2(x² + y²)?",
            unit="",
            within=0.01,
            of=lambda runs: fairness(runs["RTS"]),
            slips={
                "this is the run without RTS/CTS": lambda runs: fairness(runs["capture"]),
                "there are two flows: divide by 2": lambda runs: 2 * fairness(runs["RTS"]),
            },
            look="the two goodputs of the run with RTS/CTS, column kb/s of the table of flows; the index is between"
            " 0.5 and 1",
        ),
        Frame(
            name="frame",
            asks="In the run without RTS/CTS, find a datagram of sta1 that arrived although it started"
            " more than a slot into a frame of sta3.",
            run="capture",
            which=captured,
            points=2,
            look="on the timeline, sta3's bar starts first and is marked as a collision; sta1's starts later and is"
            " not",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs? (Level: sta1 also at 200 m. In range: with --sense 550.)",
            points=2,
            options={
                "Both together carry more than twice what they carry when level.": lambda r: (
                    kbps("capture", r) > 2 * kbps("level", r)
                ),
                "Fewer than one in ten of the frames that sta3 sends arrive.": lambda r: (
                    arrives(r["capture"], STA3) < 0.1
                ),
                "None of sta1's frames is lost.": lambda r: arrives(r["capture"], STA1) == 1,
                "RTS/CTS makes it fair: Jain's index is above 0.9.": lambda r: fairness(r["RTS"]) > 0.9,
                "In range of each other, the far one gets at least two thirds of the near one's goodput.": lambda r: (
                    flow_kbps("in range", FAR, r) > 2 / 3 * flow_kbps("in range", NEAR, r)
                ),
                "In range of each other, at these distances, both carry the same within 1 %.": lambda r: (
                    abs(flow_kbps("in range", FAR, r) / flow_kbps("in range", NEAR, r) - 1) < 0.01
                ),
            },
            look="write the two goodputs of the four runs into a table; the timeline shows collisions, lane by lane",
        ),
        Essay(
            name="why",
            asks="In your own words: what does a collision do to the backoff of each station? Why does the far"
            " station also send less, and not only lose more?",
        ),
    ],
)
