# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS on a mesh: paper 000, section 4, and paper 003, section 5.5 (tables T6 to T8; claims C10 to C12, C72, C73).

5x5 stations 200 m apart at 2 Mb/s for 300 s. Three NewReno flows go along every other row; six go down every other
column, too. RTS/CTS before every frame, before TCP DATA only, and before none; plain, delayed and Dynamic Adaptive ACKs
as in `rts-strings`. The published collisions for six flows with DAA repeat those of plain ACKs, and are left out.

Routes are static and the rules the standard's; `--like ns2` is the air of the papers, which ran over AODV.
`rts-meshes-aodv` is over AODV-UU under ns-2's rules; `--routing aodv,preset=cmu` is ns-2's own AODV, and
`--like standard --routing aodv` is RFC 3561 in the standard's air.
"""

from analysis.tables.claims import Check, Claim, Of, compare, order
from experiments import NS2, RTS_NAMES, Column, rts_strings
from experiments.rts_strings import COLLISIONS, DROPS, GOODPUT, POLICIES, STRATEGIES

T6 = {
    "plain-3": (15953, 16683, 18798), "delayed-3": (16115, 16760, 20968), "daa-3": (16456, 17260, 19416),
    "plain-6": (16884, 17879, 23185), "delayed-6": (16676, 17171, 21822), "daa-6": (15848, 19238, 20601),
}  # fmt: skip
T7 = {
    "plain-3": (44155, 43391, 38905), "delayed-3": (38593, 38383, 30312), "daa-3": (36889, 29564, 23990),
    "plain-6": (57080, 55964, 43629), "delayed-6": (50492, 49290, 41806),
}  # fmt: skip
T8 = {
    "plain-3": (2237, 1596, 1772), "delayed-3": (1413, 1083, 1325), "daa-3": (711, 534, 224),
    "plain-6": (2762, 2363, 1122), "delayed-6": (2122, 1846, 920), "daa-6": (2186, 1473, 424),
}  # fmt: skip
TABLES = {GOODPUT: T6, COLLISIONS: T7, DROPS: T8}
CASES = {f"{policy}-{flows}": (policy, flows) for flows in (3, 6) for policy in POLICIES}
THREE, SIX = (["plain-3", "delayed-3"], ["plain-6", "delayed-6"])  # without DAA, which paper 000 does not have
DAA = ["daa-3", "daa-6"]
PLAIN, THINNED = ("plain-3", "plain-6"), [case for case in CASES if "plain" not in case]


def within(rts: str, path: str, low: float, high: float, *cases: str) -> list[Check]:
    """Return checks that a variant's value is within this range of Full's."""
    return compare(path, rts, "in", "full", low, high, cases=cases)


STUDY = rts_strings.STUDY.but(
    name="rts-meshes",
    title="RTS/CTS on a mesh of 5x5 stations (papers 000, section 4, and 003, section 5.5)",
    topology="mesh",
    cases={case: {"flows": flows, **POLICIES[policy][1]} for case, (policy, flows) in CASES.items()},
    rows="ACKs, flows",
    seeds="1..5",
    names=RTS_NAMES | {
        case: f"{POLICIES[policy][0]}, {flows} flows" for case, (policy, flows) in CASES.items()
    },
    quantities={"flows.1.share": "share of the middle row"},
    published={
        case: {rts: {path: table[case][column] for path, table in TABLES.items() if case in table}
               for column, rts in enumerate(STRATEGIES)}
        for case in CASES
    },
    core_s=1.6,
    claims=[
        Claim("C10, order", "No > Partial > Full",
              order(GOODPUT, "none", "partial", "full", cases=[*THREE, *SIX])),
        Claim("C10, 3 flows", "Partial 4 to 5 % more than Full, No 18 to 30 %",
              within("partial", GOODPUT, 1.035, 1.055, *THREE) + within("none", GOODPUT, 1.175, 1.305, *THREE)),
        Claim("C10, 6 flows", "Partial 3 to 6 % more than Full, No 30 to 37 %",
              within("partial", GOODPUT, 1.025, 1.065, *SIX) + within("none", GOODPUT, 1.295, 1.375, *SIX)),
        Claim("C11, order", "collisions: Full > Partial > No",
              order(COLLISIONS, "full", "partial", "none", cases=[*THREE, *SIX])),
        Claim("C11, 3 flows", "collisions: Partial 1 to 3 % less than Full, No 12 to 21 %",
              within("partial", COLLISIONS, 0.965, 0.995, *THREE)
              + within("none", COLLISIONS, 0.785, 0.885, *THREE)),
        Claim("C11, 6 flows", "collisions: Partial 2 to 3 % less than Full, No 17 to 23 %",
              within("partial", COLLISIONS, 0.965, 0.985, *SIX)
              + within("none", COLLISIONS, 0.765, 0.835, *SIX)),
        Claim("C12, fewer", "drops: Partial and No have fewer than Full",
              order(DROPS, "full", "partial", cases=[*THREE, *SIX])
              + order(DROPS, "full", "none", cases=[*THREE, *SIX])),
        Claim("C12, ACKs", "3 flows, delayed ACKs, No: nearly all that is dropped are ACKs",
              [Check(Of("none", "fail.ack", "delayed-3"), "in", Of("none", DROPS, "delayed-3"), 0.9, 1)]),
        Claim("C12, DATA", "3 flows, delayed ACKs, Full and Partial: more DATA than ACKs is dropped",
              [Check(Of(rts, "fail.data", "delayed-3"), ">", Of(rts, "fail.ack", "delayed-3"))
               for rts in ("full", "partial")]),
        Claim("C12, 6 flows", "drops: Partial 13 to 14 % fewer than Full, No 56 to 59 %",
              within("partial", DROPS, 0.855, 0.875, *SIX) + within("none", DROPS, 0.405, 0.445, *SIX)),
        Claim("C72, order", "DAA: No > Partial > Full, drops the other way round",
              order(GOODPUT, "none", "partial", "full", cases=DAA)
              + order(DROPS, "full", "partial", "none", cases=DAA)),
        Claim("C72, 3 flows", "DAA: Partial 5 % and No 18 % more than Full, each within a third",
              within("partial", GOODPUT, 1.033, 1.067, "daa-3") + within("none", GOODPUT, 1.12, 1.24, "daa-3")),
        Claim("C72, 6 flows", "DAA: Partial 21 % and No 30 % more than Full, each within a third",
              within("partial", GOODPUT, 1.14, 1.28, "daa-6") + within("none", GOODPUT, 1.20, 1.40, "daa-6")),
        Claim("C73, mesh", "No gains up to 37 % with plain ACKs, up to 30 % with thinned ones, and nowhere loses",
              within("none", GOODPUT, 1, 1.375, *PLAIN) + within("none", GOODPUT, 1, 1.305, *THINNED)),
        Claim("C81, DAA on meshes", "DAA carries more than plain ACKs, up to half as much again",
              [Check(Of(rts, GOODPUT, f"daa-{flows}"), "in", Of(rts, GOODPUT, f"plain-{flows}"), 1.0, 1.5)
               for flows in (3, 6) for rts in STRATEGIES]),
    ],
)  # fmt: skip

OVER_AODV = STUDY.but(
    name="rts-meshes-aodv",
    title="RTS/CTS on a mesh of 5x5 stations, over AODV (papers 000, section 4, and 003, section 5.5)",
    options={**NS2, "routing": "aodv,preset=thesis"},
    quantities={"flows.0.route.without_s": "without a route, s: first flow's source"},
    column=Column.PUBLISHED,
)
