# SPDX-License-Identifier: BSD-3-Clause
"""TCP learns that a route failed (ELFN, Holland and Vaidya): what papers 003 and 004 leave to others.

The route break of `route-breaks`, over OLSR, which buffers nothing while it has no route, and over AODV and DSR, which
buffer. With `tell=1`, manet.ko answers a segment that it drops without a route with ICMP host unreachable. Linux's
TCP then takes back the last doubling of its timeout (RFC 6069). ELFN goes further: it stops the timer, and sends
probes.
"""

from analysis.tables.claims import Check, Claim, Of, order
from experiments import Study
from experiments.route_breaks import GOODPUT, RTO, STALL, WITHOUT, olsr

ROUTINGS = {
    "olsr": ("OLSR, TC 5 s", olsr()["routing"]),
    "olsr3": ("OLSR, TC 3 s", olsr(tc_interval_ms=3000)["routing"]),
    "aodv": ("AODV", "aodv,preset=thesis"),
    "dsr": ("DSR", "dsr,preset=thesis"),
}

STUDY = Study(
    name="told-routes",
    title="TCP learns that a route failed (beyond papers 003 and 004)",
    topology="route-break",
    options={"like": "ns2", "window_limit": 64, "seconds": 70, "trace": False},
    seeds="1..20",
    variants={
        each: {"routing": f"{routing}{told}"}
        for name, (_, routing) in ROUTINGS.items() for each, told in ((name, ""), (f"{name}-told", ",tell=1"))
    },
    names={
        each: f"{said}{told}"
        for name, (said, _) in ROUTINGS.items() for each, told in ((name, ""), (f"{name}-told", ", told"))
    },
    quantities={
        STALL: "longest stall, s", RTO: "waiting for the timer, s", "flows.0.tcp.rtos": "timeouts",
        WITHOUT: "the source without a route, s", GOODPUT: "goodput, segments",
    },
    claims=[
        Claim("OLSR", "told, TCP stalls for a shorter time over OLSR",
              [Check(Of(f"{one}-told", STALL), "<", Of(one, STALL)) for one in ("olsr", "olsr3")]),
        Claim("OLSR, goodput", "and delivers more",
              [check for one in ("olsr", "olsr3") for check in order(GOODPUT, f"{one}-told", one)]),
        Claim("on demand", "over AODV and DSR it makes no difference (2 %)",
              [Check(Of(f"{one}-told", GOODPUT), "in", Of(one, GOODPUT), 0.98, 1.02) for one in ("aodv", "dsr")]),
    ],
)  # fmt: skip
