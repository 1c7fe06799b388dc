# SPDX-License-Identifier: BSD-3-Clause
"""Hidden terminals: stations that cannot sense each other send into each other's frames. RTS/CTS moves the collision
to short frames."""

from collections.abc import Sequence

import numpy as np

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind
from labs import Choice, Essay, Frame, Lab, Number, Runs, Tap
from labs.quantities import SLOT_US, airtime_us, collided, flow_kbps, given_up, kbps, meanwhile, sent

STA1, STA3 = 0, 2
HEADERS = 26 + 8 + 20 + 8 + 4  # bytes of QoS data around a datagram's payload: MAC, LLC/SNAP, IP, UDP; FCS


def collided_datagrams(run: Recorded, station: int) -> Array:
    """Return which datagrams of a station collided."""
    found: Array = sent(run, Kind.UDP, station) & collided(run)
    return found


def sent_into(run: Recorded) -> Array:
    """Return which of sta1's collided datagrams began more than a slot after a frame of sta3."""
    found: Array = collided_datagrams(run, STA1) & meanwhile(run, STA3) & (run.air.culprit == STA3)
    return found


def data_us(runs: Runs) -> float:
    """Return how long a data frame is on the air."""
    return airtime_us(runs["hidden"], Kind.UDP)


def share_collided(run: Recorded) -> float:
    """Return the share of sta1's data frames that collided."""
    return float((sent(run, Kind.UDP) & collided(run)).sum() / sent(run, Kind.UDP).sum())


def collisions(run: Recorded, kind: Kind) -> int:
    return int((sent(run, kind) & collided(run)).sum())


def slotted(run: Recorded) -> float:
    """Return the share of sta1's collided frames that began within a slot of one of sta3."""
    air = run.air
    mine, theirs = air.start_ns[collided_datagrams(run, STA1)], air.start_ns[sent(run, Kind.UDP, STA3)]
    at = np.searchsorted(theirs, mine).clip(1, theirs.size - 1)
    apart = np.minimum(abs(theirs[at] - mine), abs(theirs[at - 1] - mine))
    return float((apart <= 1000 * SLOT_US).mean())


def counts(run: Recorded) -> Sequence[str]:
    """Return what the tap must print: the number of collisions of each sender."""
    return [str(int(collided_datagrams(run, station).sum())) for station in (STA1, STA3)]


