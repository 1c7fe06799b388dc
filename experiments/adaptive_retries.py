# SPDX-License-Identifier: BSD-3-Clause
"""Retry limits that follow contention: what paper 002 leaves to others.

NewReno with 7 and 4 attempts (short and long frames), with twice as many, and with limits that adapt: four times as
many while a station is answered, the standard's after it gave up without an answer (`emulation/lane/recorders/`).
Strings of 4 and 8 hops: over static routes, where no neighbour ever leaves, and over ns-2's own DSR, which takes a
frame that is given up for a lost link.
"""

from analysis.tables.claims import Claim, order
from experiments import Options, Study

GOODPUT, FAILED = "goodput_kbps", "fail.total"
CASES: dict[str, Options] = {
    f"{name}, {hops} hops": {"routing": routing, "stations": hops + 1}
    for name, routing in (("static", "manet_static"), ("DSR", "dsr,preset=cmu")) for hops in (4, 8)
}  # fmt: skip

STUDY = Study(
    name="adaptive-retries",
    title="Retry limits that follow contention (beyond paper 002)",
    topology="string",
    options={"like": "ns2", "rts": "full", "window_limit": 64, "seconds": 200, "trace": False},
    cases=CASES,
    rows="routing",
    seeds="1..5",
    variants={
        "usual": {},
        "doubled": {"short_retry": 14, "long_retry": 8},
        "adaptive": {"recorders": ["adaptive_retries"]},
    },
    names={"usual": "7 and 4", "doubled": "14 and 8", "adaptive": "adaptive"},
    quantities={
        GOODPUT: "goodput, kb/s", FAILED: "FAIL_TOTAL", "retries.short": "MAC retries, short",
        "retries.long": "MAC retries, long", "flows.0.tcp.rtos": "timeouts",
    },
    claims=[
        Claim("DSR", "limits that follow contention have more goodput than the usual ones over DSR",
              order(GOODPUT, "adaptive", "usual", cases=[case for case in CASES if "DSR" in case])),
        Claim("fewer lost", "and fewer frames are given up, everywhere",
              order(FAILED, "usual", "adaptive", cases=CASES)),
        Claim("more than twice", "and they have more than limits twice as high",
              order(GOODPUT, "adaptive", "doubled", cases=[case for case in CASES if "DSR" in case])),
    ],
)  # fmt: skip
