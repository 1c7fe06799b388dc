# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS under parallel flows on strings: paper 000, section 3, and paper 003, section 5.5 (figures 2 to 4, tables T4
and T5; claims C5 to C9, C69 to C71, C73).

Strings of 4 to 12 stations 200 m apart at 2 Mb/s for 300 s, 1 to 6 NewReno flows between the ends. RTS/CTS before every
frame, before TCP DATA only, and before none. An ACK for each segment, or for every second (or after 100 ms, as ns-2's
sink does), or by Dynamic Adaptive ACK, whose sender keeps its window within 4 segments. Timers tick in 10 ms
(table 5.5). Cases are named ACKs, flows, stations: `--case 'plain-1x*'`.

Routes are static and the rules the standard's; `--like ns2` is the air of the papers, which ran over AODV.
`rts-strings-aodv` is over AODV-UU under ns-2's rules; `--routing aodv,preset=cmu` is ns-2's own AODV, and
`--like standard --routing aodv` is RFC 3561 in the standard's air.
"""

from collections.abc import Iterable
from itertools import pairwise

from analysis.tables.claims import Check, Claim, Of, compare, order
from experiments import NS2, RTS, RTS_NAMES, RTS_PHRASES, Column, Options, Study, cwl

GOODPUT, COLLISIONS, DROPS = "goodput_segments", "col.total", "fail.total"
STATIONS, FLOWS, STRATEGIES = range(4, 13), range(1, 7), tuple(RTS)
TICK = {"granularity_us": 10_000}
POLICIES: dict[str, tuple[str, Options]] = {
    "plain": ("plain ACK", {}),
    "delayed": ("delayed ACK", {"ackthin": {"policy": "delayed", **TICK}}),
    "daa": ("DAA", {"ackthin": {"policy": "daa", **TICK}, **cwl(4)}),
}
Range = tuple[float, float]
# T4: what Partial and No gain on Full, percent, by flows.
T4: dict[str, dict[int, tuple[Range, Range]]] = {
    "plain": {1: ((6, 9), (17, 23)), 2: ((7, 8), (19, 23)), 3: ((6, 7), (20, 27)), 4: ((5, 8), (20, 27)),
              5: ((6, 8), (20, 28)), 6: ((6, 8), (21, 28))},
    "delayed": {1: ((3, 6), (15, 22)), 2: ((4, 6), (19, 22)), 3: ((4, 6), (19, 24)), 4: ((4, 7), (20, 28)),
                5: ((4, 6), (21, 27)), 6: ((4, 6), (22, 28))},
    "daa": {1: ((1, 5), (9, 19)), 2: ((3, 9), (8, 19)), 3: ((4, 10), (8, 19)), 4: ((4, 7), (8, 19)),
            5: ((5, 7), (8, 21)), 6: ((4, 7), (10, 23))},
}  # fmt: skip
# T5: one flow, delayed ACKs: FAIL of RTS/CTS, DATA, ACK and all, by stations; Full, then No.
T5 = {5: ((275, 201, 74, 550), (0, 35, 608, 643)), 6: ((228, 168, 60, 456), (0, 37, 427, 464)),
      9: ((164, 113, 51, 328), (0, 17, 322, 339)), 12: ((127, 91, 36, 254), (0, 9, 311, 320))}  # fmt: skip
FAIL = ("fail.rtscts", "fail.data", "fail.ack", DROPS)


def case(policy: str, flows: int, stations: int) -> str:
    return f"{policy}-{flows}x{stations}"


def cases(policy: str, flows: Iterable[int] = (1,), stations: Iterable[int] = STATIONS) -> list[str]:
    return [case(policy, n, length) for n in flows for length in stations]


CASES = {case(policy, flows, stations): (policy, flows, stations)
         for policy in POLICIES for flows in FLOWS for stations in STATIONS}  # fmt: skip


OF_T5 = cases("delayed", stations=T5)


def gain(policy: str, flows: Iterable[int]) -> list[Check]:
    """T4's ranges, to half a percent, at each length."""
    return [
        Check(Of(rts, GOODPUT, case(policy, n, stations)), "in", Of("full", GOODPUT, case(policy, n, stations)),
              1 + (low - 0.5) / 100, 1 + (high + 0.5) / 100)
        for n in flows for stations in STATIONS
        for rts, (low, high) in zip(("partial", "none"), T4[policy][n], strict=True)
    ]  # fmt: skip


