# SPDX-License-Identifier: BSD-3-Clause
"""TCP's window, RTS/CTS and rates in a mesh of routers: paper 001, section 4 (tables 3 and 4; claims C13 to C24).

14 flows of one to four hops, each alone over its own path, at 2 Mb/s, 5.5 Mb/s and at the rates that the kernel's
minstrel chooses up to 11 Mb/s; RTS/CTS before all frames and before none; windows of 1 to 6 segments and an unlimited
one; SACK; 20 s, three times: 1764 runs of 20 s. The sender's congestion window is limited, as in paper 001; a
receiver's limit would come after the first burst. What the paper says of a hop count is a mean over its flows, and so
are most checks.

The testbed's links were never published, so they are drawn (`topologies/testbed.py`). Which flow gains from what
depends on the draw. So of the claims on single flows only those are tested that name the longest and the shortest links
(C15), or except one (C19). `--placement` chooses another draw, and `--links` a file of your own. Minstrel is not
madwifi's rate control, and each segment is acknowledged.

SPREADS is table 4 (T14): how much more the best window gives than the worst. In each seed these are the best and the
worst of seven means, so that noise adds to what is between them. BEST is table 3 (T13), the RTS/CTS and
window that it recommends; where it names two, both are there.
"""

from itertools import pairwise

from analysis.tables.claims import Check, Claim, Most, Of
from experiments import Column, Options, Study, cwl

GOODPUT, RTT = "goodput_kbps", "flows.0.tcp.srtt_ms"
FLOWS = {
    1: ("22-13", "23-1", "4-19", "5-28"),
    2: ("1-23-16", "28-29-34", "37-25-2", "5-3-23"),
    3: ("1-16-29-30", "1-16-13-22", "1-23-14-25", "37-25-14-23"),
    4: ("1-23-16-13-22", "1-16-13-29-30"),
}
RATES: dict[str, Options] = {"2": {"rate": 2}, "5.5": {"rate": 5.5}, "auto": {"rate": 11, "rate_control": "minstrel"}}
RTS: dict[str, Options] = {"off": {"rts": "none"}, "on": {"rts": "full"}}
WINDOWS: dict[str, Options] = {"free": {}, **{str(n): cwl(n, "cwl-sack") for n in range(1, 7)}}

BEST = {  # by hops and rate
    (1, "2"): [("off", "2")], (1, "5.5"): [("off", "2")], (1, "auto"): [("off", "2")],
    (2, "2"): [("on", "1"), ("off", "2")], (2, "5.5"): [("off", "3")], (2, "auto"): [("off", "2")],
    (3, "2"): [("on", "1"), ("off", "4")], (3, "5.5"): [("on", "1")], (3, "auto"): [("on", "1"), ("off", "5")],
    (4, "2"): [("on", "1"), ("off", "6")], (4, "5.5"): [("on", "6")], (4, "auto"): [("on", "1")],
}  # fmt: skip
SPREADS = {  # by hops and RTS/CTS, in percent, at each of RATES
    (1, "on"): (5, 5, 5), (1, "off"): (5, 5, 5),
    (2, "on"): (18, 17, 27), (2, "off"): (8, 12, 25),
    (3, "on"): (34, 96, 245), (3, "off"): (163, 82, 389),
    (4, "on"): (16, 35, 206), (4, "off"): (56, 64, 9277),
}  # fmt: skip
OPTIMA = {  # the window that claims C18, C21, C23 have as the best, by hops and RTS/CTS, at each of RATES
    (2, "on"): ("1", "1", "1"), (2, "off"): ("2", "3", "2"),
    (3, "on"): ("1", "1", "1"), (3, "off"): ("4", "5", "5"),
    (4, "on"): ("1", "6", "1"), (4, "off"): ("6", "6", "6"),
}  # fmt: skip
EACH = [(rate, rts) for rate in RATES for rts in RTS]
LEAST = 0.99  # a window is as good as one that gives at most one percent more


def case(flow: str, rate: str, rts: str) -> str:
    return f"{flow}, {rate}, {rts}"


def mean(hops: int, rate: str, rts: str, window: str, path: str = GOODPUT) -> Of:
    """Return the mean over the flows with this number of hops."""
    return Of(window, path, tuple(case(flow, rate, rts) for flow in FLOWS[hops]), f"{hops} hops, {rate}, {rts}")


def faster(hops: int, *rates: str) -> list[Check]:
    """Return checks that each rate gives more than the next, with an unlimited window."""
    return [
        Check(mean(hops, a, on, "free"), ">", mean(hops, b, on, "free"), group=f"{a} > {b}")
        for a, b in pairwise(rates) for on in RTS
    ]  # fmt: skip


