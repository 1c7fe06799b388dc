# SPDX-License-Identifier: BSD-3-Clause
"""Slow slow-start and slow congestion avoidance on strings: paper 003, section 4.3 (4.3.1-4.3.3; claims C45-C48).

Strings of 3 to 11 hops of 200 m at 2 Mb/s, RTS/CTS before every frame, an ACK for each segment, one flow end to end;
all thresholds are 4. Paper 003 ran 900 s over DSR, with Reno and with NewReno.

Linux has no Reno without NewReno's partial ACKs, so the claims on Reno (C46) are tested on NewReno. Routes are static
here. In paper 003, DSR takes a frame that the MAC gives up for a broken link, and looks for another route.
"""

from analysis.tables.claims import Check, Claim, compare, order
from experiments import NS2, Column, Study, sca, strings

HOPS = [str(hops) for hops in range(3, 12)]
GOODPUT = "goodput_kbps"


def within(variant: str, base: str, low: float, high: float) -> list[Check]:
    return compare(GOODPUT, variant, "in", base, low, high, cases=HOPS)


STUDY = Study(
    name="sca-strings",
    title="Slow slow-start and slow congestion avoidance on strings (paper 003, section 4.3)",
    topology="string",
    options={"rts": "full", "window_limit": 64, "seconds": 200, "trace": False},
    cases=strings(range(3, 12)),
    rows="hops",
    seeds="1..3",
    variants={"newreno": {"tcp": "newreno"}, "ss": sca(4, "ss"), "sca": sca(4), "ssca": sca(4, "ssca")},
    names={"newreno": "NewReno", "ss": "SS(4)", "sca": "SCA(4)", "ssca": "SSCA(4)"},
    quantities={
        GOODPUT: "goodput, kb/s",
        "flows.0.tcp.rtos": "retransmission timeouts",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
    },
    column=Column.CONTROL,
    also={Column.PUBLISHED: {**NS2, "routing": "dsr,preset=thesis"}, Column.TODAY: {"routing": "dsr"}},
    claims=[
        Claim("C45", "SS(4) changes goodput by -4..+9 %", within("ss", "newreno", 0.96, 1.09)),
        Claim("C46, C47", "SCA(4) has more goodput than NewReno", order(GOODPUT, "sca", "newreno", cases=HOPS)),
        Claim("C46, C47, by how much", "SCA(4) has 32..71 % more", within("sca", "newreno", 1.32, 1.71)),
        Claim("C48", "SSCA(4) gains nothing on SCA(4): within 5 %", within("ssca", "sca", 0.95, 1.05)),
    ],
)
