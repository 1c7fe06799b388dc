# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance with two and three parallel flows among moving stations: paper 003, section 4.4.4 (claims
C64, C65).

50 stations by random waypoint in a strip of 1500x300 m for 900 s, DSR-UU, ns-2's rules, RTS/CTS before every frame: two
or three flows of one pair, NewReno or SCA(25). Paper 003 gives mean speeds, 1, 2, 5 and 10 m/s, and not the range from
which stations draw. Here the highest speed is twice the lowest, as for its 2 m/s elsewhere.
"""

from math import log

from analysis.tables.claims import Check, Claim, Of, compare
from experiments import LINUX, NS2, Column, Options, Study, sca

GOODPUT = "goodput_kbps"
PAUSES, SPEEDS = (0, 40), (1, 2, 5, 10)
VARIANTS: dict[str, Options] = {"newreno": {"tcp": "newreno"}, "sca25": sca(25)}


def moving(flows: int, pause: int, mean: int) -> Options:
    vmin = round(mean * log(2), 3)  # (vmax - vmin) / ln(vmax / vmin) is the mean over time
    model = {"model": "random_waypoint", "area": "1500x300", "vmin": vmin, "vmax": 2 * vmin, "pause": pause}
    return {"pairs": ",".join(["sta1-sta2"] * flows), "motion": model}


CASES = {(flows, pause, mean): f"{flows}-{pause}-{mean}" for flows in (2, 3) for pause in PAUSES for mean in SPEEDS}
SEED = dict(zip(SPEEDS, (12, 11, 8, 4), strict=True))  # two flows, pauses: percent


def within(flows: int, pause: int, low: float, high: float, speeds: tuple[int, ...] = SPEEDS) -> list[Check]:
    some = [CASES[flows, pause, mean] for mean in speeds]
    return compare(GOODPUT, "sca25", "in", "newreno", low, high, cases=some)


def more(flows: int) -> list[Check]:
    """Return checks of the mean over all speeds, with each pause."""
    some = {pause: tuple(CASES[flows, pause, mean] for mean in SPEEDS) for pause in PAUSES}
    sides = [[Of(tcp, GOODPUT, some[pause], f"pause {pause} s, all speeds") for tcp in VARIANTS] for pause in PAUSES]
    return [Check(sca25, ">", newreno) for newreno, sca25 in sides]


STUDY = Study(
    name="sca-flows-mobile",
    title="SCA with parallel flows among moving stations (paper 003, section 4.4.4)",
    topology="random",
    options={
        **NS2, "routing": "dsr,preset=thesis", "link": "ocb", "unreachable": True, "rts": "full",
        "window_limit": 64, "seconds": 900, "trace": False,
    },
    cases={name: moving(*of) for of, name in CASES.items()},
    rows="flows, pause, m/s",
    seeds="1..10",
    variants=VARIANTS,
    names={"newreno": "NewReno", "sca25": "SCA(25)"} | {
        name: f"{flows} flows, pause {pause} s, {mean} m/s" for (flows, pause, mean), name in CASES.items()
    },
    quantities={
        GOODPUT: "goodput of all, kb/s",
        "flows.0.tcp.rtos": "timeouts of the first flow",
        "flows.0.route.without_s": "the source without a route, s",
    },
    core_s=9,
    repetition=(900, 50),
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C64, more", "two flows: SCA(25) has more than NewReno", more(2)),
        Claim("C64, pauses",
              "two flows, pauses of 40 s: 12, 11, 8 and 4 % more at 1, 2, 5 and 10 m/s, within half of that",
              [check for mean, of in SEED.items() for check in within(2, 40, 1 + of / 200, 1 + of * 0.015, (mean,))]),
        Claim("C64, no pause", "two flows, no pause: 4 to 9 % more", within(2, 0, 1.04, 1.09)),
        Claim("C65, more", "three flows: SCA(25) has more than NewReno", more(3)),
        Claim("C65, how much", "three flows: 7 to 12 % with pauses, 5 to 8 % without",
              within(3, 40, 1.07, 1.12) + within(3, 0, 1.05, 1.08)),
    ],
)  # fmt: skip