def best(hops: int, rts: str) -> list[Check]:
    """No other window gives more than the paper's best one, within LEAST; one finding, over all rates."""
    of = zip(RATES, OPTIMA[hops, rts], strict=True)
    return [
        Check(mean(hops, rate, rts, window), ">=", most_of(hops, rate, rts, *(set(WINDOWS) - {window})), LEAST,
              group=f"the paper's best window over the best other, RTS/CTS {rts}")
        for rate, window in of
    ]  # fmt: skip


def spread(hops: int, rts: str) -> list[Check]:
    """The best window gives more than the worst by the paper's percentage: a number, over all rates."""
    return [
        Check(most_of(hops, rate, rts, *WINDOWS), "in", most_of(hops, rate, rts, *WINDOWS, least=True), 1 + of / 100,
              1 + of / 100, f"the best window over the worst, RTS/CTS {rts}")
        for rate, of in zip(RATES, SPREADS[hops, rts], strict=True)
    ]  # fmt: skip


def steady(hops: int) -> list[Check]:
    """The best window gives less than 5 % more than the worst, over all rates, with RTS/CTS and without."""
    return [
        Check(most_of(hops, rate, rts, *WINDOWS), "<=", most_of(hops, rate, rts, *WINDOWS, least=True), 1.05,
              group="the best window over 1.05 times the worst") for rate, rts in EACH
    ]  # fmt: skip


def most_of(hops: int, rate: str, rts: str, *windows: str, least: bool = False) -> Most:
    some = tuple(mean(hops, rate, rts, window) for window in WINDOWS if window in windows)
    return Most(some, f"the {'worst' if least else 'best'} of {len(some)} windows", least)


def round_trips(hops: int, relation: str) -> list[Check]:
    """With RTS/CTS beside without it, over all windows and rates."""
    return [
        Check(mean(hops, rate, "on", str(n), RTT), relation, mean(hops, rate, "off", str(n), RTT),
              group="with RTS/CTS over without, windows of 1 to 6") for rate in RATES for n in range(1, 7)
    ]  # fmt: skip


def gain(hops: int, rate: str, least: float, most: float, a: str = "off", b: str = "on") -> list[Check]:
    """What RTS/CTS, or none, gives over the other, with an unlimited window."""
    return [Check(mean(hops, rate, a, "free"), "in", mean(hops, rate, b, "free"), least, most)]


def recommended(hops: int) -> list[Check]:
    """No other window, with RTS/CTS or without, gives more than the best of those that table 3 recommends."""
    found = []
    for rate in RATES:
        of = {(rts, window): mean(hops, rate, rts, window) for rts in RTS for window in WINDOWS}
        theirs = tuple(of[one] for one in BEST[hops, rate])
        others = tuple(side for one, side in of.items() if one not in BEST[hops, rate])
        found.append(Check(Most(theirs, "what table 3 recommends"), ">=", Most(others, "the best of all else"), LEAST,
                           group="what table 3 recommends over the best of all else"))  # fmt: skip
    return found


