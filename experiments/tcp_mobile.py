# SPDX-License-Identifier: BSD-3-Clause
"""TCP's variants among moving stations, over AODV, DSR and OLSR: paper 003, section 3.5 (claims C36 to C42).

50 stations by random waypoint without a pause, in a strip of 1500x300 m and in a square of 1000x1000 m, at up to 2, 5,
10, 15 and 20 m/s, for 900 s; one flow between two of them, RTS/CTS before every frame. Paper 003 gives differences in
percent, not what was delivered, as means of 50 movements. All variants meet the same movements.

Linux has no Reno without NewReno's partial ACKs, so what these claims say of Reno (5 to 12 % behind) is not tested.
Routing and rules are the paper's: AODV-UU (appendix A), and ns-2's MAC. `--like standard --routing aodv` is RFC 3561 in
the standard's air.

`tcp-mobile-dsr` is over DSR-UU; `--routing dsr,preset=cmu` is ns-2's own DSR, and `--like standard --routing dsr` is
RFC 4728 in the standard's air. `tcp-mobile-olsr` is over OLSR with HELLOs every second and TCs every 5 s (appendix A),
which does not learn which frames the MAC gives up; `--like standard --routing olsr` is RFC 3626 in the standard's air.
"""

from analysis.tables.claims import Check, Claim, Of
from experiments import LINUX, NS2, Column, Study

GOODPUT, TIMEOUTS = "goodput_kbps", "flows.0.tcp.rtos"
AREAS = {"strip": "1500x300", "square": "1000x1000"}
SPEEDS = (2, 5, 10, 15, 20)
VARIANTS = ("newreno", "sack", "vegas")


def more(area: str, low: float, high: float, than: tuple[str, ...] = ("newreno", "sack"),
         speeds: tuple[int, ...] = SPEEDS) -> list[Check]:  # fmt: skip
    """Return checks that Vegas has more, by a percentage in this range, at each of these speeds."""
    cases = [f"{area}-{vmax}" for vmax in speeds]
    return [Check(Of("vegas", GOODPUT, case), "in", Of(base, GOODPUT, case), low, high)
            for case in cases for base in than]  # fmt: skip


def on_average(area: str) -> list[Check]:
    """Return checks that it has more than each of these, on average over all speeds."""
    some, what = tuple(f"{area}-{vmax}" for vmax in SPEEDS), "all speeds"
    return [Check(Of("vegas", GOODPUT, some, what), ">", Of(base, GOODPUT, some, what)) for base in ("newreno", "sack")]


def alike(area: str) -> list[Check]:
    """Return checks that NewReno and SACK differ by at most 1 % on average."""
    some, what = tuple(f"{area}-{vmax}" for vmax in SPEEDS), "all speeds"
    return [Check(Of("sack", GOODPUT, some, what), "in", Of("newreno", GOODPUT, some, what), 0.99, 1.01)]


FASTER = [
    Claim("C42, goodput", "less at 20 m/s than at 2",
          [Check(Of(tcp, GOODPUT, f"{area}-20"), "<", Of(tcp, GOODPUT, f"{area}-2"))
           for area in AREAS for tcp in VARIANTS]),
    Claim("C42, timeouts", "there are some at 2 m/s, too",
          [Check(Of(tcp, TIMEOUTS, f"{area}-2"), ">", 0) for area in AREAS for tcp in VARIANTS]),
]  # fmt: skip

STUDY = Study(
    name="tcp-mobile",
    title="TCP's variants among moving stations, over AODV (paper 003, section 3.5)",
    topology="mobile",
    options={
        **NS2, "routing": "aodv,preset=thesis", "rts": "full", "window_limit": 64, "seconds": 900,
        "trace": False,
    },
    cases={f"{name}-{vmax}": {"area": area, "vmax": vmax} for name, area in AREAS.items() for vmax in SPEEDS},
    rows="area, m/s",
    seeds="1..10",
    variants={tcp: {"tcp": tcp} for tcp in VARIANTS},
    names={"newreno": "NewReno", "sack": "SACK", "vegas": "Vegas"} | {
        f"{name}-{vmax}": f"{name}, {vmax} m/s" for name in AREAS for vmax in SPEEDS
    },
    quantities={
        GOODPUT: "goodput, kb/s",
        TIMEOUTS: "timeouts",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
        "flows.0.route.without_s": "the source without a route, s",
    },
    core_s=9,
    repetition=(900, 50),
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "aodv"}},
    claims=[
        Claim("C36, more", "strip: Vegas has more than NewReno and SACK", on_average("strip")),
        Claim("C36, how much", "strip: 2 to 5 % more than NewReno, 2 to 6 % more than SACK",
              more("strip", 1.02, 1.05, ("newreno",)) + more("strip", 1.02, 1.06, ("sack",))),
        Claim("C36, alike", "strip: NewReno and SACK are within 1 %", alike("strip")),
        Claim("C37, more", "square: Vegas has more than NewReno and SACK", on_average("square")),
        Claim("C37, slow", "square: about 5 % more at 2 and 5 m/s", more("square", 1.025, 1.075, speeds=(2, 5))),
        Claim("C37, 10 m/s", "square: about 3 % more", more("square", 1.015, 1.045, speeds=(10,))),
        Claim("C37, fast", "square: no more at 15 and 20 m/s (within 2 %)",
              more("square", 0.98, 1.02, speeds=(15, 20))),
        *FASTER,
    ],
)  # fmt: skip

OVER_DSR = STUDY.but(
    name="tcp-mobile-dsr",
    title="TCP's variants among moving stations, over DSR (paper 003, section 3.5)",
    core_s=6,
    options={"routing": "dsr,preset=thesis"},
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C38, more", "strip: Vegas has more than NewReno and SACK", on_average("strip")),
        Claim("C38, how much", "strip: about 5 % more", more("strip", 1.025, 1.075)),
        Claim("C39, more", "square: Vegas has more than NewReno and SACK", on_average("square")),
        Claim("C39, how much", "square: 2 to 5 % more than NewReno, 2 to 6 % more than SACK",
              more("square", 1.02, 1.05, ("newreno",)) + more("square", 1.02, 1.06, ("sack",))),
        Claim("C39, alike", "square: NewReno and SACK are within 1 %", alike("square")),
        *FASTER,
    ],
)  # fmt: skip

OVER_OLSR = STUDY.but(
    name="tcp-mobile-olsr",
    title="TCP's variants among moving stations, over OLSR (paper 003, section 3.5)",
    core_s=15,
    options={"routing": "olsr,preset=thesis"},
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "olsr"}},
    claims=[
        Claim("C40, more", "strip: Vegas has more than NewReno and SACK", on_average("strip")),
        Claim("C40, how much", "strip: 4 to 6 % more at 2, 5 and 10 m/s, about 2 % at 15",
              more("strip", 1.04, 1.06, speeds=(2, 5, 10)) + more("strip", 1.01, 1.03, speeds=(15,))),
        Claim("C41, more", "square: Vegas has more than NewReno and SACK", on_average("square")),
        Claim("C41, how much", "square: 4 to 8 % more", more("square", 1.04, 1.08)),
        *FASTER,
    ],
)  # fmt: skip