def all_lengths(policy: str, flows: int) -> tuple[tuple[str, ...], str]:
    return tuple(cases(policy, [flows])), f"{POLICIES[policy][0]}, {flows} flow{'s' if flows > 1 else ''}, all lengths"


def ordered(path: str, policies: Iterable[str], flows: Iterable[int], *variants: str) -> list[Check]:
    """Return a check that each variant has more than the next, on average over all lengths."""
    return [
        Check(Of(a, path, *all_lengths(policy, n)), ">", Of(b, path, *all_lengths(policy, n)))
        for policy in policies for n in flows for a, b in pairwise(variants)
    ]  # fmt: skip


STUDY = Study(
    name="rts-strings",
    title="RTS/CTS under parallel flows on strings (papers 000, section 3, and 003, section 5.5)",
    topology="string",
    options={"window_limit": 64, "seconds": 300, "trace": False, "tcp_trace": False},
    cases={name: {"stations": stations, "flows": flows, **POLICIES[policy][1]}
           for name, (policy, flows, stations) in CASES.items()},
    rows="ACKs, flows, stations",
    seeds="1..3",
    variants=RTS,
    phrases=RTS_PHRASES,
    names=RTS_NAMES | {
        name: f"{POLICIES[policy][0]}, {flows} flow{'s' if flows > 1 else ''}, {stations} stations"
        for name, (policy, flows, stations) in CASES.items()
    },
    quantities={
        GOODPUT: "goodput, segments", COLLISIONS: "COL_TOTAL", DROPS: "FAIL_TOTAL", "fail.data": "FAIL_DATA",
        "fail.ack": "FAIL_ACK",
    },
    published={
        case("delayed", 1, stations): {
            rts: {path: of for path, of in zip(FAIL, row, strict=True) if path != "fail.rtscts"}
            for rts, row in zip(("full", "none"), rows, strict=True)
        }
        for stations, rows in T5.items()
    },
    core_s=0.9,
    claims=[
        Claim("C5, longer", "one flow: the longer, the less goodput",
              [Check(Of(rts, GOODPUT, a), ">", Of(rts, GOODPUT, b)) for policy in ("plain", "delayed")
               for a, b in pairwise(cases(policy)) for rts in STRATEGIES]),
        Claim("C5, order", "one flow: No > Partial > Full",
              order(GOODPUT, "none", "partial", "full", cases=cases("plain") + cases("delayed"))),
        Claim("C5, plain", "one flow, plain ACKs: Partial 6 to 9 % more than Full, No 17 to 23 %", gain("plain", [1])),
        Claim("C5, delayed", "one flow, delayed ACKs: Partial 3 to 6 %, No 15 to 22 %", gain("delayed", [1])),
        Claim("C6, order", "2 to 6 flows: No > Partial > Full, averaged over all lengths",
              ordered(GOODPUT, ("plain", "delayed"), range(2, 7), "none", "partial", "full")),
        Claim("C6, T4", "2 to 6 flows, at each length: Partial 4 to 8 %, No 19 to 28 %, by flows as in table 3",
              gain("plain", range(2, 7)) + gain("delayed", range(2, 7))),
        Claim("C7, longer", "more collisions over 12 stations than over 4",
              [Check(Of(rts, COLLISIONS, case("plain", n, 12)), ">", Of(rts, COLLISIONS, case("plain", n, 4)))
               for rts in STRATEGIES for n in (1, 2, 3)]),
        Claim("C7, one flow", "No has the fewest collisions, except with 12 stations, and 10 to 12 with delayed ACKs",
              [Check(Of("none", COLLISIONS, name), "<", Of(rts, COLLISIONS, name)) for rts in ("full", "partial")
               for name in cases("plain", stations=range(4, 12)) + cases("delayed", stations=range(4, 10))]),
        Claim("C7, several", "2 and 3 flows: No has the fewest",
              [Check(Of("none", COLLISIONS, name), "<", Of(rts, COLLISIONS, name)) for rts in ("full", "partial")
               for policy in ("plain", "delayed") for name in cases(policy, (2, 3))]),
        Claim("C8", "one flow, plain ACKs: Partial drops 16 to 55 % less than Full, No 19 to 50 %",
              compare(DROPS, "partial", "in", "full", 0.45, 0.84, cases=cases("plain"))
              + compare(DROPS, "none", "in", "full", 0.50, 0.81, cases=cases("plain"))),
        Claim("C8, delayed", "delayed ACKs lower all drops",
              [Check(Of(rts, DROPS, case("delayed", 1, stations)), "<", Of(rts, DROPS, case("plain", 1, stations)))
               for rts in STRATEGIES for stations in STATIONS]),
        Claim("C9, Partial", "one flow, delayed ACKs: Partial drops less than Full",
              order(DROPS, "full", "partial", cases=cases("delayed"))),
        Claim("C9, No", "No drops more than Full with 5, 6, 9 and 12 stations, and delivers more",
              order(DROPS, "none", "full", cases=OF_T5) + order(GOODPUT, "none", "full", cases=OF_T5)),
        Claim("C9, C71, ACKs", "delayed ACKs, No: what is dropped are ACKs",
              [Check(Of("none", "fail.ack", name), ">>", Of("none", "fail.data", name)) for name in OF_T5]),
        Claim("C71, DATA", "delayed ACKs, Full: more DATA than ACKs is dropped",
              [Check(Of("full", "fail.data", name), ">", Of("full", "fail.ack", name)) for name in OF_T5]),
        Claim("C9, several", "2 and 3 flows, delayed ACKs: the more goodput, the fewer drops",
              ordered(DROPS, ("delayed",), (2, 3), "full", "partial", "none")),
        Claim("C69, 1 flow", "DAA, one flow: Partial about 3 % more than Full, No 9 to 19 %", gain("daa", [1])),
        Claim("C69, several", "DAA, 2 to 6 flows: Partial 3 to 10 %, No 8 to 23 %, by flows as in table 5.6",
              gain("daa", range(2, 7))),
        Claim("C70, collisions", "DAA has far fewer collisions than plain ACKs",
              [Check(Of(rts, COLLISIONS, case("daa", 1, stations)), "<<",
                     Of(rts, COLLISIONS, case("plain", 1, stations))) for rts in STRATEGIES for stations in STATIONS]),
        Claim("C70, drops", "DAA drops least",
              [Check(Of(rts, DROPS, case("daa", 1, stations)), "<", Of(rts, DROPS, case(policy, 1, stations)))
               for rts in STRATEGIES for stations in STATIONS for policy in ("plain", "delayed")]),
        Claim("C70, zero", "DAA, one flow, No: nothing is dropped",
              [Check(Of("none", DROPS, name), "=", 0) for name in cases("daa")]),
        Claim("C73, strings", "No gains up to 28 % with plain and delayed ACKs, up to 23 % with DAA, and nowhere loses",
              [Check(Of("none", GOODPUT, name), "in", Of("full", GOODPUT, name), 1.0, 1.23 if policy == "daa" else 1.28)
               for name, (policy, *_) in CASES.items()]),
    ],
)  # fmt: skip

OVER_AODV = STUDY.but(
    name="rts-strings-aodv",
    title="RTS/CTS under parallel flows on strings, over AODV (papers 000, section 3, and 003, section 5.5)",
    options={**NS2, "routing": "aodv,preset=thesis"},
    quantities={"flows.0.route.without_s": "the source without a route, s"},
    column=Column.PUBLISHED,
)