LAB = Lab(
    title="Hidden terminals",
    teaches="stations that cannot sense each other collide at one that hears both; what RTS/CTS changes",
    minutes=45,
    topology="network.py",
    options={"seconds": 10},
    runs={
        "hidden": {"rts": "none"},
        "hidden, RTS": {"rts": "full"},
        "near": {"rts": "none", "apart": 280},
        "near, RTS": {"rts": "full", "apart": 280},
    },
    drawn={"size": range(800, 1401, 50)},
    files=["tap.py"],
    questions=[
        Number(
            name="airtime",
            asks="Before you run anything: how long is the frame of one datagram of your size on the air?",
            unit="µs", within=0.001, points=1,
            of=data_us,
            slips={
                "a frame of QoS data has a longer MAC header than 24 bytes": lambda r: data_us(r) - 2 * 8 / 2,
                "the PLCP preamble and header are sent before the frame, at 1 Mb/s": lambda r: data_us(r) - 192,
                "before the datagram there are headers: UDP, IP, LLC, MAC, and the FCS after it": lambda r: (
                    data_us(r) - HEADERS * 8 / 2
                ),
            },
            look="add up the preamble, and the bits of all headers and the datagram at their rate (the box in the"
            " handout)",
        ),
        Number(
            name="vulnerable",
            asks="sta1 starts to send at time t. A frame of sta3 of the same length collides with it if it starts"
            " in a window around t. How long is that window?",
            unit="µs", within=0.001, points=1,
            of=lambda runs: 2 * data_us(runs),
            slips={
                "also think of a frame that started before t": data_us,
                "a hidden station cannot follow the other's slots": lambda runs: 20,
            },
            look="draw two bars as long as a frame and push one along the other: from where to where do they"
            " overlap?",
        ),
        Number(
            name="hidden_kbps",
            asks="Without RTS/CTS, sta1 and sta3 400 m apart: what is the goodput of both flows together?",
            unit="kb/s", within=0.01,
            of=lambda runs: kbps("hidden", runs),
            slips={"this is one flow; give the sum of both": lambda runs: flow_kbps("hidden", 0, runs)},
            look="the row `goodput` of the table, column `none`, of the run with your seed and your size",
        ),
        Number(
            name="rts_kbps",
            asks="And with RTS/CTS before every datagram?",
            unit="kb/s", within=0.01,
            of=lambda runs: kbps("hidden, RTS", runs),
            look="the row `goodput` of the table, column `full`, of the run with your seed and your size",
        ),
        Frame(
            name="frame",
            asks="In the run without RTS/CTS, 400 m apart, find a datagram of sta1 that collided,"
            " and that started more than a slot (20 µs) into a frame of sta3. The timeline or Wireshark has its"
            " number.",
            points=2, run="hidden", which=sent_into,
            look="find a frame of sta1 that is marked as a collision; then see which bar, sta3's or sta1's, starts"
            " first",
        ),
        Choice(
            name="holds",
            asks="Which of these are true of your run without RTS/CTS, 400 m apart?",
            points=2,
            options={
                "Most frames that collided started more than a slot before or after the other frame.": lambda r: (
                    slotted(r["hidden"]) < 0.5
                ),
                "Most of the frames that collided are sta2's ACKs.": lambda r: (
                    collisions(r["hidden"], Kind.ACK) > collisions(r["hidden"], Kind.UDP)
                ),
                "More than half of the datagrams' frames collide.": lambda r: (
                    share_collided(r["hidden"]) > 0.5
                ),
                "Thanks to retries, fewer than one datagram in ten is given up.": lambda r: (
                    given_up(r["hidden"]) < 0.1
                ),
            },
            look="count with your tap, and look at a dozen collisions on the timeline: which frame started when,"
            " and whose is it?",
        ),
        Choice(
            name="rts_holds",
            asks="And which of these are true of all four runs: 400 m and 280 m apart, with and without RTS/CTS?",
            points=2,
            options={
                "With RTS/CTS there are no more collisions.": lambda r: (
                    not collided(r["hidden, RTS"]).any()
                ),
                "With RTS/CTS, 400 m apart, nearly all frames that collide are RTSs.": lambda r: (
                    bool(collisions(r["hidden, RTS"], Kind.RTS) > 0.8 * collided(r["hidden, RTS"]).sum())
                ),
                "400 m apart, RTS/CTS at least doubles the goodput.": lambda r: (
                    kbps("hidden, RTS", r) >= 2 * kbps("hidden", r)
                ),
                "280 m apart, RTS/CTS gains more than it costs.": lambda r: kbps("near, RTS", r) > kbps("near", r),
                "Without RTS/CTS, moving sta3 from 400 m to 280 m at least doubles the goodput.": lambda r: (
                    kbps("near", r) >= 2 * kbps("hidden", r)
                ),
            },
            look="write the goodputs of the four runs into a square, and compare rows and columns; the timeline"
            " shows collisions",
        ),
        Tap(
            name="tap",
            asks="Make tap.py print how many frames of sta1, and how many of sta3, collided in the run without RTS/CTS,"
            " 400 m apart.",
            points=2, file="tap.py", run="hidden", says=counts,
            look="it prints other numbers; count each frame that collided, by its sender (address 2), with retries",
        ),
        Essay(
            name="why",
            asks="In your own words: where does carrier sense listen, and where do frames collide? Why does a CTS"
            " help, and which station has to hear it?",
        ),
    ],
)  # fmt: skip
