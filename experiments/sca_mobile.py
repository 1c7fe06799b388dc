# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance among moving stations, over DSR and AODV: paper 003, section 4.4.1 (claims C51 to C56).

50 stations by random waypoint in a strip of 1500x300 m for 900 s, without a pause and with one of 40 s, at up to 2, 5
and 10 m/s, RTS/CTS before every frame: one flow between two of them, or five. NewReno, as Linux has no Reno without
partial ACKs, beside SCA with thresholds of 1, 5 and 10, and Vegas. Paper 003 gives changes in percent, and not what was
delivered, as means of 50 movements. All variants meet the same movements.

DSR is DSR-UU under ns-2's rules, as in the paper. `--routing dsr,preset=cmu` is ns-2's own DSR, and
`--like standard --routing dsr` is RFC 4728 in the standard's air. `sca-mobile-aodv` is over AODV-UU with link-layer
feedback and local repair (appendix A); `--routing aodv,preset=cmu` is ns-2's own AODV, and
`--like standard --routing aodv` is RFC 3561 in the standard's air.
"""

from collections.abc import Mapping, Sequence

from analysis.tables.claims import Check, Claim, Of, order
from experiments import LINUX, NS2, Column, Options, Study, sca

GOODPUT = "goodput_kbps"
PAUSES, SPEEDS = (0, 40), (2, 5, 10)
Gains = dict[tuple[int, int], tuple[float, float]]  # by pause and speed: from how much to how much more


def case(flows: int, pause: int, vmax: int) -> str:
    return f"{flows}-{pause}-{vmax}"


CASES: dict[str, Options] = {
    case(flows, pause, vmax): {"flows": flows, "pause": pause, "vmax": vmax}
    for flows in (1, 5) for pause in PAUSES for vmax in SPEEDS
}  # fmt: skip
NAMES = {
    case(flows, pause, vmax): f"{flows} flow{'s' if flows > 1 else ''}, pause {pause} s, {vmax} m/s"
    for flows in (1, 5) for pause in PAUSES for vmax in SPEEDS
}  # fmt: skip
VARIANTS = {
    "newreno": {"tcp": "newreno"}, "sca1": sca(1), "sca5": sca(5), "sca10": sca(10), "vegas": {"tcp": "vegas"},
}  # fmt: skip


def gains(more: str, than: str, flows: int, of: Gains) -> list[Check]:
    """Return checks that a variant has more than another, by a percentage in this range."""
    return [
        Check(Of(more, GOODPUT, case(flows, *where)), "in", Of(than, GOODPUT, case(flows, *where)), low, high)
        for where, (low, high) in of.items()
    ]


def everywhere(flows: int, pauses: Sequence[int] = PAUSES) -> list[str]:
    return [case(flows, pause, vmax) for pause in pauses for vmax in SPEEDS]


def at_all_speeds(variant: str, flows: int, pause: int) -> Of:
    return Of(variant, GOODPUT, tuple(everywhere(flows, [pause])), f"pause {pause} s, all speeds")


def together(more: str, than: str, flows: int) -> list[Check]:
    """Return checks that it has more, on average over all speeds, with each pause."""
    return [Check(at_all_speeds(more, flows, pause), ">", at_all_speeds(than, flows, pause)) for pause in PAUSES]


def about(percent: Mapping[int, float], pause: int) -> Gains:
    """Return by speed the range of half the paper's gain to one and a half times it."""
    return {(pause, vmax): (1 + of / 200, 1 + of * 1.5 / 100) for vmax, of in percent.items()}


def alike(within: float) -> Gains:
    return {(pause, vmax): (1 - within, 1 + within) for pause in PAUSES for vmax in SPEEDS}


def same(low: float, high: float, pause: int) -> Gains:
    return {(pause, vmax): (low, high) for vmax in SPEEDS}


