# SPDX-License-Identifier: BSD-3-Clause
"""A route breaks under TCP: paper 003, sections 3.2 to 3.4 (tables 3.1-3.3, figure 3.7; claims C31-C35).

A string of four hops in ideal discs of 250 m, RTS/CTS before every frame. The last station moves away from 30 s on, so
that its link breaks at 35 s, while a helper reaches both ends of that link. Paper 003 shows one run each of AODV-UU,
DSR-UU and OOLSR in ns-2, whose MAC draws a backoff before every frame. The same rule holds here, because these
protocols forward requests without a jitter of their own. Linux has no Reno without NewReno's partial ACKs, so the
paper's Reno is NewReno here.
"""

from analysis.tables.claims import Check, Claim, Of, compare
from experiments import LINUX, NS2, Column, Study

STALL, AT, RTO = (f"flows.0.tcp.{name}" for name in ("stall_s", "stall_at_s", "rto_s"))
WITHOUT, LOST, GOODPUT = "flows.0.route.without_s", "fail.total", "goodput_segments"


def olsr(**options: int) -> dict[str, object]:
    return {
        "routing": ",".join(
            ["olsr,preset=thesis,willingness=7", *(f"{name}={value}" for name, value in options.items())]
        )
    }


STUDY = Study(
    name="route-breaks",
    title="A route breaks at 35 s: AODV, DSR and OLSR (paper 003, sections 3.2 to 3.4)",
    topology="route-break",
    options={**NS2, "window_limit": 64, "seconds": 70},
    seeds="1..20",
    variants={
        "aodv": {"routing": "aodv,preset=thesis,feedback=0,local_repair=0,active_route_timeout_ms=5000,gratuitous=0"},
        "dsr": {"routing": "dsr,preset=thesis,feedback=0"},
        "olsr": olsr(),
        "olsr3": olsr(tc_interval_ms=3000),
        "olsr-now": olsr(immediate_tc=1),
    },
    names={
        "aodv": "AODV", "dsr": "DSR", "olsr": "OLSR, TC 5 s", "olsr3": "OLSR, TC 3 s", "olsr-now": "OLSR, TC at once",
    },
    quantities={
        STALL: "longest stall, s",
        AT: "which began at, s",
        RTO: "waiting for the timer, s",
        "flows.0.tcp.rtos": "timeouts",
        WITHOUT: "the source without a route, s",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
        LOST: "frames given up",
        GOODPUT: "goodput, segments",
    },
    column=Column.PUBLISHED,
    also={Column.TODAY: LINUX},
    claims=[
        Claim("C31, C32", "DSR has data flow again sooner than AODV",
              compare(STALL, "dsr", "<", "aodv")),
        Claim("C33", "OLSR takes much longer than AODV", compare(STALL, "olsr", ">>", "aodv")),
        Claim("C33, when", "it stalls from the break, at 35 s", [Check(Of("olsr", AT), "in", 35.0, 0.95, 1.1)]),
        Claim("C34", "with a TC every 3 s, or at once, OLSR delivers more than with one every 5 s",
              [Check(Of(one, GOODPUT), ">", Of("olsr", GOODPUT)) for one in ("olsr3", "olsr-now")]),
        Claim("C34, time", "and waits less for the timer",
              [Check(Of(one, RTO), "<", Of("olsr", RTO)) for one in ("olsr3", "olsr-now")]),
        Claim("C35", "frames are given up although nothing interferes from afar",
              [Check(Of(one, LOST), ">", 0) for one in ("aodv", "dsr", "olsr")]),
    ],
)  # fmt: skip
