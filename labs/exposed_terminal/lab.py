# SPDX-License-Identifier: BSD-3-Clause
"""Exposed terminals: carrier sense silences stations that would disturb nobody."""

import math

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind
from labs import Choice, Essay, Frame, Lab, Number, Runs
from labs.quantities import DIFS_US, MEAN_BACKOFF_US, SIFS_US, airtime_us, collided, flow_kbps, kbps, meanwhile, sent

STA2, STA3 = 1, 2
SENSED_M = 550.0


def alone(runs: Runs) -> float:
    """Return the measured goodput of a sender that nobody disturbs."""
    return flow_kbps("deaf", 0, runs)


def cycle_us(runs: Runs) -> float:
    """Return the time from one datagram to the next, us."""
    data, ack = (airtime_us(runs["deaf"], kind) for kind in (Kind.UDP, Kind.ACK))
    return DIFS_US + MEAN_BACKOFF_US + data + SIFS_US + ack


def less(us: float, runs: Runs) -> float:
    """Return what that goodput would be if a datagram took `us` less."""
    return alone(runs) * cycle_us(runs) / (cycle_us(runs) - us)


def quieter_db(runs: Runs) -> float:
    """Return by how many dB to reduce the power: two-ray's power falls with the fourth power of the distance."""
    nodes = {node["name"]: node for node in runs["exposed"].plan["nodes"]}
    gap = math.dist(nodes["sta2"]["position"], nodes["sta3"]["position"])
    return 40 * math.log10(SENSED_M / gap)


def both_at_once(run: Recorded) -> Array:
    """Return which datagrams of sta3 arrived although they began while one of sta2 was on the air."""
    found: Array = sent(run, Kind.UDP, STA3) & meanwhile(run, STA2) & ~collided(run)
    return found


def lost_to_collisions(runs: Runs) -> float:
    """Return the share of the air time that collided datagrams took, where one sender silences the other."""
    run = runs["exposed"]
    lost = float((sent(run, Kind.UDP) & collided(run)).sum())
    return lost * airtime_us(run, Kind.UDP) / 1e6 / run.result.air_s


LAB = Lab(
    title="Exposed terminals",
    teaches="carrier sense also silences stations that would do no harm; what helps",
    minutes=45,
    topology="network.py",
    options={"seconds": 10},
    runs={
        "exposed": {"rts": "none"},
        "RTS": {"rts": "full"},
        "deaf": {"rts": "none", "sense": 250},
        "deaf, RTS": {"rts": "full", "sense": 250},
        "far": {"rts": "none", "gap": 560},
    },
    drawn={"size": range(800, 1401, 100), "gap": range(260, 361, 20)},
    questions=[
        Number(
            name="alone",
            asks="Before you run anything: what is the goodput of one sender alone, with datagrams of your size?",
            unit="kb/s",
            within=0.02,
            of=alone,
            slips={
                "a backoff precedes each frame, even on an idle medium, and an ACK follows it: one is missing": (
                    lambda runs: less(MEAN_BACKOFF_US, runs)
                ),
                "this is the goodput of both at once; give that of one": lambda runs: 2 * alone(runs),
            },
            look="add up the time of one datagram from one DIFS to the next, with the box in the handout; divide"
            " its bits by that",
        ),
        Number(
            name="exposed_kbps",
            asks="What is the goodput of both flows together, with your gap between the senders?",
            unit="kb/s",
            within=0.01,
            of=lambda runs: kbps("exposed", runs),
            slips={"this is one flow; give the sum of both": lambda runs: flow_kbps("exposed", 0, runs)},
            look="the row `goodput` of the table, column `none`, of the run with your seed, size and gap",
        ),
        Number(
            name="rts_kbps",
            asks="And with RTS/CTS?",
            unit="kb/s",
            within=0.01,
            of=lambda runs: kbps("RTS", runs),
            look="the row `goodput` of the table, column `full`, of the run with your seed, size and gap",
        ),
        Number(
            name="deaf_kbps",
            asks="And without RTS/CTS, if stations sense no farther than they receive (--sense 250)?",
            unit="kb/s",
            within=0.01,
            of=lambda runs: kbps("deaf", runs),
            look="the row `goodput` of the run with --sense 250; the other options as before",
        ),
        Number(
            name="quieter",
            asks="Instead, all four can lower their power. By how many dB at least must they, so that the two"
            " senders, your gap apart, no longer sense each other?",
            unit="dB",
            within=0.03,
            points=2,
            of=quieter_db,
            slips={
                "power falls with the fourth power of the distance here, not with the square": lambda runs: (
                    quieter_db(runs) / 2
                ),
                "dB are ten times the logarithm of a ratio of powers": lambda runs: quieter_db(runs) / 10,
            },
            look="at full power a frame is sensed up to 550 m; how much stronger is it at your gap? Try --power"
            " 24.5 minus your answer, and slightly less",
        ),
        Frame(
            name="frame",
            asks="In the run with --sense 250, find a datagram of sta3 that arrived although it started"
            " more than a slot into a frame of sta2.",
            run="deaf",
            which=both_at_once,
            points=2,
            look="on the timeline, two overlapping bars in the lanes of the senders; the lower one starts later",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs?",
            points=2,
            options={
                "With a sensing range of 550 m, collisions take most of the lost air time.": lambda r: (
                    lost_to_collisions(r) > 0.5 * (1 - kbps("exposed", r) / kbps("deaf", r))
                ),
                "RTS/CTS lets both send at the same time.": lambda r: kbps("RTS", r) > 1.2 * kbps("exposed", r),
                "RTS/CTS makes it worse: it sends more, and the same stations stay silent.": lambda r: (
                    kbps("RTS", r) < kbps("exposed", r)
                ),
                "With --sense 250 each flow carries what it would carry alone.": lambda r: (
                    min(flow_kbps("deaf", n, r) for n in range(2)) > 0.98 * alone(r)
                ),
                "Moved apart to 560 m, the two pairs carry no more than before.": lambda r: (
                    kbps("far", r) < 1.1 * kbps("exposed", r)
                ),
            },
            look="make a table of five runs: no RTS, RTS, --sense 250 with each, and --gap 560; which station is"
            " silent when, and which could be heard where?",
        ),
        Essay(
            name="why",
            asks="In your own words: which station waits for sta3, and would its frame have done harm? Why may a"
            " smaller sensing range, which helps here, be a bad idea with hidden terminals?",
        ),
    ],
)
