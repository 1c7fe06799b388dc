# SPDX-License-Identifier: BSD-3-Clause
"""Retransmission timeouts of TCP's variants: paper 003, section 3.6 (table 3.7, here T10; claim C43).

Five hops of 200 m for 140 s, RTS/CTS before every frame: NewReno, SACK and Vegas. Paper 003 also has Reno without
NewReno's partial ACKs (25 timeouts, 2253 segments), which does not exist in Linux. The goodput that it prints for
Vegas, 3290, does not fit the gain of 22 % beside it.

`rto-aodv` is over the paper's routing, AODV-UU with link-layer feedback and local repair (appendix A), under ns-2's
rules.
"""

from analysis.tables.claims import Claim, compare, order
from experiments import LINUX, NS2, Column, Study

COUNT, TIME, FLIGHT = (f"flows.0.tcp.{name}" for name in ("rtos", "rto_s", "in_flight_mean"))
GOODPUT = "goodput_segments"

STUDY = Study(
    name="rto",
    title="Retransmission timeouts: 5 hops (paper 003, table 3.7)",
    topology="string",
    options={"stations": 6, "rts": "full", "window_limit": 64, "seconds": 140, "trace": False},
    seeds="1..10",
    variants={name: {"tcp": name} for name in ("newreno", "sack", "vegas")},
    names={"newreno": "NewReno", "sack": "SACK", "vegas": "Vegas"},
    quantities={
        COUNT: "timeouts",
        TIME: "waiting for the timer, s",
        "flows.0.tcp.fast_retransmits": "fast retransmits",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
        FLIGHT: "mean in flight, segments",
        GOODPUT: "goodput, segments",
    },
    published={"": {
        "newreno": {COUNT: 9, TIME: 11.33, GOODPUT: 2484},
        "sack": {COUNT: 19, TIME: 18.4, GOODPUT: 2431},
        "vegas": {COUNT: 7, TIME: 10.3, GOODPUT: 3290},
    }},
    repetition=(140, 1),
    column=Column.CONTROL,
    claims=[
        Claim("C43, timeouts", "Vegas has no more than NewReno, and NewReno fewer than SACK",
              compare(COUNT, "vegas", "<=", "newreno") + order(COUNT, "sack", "newreno")),
        Claim("C43, time", "and so for the time they take",
              compare(TIME, "vegas", "<=", "newreno") + order(TIME, "sack", "newreno")),
        Claim("C43, goodput", "Vegas has more than NewReno, and NewReno no less than SACK",
              order(GOODPUT, "vegas", "newreno") + compare(GOODPUT, "newreno", ">=", "sack")),
        Claim("C44", "Vegas keeps the fewest segments in flight",
              order(FLIGHT, "newreno", "vegas") + order(FLIGHT, "sack", "vegas")),
    ],
)  # fmt: skip

OVER_AODV = STUDY.but(
    name="rto-aodv",
    title="Retransmission timeouts over AODV: 5 hops (paper 003, table 3.7)",
    options={**NS2, "routing": "aodv,preset=thesis"},
    quantities={"flows.0.route.without_s": "without a route, s"},
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "aodv"}},
)
