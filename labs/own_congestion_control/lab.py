# SPDX-License-Identifier: BSD-3-Clause
"""A congestion control of your own: over several hops Reno sends more than the path can hold. Do better."""

from analysis.load import Recorded
from labs import Congestion, Essay, Lab, Number, Runs, Test
from labs.quantities import fairness, kbps

FAIR = 0.97


def srtt_ms(run: Recorded) -> float:
    """Return TCP's smoothed round-trip time, ms: the mean over time and flows."""
    each = [flow.tcp.srtt_ms or 0.0 for flow in run.result.flows if flow.tcp]
    return sum(each) / max(len(each), 1)


def share(name: str, own: Runs, reno: Runs) -> float:
    """Return its goodput relative to Reno's."""
    return kbps(name, own) / max(kbps(name, reno), 1e-9)


def quicker(name: str, own: Runs, reno: Runs) -> bool:
    """Return whether the round-trip time is at most half as long, and flows make progress."""
    return 0 < srtt_ms(own[name]) <= 0.5 * srtt_ms(reno[name])


def shared(own: Runs, reno: Runs) -> bool:
    """Return whether two flows together deliver nearly as much as Reno's."""
    return share("two flows", own, reno) >= 0.9 and fairness(own["two flows"]) >= FAIR


def fewer(name: str, own: Runs, reno: Runs) -> bool:
    """Return whether at most half as much is retransmitted."""
    return own[name].result.retransmits <= 0.5 * reno[name].result.retransmits


LAB = Lab(
    title="A congestion control of your own",
    teaches="how to write a congestion control in C for a real kernel, and to do better than Reno",
    minutes=120,
    topology="string",
    options={"seconds": 40, "trace": False},
    runs={
        "one hop": {"stations": 2},
        "four hops": {"stations": 5},
        "eight hops": {"stations": 9},
        "two flows": {"stations": 5, "flows": 2},
    },
    files=["mine.c", "Kbuild"],
    questions=[
        Number(
            name="reno_kbps",
            asks="What is the goodput of Reno (--tcp newreno) over eight hops?",
            unit="kb/s",
            within=0.01,
            of=lambda runs: kbps("eight hops", runs),
            look="the row `goodput, kb/s` of the run with nine stations and your seed",
        ),
        Number(
            name="reno_srtt",
            asks="And what is its round trip (SRTT) there?",
            unit="ms",
            within=0.02,
            of=lambda runs: srtt_ms(runs["eight hops"]),
            look="the last column of the table of flows of that run",
        ),
        Number(
            name="needed",
            asks="By Little's law, how many segments of 1460 bytes must be in flight for the same goodput if the"
            " round trip is 150 ms?",
            unit="segments",
            within=0.05,
            of=lambda runs: kbps("eight hops", runs) * 0.150 / (8 * 1.460),
            slips={
                "a byte has eight bits": lambda runs: kbps("eight hops", runs) * 0.150 / 1.460,
                "that is the number with Reno's own round trip": lambda runs: (
                    kbps("eight hops", runs) * srtt_ms(runs["eight hops"]) / 1000 / (8 * 1.460)
                ),
            },
            look="segments each second, times the round trip",
        ),
        Congestion(
            name="mine",
            asks="Write mine.c. Four tests compare it with Reno under the same seed, a point each. Over one hop: 97"
            " % of Reno's goodput. Over four hops: 93 %, and at most half of the retransmissions. Over eight"
            " hops: as much goodput, and at most half the round trip. Two flows over four hops: 90 % shared"
            " fairly (Jain's index 0.97), and at most half the round trip.",
            look="",
            file="mine.c",
            runs=["one hop", "four hops", "eight hops", "two flows"],
            tests=[
                Test(
                    "one hop",
                    lambda own, reno: share("one hop", own, reno) >= 0.97,
                    "its goodput is too low: does the window grow at all, at least to two segments?",
                ),
                Test(
                    "four hops",
                    lambda own, reno: share("four hops", own, reno) >= 0.93 and fewer("four hops", own, reno),
                    "compare goodput and retransmissions with --tcp newreno: losses mean that too much was sent",
                ),
                Test(
                    "eight hops",
                    lambda own, reno: share("eight hops", own, reno) >= 1 and quicker("eight hops", own, reno),
                    "compare goodput and SRTT with --tcp newreno: how many segments does the path hold, and where"
                    " are the others? The initial window also counts",
                ),
                Test(
                    "two flows",
                    lambda own, reno: shared(own, reno) and quicker("two flows", own, reno),
                    "compare the shares and SRTTs of both flows with --tcp newreno: which flow waits behind the other?",
                ),
            ],
        ),
        Essay(
            name="why",
            asks="In your own words: how does your congestion control know that the window is large enough? What"
            " would it do on a wire with 100 Mb/s and 50 ms?",
        ),
    ],
)
