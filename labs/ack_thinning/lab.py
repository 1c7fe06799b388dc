# SPDX-License-Identifier: BSD-3-Clause
"""ACK thinning: a TCP ACK is small, but sending it takes the same waiting, preamble and MAC ACK as a segment."""

import numpy as np

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind
from labs import Choice, Essay, Frame, Lab, Number, Runs
from labs.quantities import DIFS_US, MEAN_BACKOFF_US, SIFS_US, airtime_us, collided, kbps, sent

SHORT, ACK_US = "plain", 304.0


def exchange_us(runs: Runs, kind: Kind) -> float:
    """Return the time for sending one frame of this kind over a hop, from the DIFS before it to the MAC's ACK."""
    air = runs[SHORT].air
    frame = float((air.end_ns - air.start_ns)[sent(runs[SHORT], kind)].min()) / 1000
    if kind == Kind.TCP_DATA:
        frame = airtime_us(runs[SHORT], kind)
    return DIFS_US + MEAN_BACKOFF_US + frame + SIFS_US + ACK_US


def of_segment(runs: Runs) -> float:
    """Return the time that a TCP ACK takes, in percent of a segment's."""
    return 100 * exchange_us(runs, Kind.TCP_ACK) / exchange_us(runs, Kind.TCP_DATA)


WINDOW_OF_1 = {"tcp": "cwl", "module_parameters": {"tcp_cwl.rule": "fixed", "tcp_cwl.limit": "1"}}


def every_second(runs: Runs) -> float:
    """Return the gain of leaving out every second ACK if nothing else changed, in percent."""
    data, ack = exchange_us(runs, Kind.TCP_DATA), exchange_us(runs, Kind.TCP_ACK)
    return 100 * ((data + ack) / (data + ack / 2) - 1)


def gain(runs: Runs) -> float:
    """Return the measured gain, in percent."""
    return 100 * (kbps("delayed", runs) / kbps("plain", runs) - 1)


def air_ns(run: Recorded, kind: str) -> int:
    return sum(station.counters["airtime_ns"].get(kind, 0) for station in run.result.stations)


def lost_to_acks(run: Recorded) -> Array:
    """Return which segments collided with a TCP ACK: the culprit's last frame that began before their end."""
    air = run.air
    found = np.zeros(air.kind.size, bool)
    rows = np.flatnonzero(sent(run, Kind.TCP_DATA) & collided(run) & (air.culprit >= 0))
    for row in rows.tolist():
        theirs = np.flatnonzero((air.station == air.culprit[row]) & (air.start_ns < air.end_ns[row]))
        found[row] = theirs.size > 0 and air.kind[theirs[-1]] == Kind.TCP_ACK
    return found


LAB = Lab(
    title="ACK thinning",
    teaches="what a small frame costs, and when leaving out ACKs gains something",
    minutes=45,
    topology="string",
    options={"seconds": 40, "receive_buffer": 32768, "views": "no"},
    runs={
        "plain": {"ackthin": "plain"},
        "delayed": {"ackthin": "delayed", "trace": False},
        "one of four": {"ackthin": "skip,skip=3", "trace": False},
        "plain, window 1": {"ackthin": "plain", **WINDOW_OF_1, "trace": False},
        "delayed, window 1": {"ackthin": "delayed", **WINDOW_OF_1, "trace": False},
    },
    drawn={"stations": range(3, 6)},
    questions=[
        Number(
            name="cost",
            asks="A TCP ACK has 40 bytes, a segment 1500. How long does it take to send the ACK over one hop, in"
            " per cent of the time for the segment?",
            unit="%",
            within=0.04,
            of=of_segment,
            slips={
                "that is the ratio of the bytes; what else takes time?": lambda runs: 100 * 40 / 1500,
                "bytes and preambles are not all: add DIFS, backoff, SIFS and the MAC's ACK": lambda runs: (
                    100 * (192 + 76 * 4) / airtime_us(runs[SHORT], Kind.TCP_DATA)
                ),
            },
            look="the box in the handout: add everything up for both, and divide",
        ),
        Number(
            name="expected",
            asks="If every second ACK were left out and nothing else changed, how much more data would arrive?",
            unit="%",
            within=0.08,
            of=every_second,
            slips={"half of the ACKs are still sent": lambda runs: of_segment(runs)},
            look="compare the time for a segment and an ACK with that for a segment and half an ACK",
        ),
        Number(
            name="gain",
            asks="How much more data arrives over your hops with every second ACK (--ackthin delayed)"
            " and a window of 8?",
            unit="%",
            within=0.05,
            points=2,
            of=gain,
            slips={"the answer is in per cent": lambda runs: gain(runs) / 100},
            look="the table's last row, `goodput against ...`, or the two goodputs",
        ),
        Frame(
            name="frame",
            asks="In the run without thinning, find a TCP segment that collided with a TCP ACK on its way back.",
            run="plain",
            which=lost_to_acks,
            points=2,
            look="on the timeline, search for `collision and data`, and see which frame the line comes from",
        ),
        Number(
            name="disaster",
            asks="With a window of one segment (--tcp cwl), by what factor does thinning lower the goodput?",
            unit="",
            within=0.03,
            of=lambda runs: kbps("plain, window 1", runs) / kbps("delayed, window 1", runs),
            slips={
                "the answer is above 1: divide the larger by the smaller": lambda runs: (
                    kbps("delayed, window 1", runs) / kbps("plain, window 1", runs)
                )
            },
            look="run both with a window of 1, as in the handout, and divide the larger goodput by the smaller",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your runs?",
            points=2,
            options={
                "Without thinning, all TCP ACKs together take less than a tenth of the air time of all segments.": (
                    lambda r: air_ns(r["plain"], "tcp_ack") < 0.1 * air_ns(r["plain"], "tcp_data")
                ),
                "Sending one ACK of four gains more than one of two.": lambda r: (
                    kbps("one of four", r) > kbps("delayed", r)
                ),
                "With fewer ACKs TCP retransmits more than twice as many segments.": lambda r: (
                    r["delayed"].result.retransmits > 2 * r["plain"].result.retransmits
                ),
                "Thinning gains more than you expected, because contention also falls.": lambda r: (
                    gain(r) > 1.04 * every_second(r)
                ),
                "With a window of one segment thinning also helps.": lambda r: (
                    kbps("delayed, window 1", r) > kbps("plain, window 1", r)
                ),
            },
            look="five runs: goodput, collisions and retransmissions are in their tables; airtimes are in --json, in"
            " the stations' counters",
        ),
        Essay(
            name="why",
            asks="In your own words: with a window of one segment, what does the receiver wait for, and what does"
            " the sender wait for? What should a receiver that thins ACKs know?",
        ),
    ],
)
