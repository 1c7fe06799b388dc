# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS strategies under thinned ACKs: paper 003, sections 5.4 and 5.5 (tables 5.6-5.10; claims C69-C71).

Strings of 4 to 11 hops of 200 m for 300 s, with plain ACKs, delayed ACKs and Dynamic Adaptive ACK (DAA), each with
RTS/CTS before every frame, before TCP DATA only, and before none; with DAA also several flows. ACKs are delayed in two
ways: by the kernel, whose timer follows the sender's pace, and by the qdisc `ackthin`, with the second segment or
after 100 ms, as ns-2's sink does. DAA's sender keeps its window within 4 segments. Timers tick in 10 ms.
"""

from analysis.tables.claims import Check, Claim, Of, compare
from experiments import RTS, RTS_NAMES, RTS_PHRASES, Column, Options, Study, rts_strings
from experiments.rts_strings import FAIL, GOODPUT, T5

HOPS, LONG = (4, 5, 8, 11), (4, 8)
POLICIES: dict[str, tuple[str, Options]] = {
    "plain": rts_strings.POLICIES["plain"],
    "delayed": ("delayed ACK", {"ack": "delayed"}),
    "thinned": ("delayed by ackthin", rts_strings.POLICIES["delayed"][1]),
    "daa": rts_strings.POLICIES["daa"],
}
ONE = {f"{policy}-{hops}": (policy, hops, 1) for policy in POLICIES for hops in HOPS}
SEVERAL = {f"daa-{hops}x{flows}": ("daa", hops, flows) for flows in (2, 3, 6) for hops in LONG}
CASES = ONE | SEVERAL


def gain(strategy: str, cases: dict[str, tuple[str, int, int]], low: float, high: float) -> list[Check]:
    """Over Full, with DAA."""
    of_daa = [case for case, (policy, _, _) in cases.items() if policy == "daa"]
    return compare(GOODPUT, strategy, "in", "full", low, high, cases=of_daa)


STUDY = Study(
    name="daa-rts",
    title="RTS/CTS strategies under thinned ACKs (paper 003, sections 5.4 and 5.5)",
    topology="string",
    options={"window_limit": 64, "seconds": 300, "trace": False, "tcp_trace": False},
    cases={name: {"stations": hops + 1, "flows": flows, **POLICIES[policy][1]}
           for name, (policy, hops, flows) in CASES.items()},
    rows="ACKs, hops, flows",
    variants=RTS,
    phrases=RTS_PHRASES,
    names=RTS_NAMES | {
        name: f"{POLICIES[policy][0]}, {hops} hops{f', {flows} flows' if flows > 1 else ''}"
        for name, (policy, hops, flows) in CASES.items()
    },
    quantities={
        GOODPUT: "goodput, segments", "fail.total": "FAIL_TOTAL", "fail.rtscts": "FAIL_RTS/CTS",
        "fail.data": "FAIL_DATA", "fail.ack": "FAIL_ACK", "col.total": "COL_TOTAL",
    },
    published={
        f"{policy}-{stations - 1}": {rts: dict(zip(FAIL, row, strict=True))
                                     for rts, row in zip(("full", "none"), rows, strict=True)}
        for policy in ("delayed", "thinned") for stations, rows in T5.items()
    },
    column=Column.CONTROL,
    claims=[
        Claim("C69, 1 flow, Partial", "about 3 % more than Full with DAA", gain("partial", ONE, 1.01, 1.05)),
        Claim("C69, 1 flow, No", "9..19 % more than Full with DAA", gain("none", ONE, 1.09, 1.19)),
        Claim("C69, 2 to 6 flows, Partial", "3..10 % more", gain("partial", SEVERAL, 1.03, 1.10)),
        Claim("C69, 2 to 6 flows, No", "8..23 % more", gain("none", SEVERAL, 1.08, 1.23)),
        Claim("C70, collisions", "DAA has far fewer collisions than plain ACKs",
              [Check(Of(rts, "col.total", f"daa-{hops}"), "<<", Of(rts, "col.total", f"plain-{hops}"))
               for hops in HOPS for rts in ("full", "partial", "none")]),
        Claim("C70, drops", "DAA drops least",
              [Check(Of(rts, "fail.total", f"daa-{hops}"), "<", Of(rts, "fail.total", f"{policy}-{hops}"))
               for hops in HOPS for rts in ("full", "partial", "none") for policy in ("plain", "thinned")]),
        Claim("C70, zero", "DAA without RTS/CTS drops nothing",
              [Check(Of("none", "fail.total", f"daa-{hops}"), "=", 0) for hops in HOPS]),
        Claim("C71, No", "delayed ACKs without RTS/CTS: ACKs dominate the losses",
              [Check(Of("none", "fail.ack", f"thinned-{hops}"), ">>", Of("none", "fail.data", f"thinned-{hops}"))
               for hops in HOPS]),
        Claim("C71, Full", "with RTS/CTS before every frame: DATA does",
              [Check(Of("full", "fail.data", f"thinned-{hops}"), ">", Of("full", "fail.ack", f"thinned-{hops}"))
               for hops in HOPS]),
    ],
)  # fmt: skip
