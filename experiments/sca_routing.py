# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance over routing that finds and loses routes: paper 003, section 4.3 (claims C46, C47, C50).

The strings of `sca-strings` over DSR, as in paper 003, over AODV, and over static routes, where SCA gains nothing. A
routing protocol with link-layer feedback takes a frame that the MAC gives up for a broken link: it purges the queue for
that link and searches for a route. So what avoids losses avoids searches. The paper's DSR was DSR-UU, ns-2's own is
CMU's; both are here, and likewise for AODV. The air has ns-2's rules, as `thesis` and `cmu` rest on its MAC
(docs/routing/dsr.md).
"""

from functools import partial

from analysis.tables.claims import Check, Claim, compare, order
from experiments import Column, Study, sca

GOODPUT = "goodput_kbps"
ROUTINGS = {
    "DSR-UU": "dsr,preset=thesis",
    "CMU's DSR": "dsr,preset=cmu",
    "AODV-UU": "aodv,preset=thesis",
    "ns-2's AODV": "aodv,preset=cmu",
    "static": "manet_static",
}
HOPS = (4, 6, 8, 10)
CASES = {
    f"{name} {hops}": {"routing": routing, "stations": hops + 1} for name, routing in ROUTINGS.items() for hops in HOPS
}


def cases(*routings: str) -> list[str]:
    return [f"{name} {hops}" for name in routings for hops in HOPS]


def more(names: list[str]) -> list[Check]:
    return order(GOODPUT, "sca", "newreno", cases=names)


def within(names: list[str], low: float, high: float) -> list[Check]:
    return compare(GOODPUT, "sca", "in", "newreno", low, high, cases=names)


STUDY = Study(
    name="sca-routing",
    title="Slow congestion avoidance on strings, by routing (paper 003, section 4.3)",
    topology="string",
    options={"like": "ns2", "rts": "full", "window_limit": 64, "seconds": 200, "trace": False},
    cases=CASES,
    rows="routing, hops",
    seeds="1..3",
    variants={"newreno": {"tcp": "newreno"}, "sca": sca(4), "sca10": sca(10)},
    names={"newreno": "NewReno", "sca": "SCA(4)", "sca10": "SCA(10)"},
    quantities={
        GOODPUT: "goodput, kb/s",
        "flows.0.tcp.rtos": "retransmission timeouts",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
        "flows.0.route.without_s": "without a route, s",
    },
    column=Column.CONTROL,
    claims=[
        *(
            Claim(f"C46, C47, {name}, {what}", said, checks(cases(name)))
            for name in ("DSR-UU", "CMU's DSR")
            for what, said, checks in (
                ("more", "SCA(4) has more goodput than NewReno", more),
                ("how much", "SCA(4) has 32..71 % more", partial(within, low=1.32, high=1.71)),
            )
        ),
        Claim("AODV-UU", "SCA(4) has more goodput than NewReno", more(cases("AODV-UU"))),
        Claim("ns-2's AODV", "SCA(4) has more goodput than NewReno", more(cases("ns-2's AODV"))),
        Claim("static", "SCA(4) has within 5 % of it", within(cases("static"), 0.95, 1.05)),
    ],
)  # fmt: skip
