# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS under TCP: paper 000, section 2 (table 1; thesis 003, tables 5.2-5.4; claims C1-C4).

A string of five stations 200 m apart at 2 Mb/s, one NewReno flow end to end for 120 s, an ACK for each segment, three
times: RTS/CTS before every frame, before TCP DATA only, before none.

The published counts are from ns-2's trace, which logs a collision at the station that the frame was for. So they stand
beside COL. The same orders of COL_ANY, which counts at every station within range, are claims of the study's own.
"""

from analysis.tables.claims import Check, Claim, Of, order
from experiments import NS2, RTS, RTS_NAMES, RTS_PHRASES, Column, Study

PUBLISHED = {
    "full": {
        "col.rtscts": 15047, "col.data": 79, "col.ack": 67, "col.total": 15193,
        "fail.rtscts": 273, "fail.data": 167, "fail.ack": 106, "fail.total": 546,
        "in_flight.data": 3.278, "in_flight.ack": 2.148, "in_flight.total": 5.548,
        "queue_drops": 0, "goodput_segments": 4476,
    },
    "partial": {
        "col.rtscts": 8236, "col.data": 240, "col.ack": 6318, "col.total": 14794,
        "fail.rtscts": 169, "fail.data": 169, "fail.ack": 81, "fail.total": 419,
        "in_flight.data": 3.602, "in_flight.ack": 2.156, "in_flight.total": 5.886,
        "queue_drops": 0, "goodput_segments": 4748,
    },
    "none": {
        "col.rtscts": 0, "col.data": 3696, "col.ack": 8197, "col.total": 11893,
        "fail.rtscts": 0, "fail.data": 35, "fail.ack": 310, "fail.total": 345,
        "in_flight.data": 8.337, "in_flight.ack": 7.313, "in_flight.total": 15.74,
        "queue_drops": 0, "goodput_segments": 5365,
    },
}  # fmt: skip

STUDY = Study(
    name="rts-cts",
    title="RTS/CTS under TCP: a string of 5 stations (paper 000, section 2)",
    topology="string",
    options={"stations": 5, "spacing": 200, "seconds": 120, "window_limit": 64},
    variants=RTS,
    names=RTS_NAMES,
    phrases=RTS_PHRASES,
    open=("basic_rates", "preamble"),
    published={"": PUBLISHED},
    also={Column.PUBLISHED: {**NS2, "routing": "aodv,preset=thesis"}},
    claims=[
        Claim("C1", "goodput: No > Partial > Full", order("goodput_segments", "none", "partial", "full")),
        Claim("C2a", "all collisions: Full > Partial > No", order("col.total", "full", "partial", "none")),
        Claim("C2b", "RTS/CTS collisions dominate Full",
              [Check(Of("full", "col.rtscts"), ">>", Of("full", f"col.{payload}")) for payload in ("data", "ack")]),
        Claim("C2c", "DATA collisions: No > Partial > Full", order("col.data", "none", "partial", "full")),
        Claim("C2d", "ACK collisions: No > Partial > Full", order("col.ack", "none", "partial", "full")),
        Claim("C3a", "failed RTS procedures: Full > Partial > none at all",
              [*order("fail.rtscts", "full", "partial"), Check(Of("none", "fail.rtscts"), "=", 0)]),
        Claim("C3b", "DATA given up: fewest in No; Full and Partial alike",
              [*order("fail.data", "full", "none"), *order("fail.data", "partial", "none"),
               Check(Of("full", "fail.data"), "~", Of("partial", "fail.data"))]),
        Claim("C3c", "ACKs given up: No > Full > Partial", order("fail.ack", "none", "full", "partial")),
        Claim("C3d", "given up in total: Full > Partial > No", order("fail.total", "full", "partial", "none")),
        Claim("C4a", "segments in flight: No > Partial > Full", order("in_flight.total", "none", "partial", "full")),
        Claim("C4b", "in flight, No is at least twice Full",
              [Check(Of("none", "in_flight.total"), ">>", Of("full", "in_flight.total"))]),
        Claim("C4c", "no queue overflows",
              [Check(Of(rts, "queue_drops"), "=", 0) for rts in ("full", "partial", "none")]),
        Claim("any station, all", "collisions within range: Full > Partial > No",
              order("col.any.total", "full", "partial", "none"), of=()),
        Claim("any station, DATA", "DATA collisions within range: No > Partial > Full",
              order("col.any.data", "none", "partial", "full"), of=()),
    ],
)  # fmt: skip