STUDY = Study(
    name="testbed-windows",
    title="Windows, RTS/CTS and rates in a testbed of 32 routers (paper 001)",
    topology="testbed",
    options={"routes": "flow", "tcp": "sack", "seconds": 20, "trace": False},
    seeds="1..3",
    cases={
        case(flow, rate, rts): {"flow": flow, **RATES[rate], **RTS[rts]}
        for flows in FLOWS.values() for flow in flows for rate, rts in EACH
    },
    rows="flow, rate, RTS",
    variants=WINDOWS,
    names={"free": "no limit", **{str(n): f"{n} MSS" for n in range(1, 7)}},
    quantities={GOODPUT: "goodput, kb/s", RTT: "SRTT, ms"},
    repetition=(20, 3),
    column=Column.PUBLISHED,
    also={Column.TODAY: {"tcp": "cubic"}},
    claims=[
        Claim("C13", "1 hop: without RTS/CTS 4 % more at 2 Mb/s, 12 % at 5.5, 23 % at auto",
              [*gain(1, "2", 1.0, 1.08), *gain(1, "5.5", 1.06, 1.18), *gain(1, "auto", 1.13, 1.33)]),
        Claim("C14", "1 hop: auto > 5.5 > 2; windows change less than 5 %; RTT of windows 1 to 6 below 20 ms, and more "
              "with RTS/CTS",
              [*faster(1, "auto", "5.5", "2"), *steady(1),
               *(Check(mean(1, rate, rts, str(n), RTT), "<", 20, group="RTT of windows of 1 to 6 below 20 ms")
                 for rate, rts in EACH for n in range(1, 7)),
               *round_trips(1, ">")]),
        Claim("C15", "the two longest links: 2 segments give 10 to 15 % more than no limit, without RTS/CTS",
              [Check(Of("2", GOODPUT, case(flow, rate, "off")), "in", Of("free", GOODPUT, case(flow, rate, "off")),
                     1.10, 1.15) for flow in ("4-19", "5-28") for rate in RATES]),
        Claim("C15, 22-13", "the shortest link: 3 segments give 13 % (5.5) and 17 % (auto) more than no limit with "
              "RTS/CTS; no limit 22 % more than they without, at auto",
              [Check(Of("3", GOODPUT, case("22-13", rate, "on")), "in", Of("free", GOODPUT, case("22-13", rate, "on")),
                     least, most) for rate, least, most in (("5.5", 1.10, 1.16), ("auto", 1.14, 1.20))]
              + [Check(Of("free", GOODPUT, case("22-13", "auto", "off")), "in",
                       Of("3", GOODPUT, case("22-13", "auto", "off")), 1.19, 1.25)]),
        Claim("C16", "2 hops: less than half of 1 hop; auto > 5.5 > 2",
              [*(Check(mean(2, rate, rts, "free"), "<", mean(1, rate, rts, "free"), 0.5) for rate, rts in EACH),
               *faster(2, "auto", "5.5", "2")]),
        Claim("C17", "2 hops: better without RTS/CTS on average",
              [Check(mean(2, rate, "off", "free"), ">", mean(2, rate, "on", "free")) for rate in RATES]),
        Claim("C18", "2 hops: the best window is 1 segment with RTS/CTS, 2 or 3 without",
              [*best(2, "on"), *best(2, "off")]),
        Claim("C18, T14", "2 hops: the best window gives 8 to 27 % more than the worst, as in the paper's table 4",
              [*spread(2, "on"), *spread(2, "off")]),
        Claim("C19", "2 hops: RTT with a window of 1 to 6 below 20 ms, except over 5-3-23",
              [Check(Of(str(n), RTT, case(flow, rate, rts)), "<", 20, group="RTT of windows of 1 to 6 below 20 ms")
               for flow in FLOWS[2][:3] for rate, rts in EACH for n in range(1, 7)]),
        Claim("C20", "3 hops: below 300 kb/s; auto below 5.5; at 5.5 Mb/s RTS/CTS gives 24 % more",
              [*(Check(mean(3, rate, rts, "free"), "<", 300) for rate, rts in EACH), *faster(3, "5.5", "auto"),
               *gain(3, "5.5", 1.14, 1.34, "on", "off")]),
        Claim("C21", "3 hops: the best window is 1 segment with RTS/CTS, 4 or 5 without; RTT is lower with RTS/CTS",
              [*best(3, "on"), *best(3, "off"), *round_trips(3, "<")]),
        Claim("C21, T14", "3 hops: the best window gives 34 to 389 % more than the worst, as in table 4",
              [*spread(3, "on"), *spread(3, "off")]),
        Claim("C22", "4 hops at 5.5 Mb/s without RTS/CTS: 187 to 387 kb/s; auto > 5.5; RTS/CTS is nothing to 2 Mb/s; "
              "at the best window it gives 27 % (5.5) and 19 % (auto)",
              [*(Check(mean(4, "5.5", "off", window), "in", 269, 187 / 269, 387 / 269,
                       group="5.5 Mb/s, averaged over all windows") for window in WINDOWS),
               *faster(4, "auto", "5.5"),
               Check(mean(4, "2", "on", "free"), "~", mean(4, "2", "off", "free")),
               Check(mean(4, "5.5", "on", "6"), "in", mean(4, "5.5", "off", "6"), 1.17, 1.37),
               Check(mean(4, "auto", "on", "1"), "in", mean(4, "auto", "off", "6"), 1.09, 1.29)]),
        Claim("C23", "4 hops: the best window is 1 segment with RTS/CTS, 6 at 5.5 Mb/s, and 6 without; RTT is lower "
              "with RTS/CTS",
              [*best(4, "on"), *best(4, "off"), *round_trips(4, "<")]),
        Claim("C23, T14", "4 hops: the best window gives 16 % to 93 times more than the worst, as in table 4",
              [*spread(4, "on"), *spread(4, "off")]),
        Claim("C24", "RTT: RTS/CTS raises it over 1 and 2 hops, and lowers it over 3 and 4, where nothing holds the "
              "window",
              [Check(mean(hops, rate, "on", "free", RTT), ">" if hops < 3 else "<",
                     mean(hops, rate, "off", "free", RTT)) for hops in FLOWS for rate in RATES]),
        Claim("C24, T13", "table 3: what it recommends is the best",
              [check for hops in FLOWS for check in recommended(hops)]),
    ],
)  # fmt: skip