STUDY = Study(
    name="sca-mobile",
    title="Slow congestion avoidance among moving stations, over DSR (paper 003, section 4.4.1)",
    topology="mobile",
    options={
        **NS2, "routing": "dsr,preset=thesis", "rts": "full", "window_limit": 64, "seconds": 900,
        "trace": False,
    },
    cases=CASES,
    rows="flows, pause, m/s",
    seeds="1..10",
    variants=VARIANTS,
    names=NAMES | {"newreno": "NewReno", "sca1": "SCA(1)", "sca5": "SCA(5)", "sca10": "SCA(10)", "vegas": "Vegas"},
    quantities={
        GOODPUT: "goodput, kb/s",
        "flows.0.tcp.rtos": "timeouts of the first flow",
        "flows.0.tcp.cwnd_mean": "mean cwnd of the first flow, segments",
        "flows.0.route.without_s": "the first flow's source without a route, s",
    },
    core_s=9,
    repetition=(900, 50),
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C51, C52, more", "one flow: SCA(10) has more than NewReno", together("sca10", "newreno", 1)),
        Claim("C51, how much", "one flow, no pause: 4, 26 and 24 % at 2, 5 and 10 m/s, within half of that",
              gains("sca10", "newreno", 1, about({2: 4, 5: 26, 10: 24}, 0))),
        Claim("C52, how much", "one flow, pauses of 40 s: 5, 6 and 15 %, within half of that",
              gains("sca10", "newreno", 1, about({2: 5, 5: 6, 10: 15}, 40))),
        Claim("C53, SCA(1)", "one flow: SCA(10) has more than SCA(1), everywhere",
              order(GOODPUT, "sca10", "sca1", cases=everywhere(1))),
        Claim("C53, SCA(5)", "one flow: SCA(5) is close to SCA(10), within 5 %",
              gains("sca5", "sca10", 1, alike(0.05))),
        Claim("C54", "one flow: SCA(10) and Vegas differ by no more than 7 %", gains("sca10", "vegas", 1, alike(0.07))),
        Claim("C55, more", "five flows: SCA(10) has more than NewReno", together("sca10", "newreno", 5)),
        Claim("C55, how much", "five flows: 3 to 12 % without a pause, 4 to 12 % with pauses",
              gains("sca10", "newreno", 5, same(1.03, 1.12, 0) | same(1.04, 1.12, 40))),
        Claim("C56, Vegas", "five flows at 10 m/s: SCA(10) has 5 to 7 % more than Vegas",
              gains("sca10", "vegas", 5, {(0, 10): (1.035, 1.105), (40, 10): (1.025, 1.075)})),
    ],
)  # fmt: skip

OVER_AODV = STUDY.but(
    name="sca-mobile-aodv",
    title="Slow congestion avoidance among moving stations, over AODV (paper 003, section 4.4.1)",
    core_s=12,
    options={"routing": "aodv,preset=thesis"},
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "aodv"}},
    claims=[
        Claim("C53, AODV, more", "one flow: SCA(10) has more than NewReno", together("sca10", "newreno", 1)),
        Claim("C53, AODV, how much", "one flow: 4 to 10 % without a pause, 6 to 8 % with pauses",
              gains("sca10", "newreno", 1, same(1.04, 1.10, 0) | same(1.06, 1.08, 40))),
        Claim("C53, AODV, best", "one flow: on average 10 is the best of the thresholds 1, 5 and 10",
              together("sca10", "sca5", 1) + together("sca10", "sca1", 1)),
        Claim("C54, AODV", "one flow: SCA(10) and Vegas differ by no more than 4 %",
              gains("sca10", "vegas", 1, alike(0.04))),
        Claim("C56, more", "five flows: SCA(10) has more than NewReno", together("sca10", "newreno", 5)),
        Claim("C56, how much", "five flows: 2 to 5 % without a pause, 2 to 4 % with pauses",
              gains("sca10", "newreno", 5, same(1.02, 1.05, 0) | same(1.02, 1.04, 40))),
        Claim("C56, AODV, Vegas", "five flows: SCA(10) has about 5 % more than Vegas at 10 m/s without a pause",
              gains("sca10", "vegas", 5, {(0, 10): (1.025, 1.075)})),
    ],
)  # fmt: skip
