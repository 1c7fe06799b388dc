# SPDX-License-Identifier: BSD-3-Clause
"""What others found on strings, as paper 003 cites it in its chapter on related work (claim C81).

Xu and Saadawi: delayed ACKs carry 15 to 32 % more. Altman and Jimenez: ACKs delayed further, up to one of four, carry
9 to 22 % more. Chen, Xue and Nahrstedt: a window limited by hop count (CWL) carries 8 to 16 % more, with timeouts of
2 s at most, for which Linux has no setting. De Oliveira and Braun: Dynamic Adaptive ACK carries up to 50 % more than
NewReno, more with more flows, and nothing more in short transfers. Pacing brings nothing.

Strings of 2, 4, 6 and 8 hops of 200 m, RTS/CTS before every frame, 1, 5 and 10 flows; each variant is for all flows.
Short transfers are 30 segments long; their time counts. Each author ran another routing. Here it is static;
`--like ns2` with `--routing aodv,preset=thesis` or `dsr,preset=thesis` is paper 003's. Pacing is Linux's own: the
qdisc `fq` at both ends.
"""

from collections.abc import Iterable

from analysis.tables.claims import Check, Claim, compare, order
from experiments import NS2, Column, Options, Study, cwl

GOODPUT = "goodput_kbps"
HOPS, FLOWS = (2, 4, 6, 8), (1, 5, 10)
TICK = {"granularity_us": 10_000}
DAA: Options = {"ackthin": {"policy": "daa", **TICK}, **cwl(4)}
VARIANTS: dict[str, Options] = {
    "newreno": {"tcp": "newreno"},
    "delayed": {"ackthin": {"policy": "delayed", **TICK}},
    "stretched": {"ackthin": {"policy": "delayed", "count": 4, **TICK}},
    "cwl": cwl(),
    "daa": DAA,
    "paced": {"qdisc": "sch_fq:fq"},
    "vegas": {"tcp": "vegas"},
}
SHORT = 30 * 1460


def case(flows: int, hops: int) -> str:
    return f"{flows}x{hops}"


def within(variant: str, low: float, high: float, flows: Iterable[int] = (1,)) -> list[Check]:
    cases = [case(n, hops) for n in flows for hops in HOPS]
    return compare(GOODPUT, variant, "in", "newreno", low, high, cases=cases)


STUDY = Study(
    name="cited",
    title="Delayed ACKs, limited windows, DAA and pacing on strings, as paper 003 cites them",
    topology="string",
    options={"rts": "full", "window_limit": 64, "seconds": 120, "trace": False, "tcp_trace": False},
    cases={case(flows, hops): {"flows": flows, "stations": hops + 1} for flows in FLOWS for hops in HOPS}
    | {f"short-{hops}": {"stations": hops + 1, "bytes": SHORT} for hops in HOPS},
    rows="flows, hops",
    seeds="1..5",
    variants=VARIANTS,
    names={
        "newreno": "NewReno", "delayed": "delayed ACK", "stretched": "one ACK of four", "cwl": "CWL", "daa": "DAA",
        "paced": "paced", "vegas": "Vegas",
    }
    | {case(flows, hops): f"{flows} flow{'s' if flows > 1 else ''}, {hops} hops" for flows in FLOWS for hops in HOPS}
    | {f"short-{hops}": f"30 segments, {hops} hops" for hops in HOPS},
    quantities={GOODPUT: "goodput, kb/s", "fail.total": "FAIL_TOTAL"},
    core_s=0.35,
    also={Column.PUBLISHED: NS2},
    claims=[
        Claim("C81, delayed", "one flow: delayed ACKs carry 15 to 32 % more", within("delayed", 1.15, 1.32)),
        Claim("C81, stretched", "one flow: ACKs delayed further carry 9 to 22 % more", within("stretched", 1.09, 1.22)),
        Claim("C81, CWL", "one flow: CWL carries 8 to 16 % more", within("cwl", 1.08, 1.16)),
        Claim("C81, DAA", "DAA carries more, up to half as much again", within("daa", 1.0, 1.5, FLOWS)),
        Claim("C81, DAA, Vegas", "one flow: DAA's advantage is smaller over Vegas than over NewReno",
              order(GOODPUT, "vegas", "newreno", cases=[case(1, hops) for hops in HOPS])),
        Claim("C81, DAA, short", "30 segments: DAA brings nothing (within 5 %)",
              compare(GOODPUT, "daa", "in", "newreno", 0.95, 1.05, cases=[f"short-{hops}" for hops in HOPS])),
        Claim("C81, pacing", "one flow: pacing brings nothing (at most 5 %)", within("paced", 0.0, 1.05)),
    ],
)  # fmt: skip
