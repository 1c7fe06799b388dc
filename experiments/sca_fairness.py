# SPDX-License-Identifier: BSD-3-Clause
"""Which share a flow gets beside Reno: paper 003, section 4.4.3 (figures 4.13-4.15; claim C60).

Two flows over the same four hops of 200 m, RTS/CTS before every frame. The second is NewReno. The first is NewReno,
SCA, or has its window limited: by hop count (CWL, one segment at four hops) or to 2 to 6 segments. Paper 003 ran 900 s
over DSR, with Reno.

`sca-fairness-routing` is over the routing of the paper, DSR-UU and AODV-UU, and over ns-2's own DSR and AODV. The air
has ns-2's rules.
"""

from collections.abc import Iterable

from analysis.tables.claims import Check, Claim, Of, order
from experiments import LINUX, NS2, Column, Study, cwl, sca

FIRST, SECOND = "flows.0", "flows.1"
SHARE, WINDOW = f"{SECOND}.share", f"{SECOND}.tcp.cwnd_mean"
BESIDE = "{},newreno"
ROUTINGS = {"dsr-uu": "DSR-UU", "dsr-cmu": "CMU's DSR", "aodv-uu": "AODV-UU", "aodv-cmu": "ns-2's AODV"}


def routing(case: str) -> str:
    protocol, source = case.split("-")
    return f"{protocol},preset={'thesis' if source == 'uu' else source}"


def claims(cases: Iterable[str] = ("",)) -> list[Claim]:
    def share(variant: str, of: float, low: float, high: float) -> list[Check]:
        return [Check(Of(variant, SHARE, case), "in", of, low, high) for case in cases]

    return [
        Claim("C60", "NewReno takes more beside CWL than beside SCA(10), and more there than beside its like",
              order(SHARE, "cwl", "sca10", "newreno", cases=cases)),
        Claim("C60, CWL", "about 8/9 beside CWL", share("cwl", 8 / 9, 0.9, 1.1)),
        Claim("C60, SCA", "about 2/3 beside SCA(10)", share("sca10", 2 / 3, 0.9, 1.1)),
        Claim("C60, Reno", "half beside its like", share("newreno", 1 / 2, 0.9, 1.1)),
        Claim("C60, clamp", "a limit of 6 is nearly fair", share("6", 1 / 2, 0.9, 1.2)),
        Claim("C60, windows", "NewReno's window is largest beside CWL, whose own is about 1",
              order(WINDOW, "cwl", "newreno", cases=cases)
              + [Check(Of("cwl", f"{FIRST}.tcp.cwnd_mean", case), "~", 1) for case in cases]),
    ]  # fmt: skip


STUDY = Study(
    name="sca-fairness",
    title="Fairness beside NewReno: two flows over 4 hops (paper 003, section 4.4.3)",
    topology="string",
    options={"stations": 5, "flows": 2, "rts": "full", "window_limit": 64, "seconds": 300, "trace": False},
    seeds="1..3",
    variants={
        "newreno": {"tcp": "newreno"},
        "sca5": sca(5, BESIDE.format("sca")),
        "sca10": sca(10, BESIDE.format("sca")),
        "cwl": cwl(0, BESIDE.format("cwl")),
        **{f"{limit}": cwl(limit, BESIDE.format("cwl")) for limit in range(2, 7)},
    },
    names={
        "newreno": "NewReno", "sca5": "SCA(5)", "sca10": "SCA(10)", "cwl": "CWL",
        **{str(limit): f"{limit} seg." for limit in range(2, 7)},
    },
    quantities={
        f"{FIRST}.share": "share of the first flow",
        SHARE: "share of NewReno beside it",
        f"{FIRST}.tcp.cwnd_mean": "mean cwnd of the first",
        WINDOW: "mean cwnd of NewReno",
        f"{FIRST}.tcp.rtos": "timeouts of the first",
        f"{SECOND}.tcp.rtos": "timeouts of NewReno",
        "goodput_kbps": "goodput of both, kb/s",
    },
    published={"": {
        "newreno": {f"{FIRST}.share": 1 / 2, SHARE: 1 / 2, WINDOW: 5.68},
        "sca10": {f"{FIRST}.share": 1 / 3, SHARE: 2 / 3},
        "cwl": {f"{FIRST}.share": 1 / 9, SHARE: 8 / 9, f"{FIRST}.tcp.cwnd_mean": 1,
                WINDOW: 7.3},
    }},
    column=Column.CONTROL,
    claims=claims(),
)  # fmt: skip

BY_ROUTING = STUDY.but(
    name="sca-fairness-routing",
    title="Fairness beside NewReno over DSR and AODV: two flows, 4 hops (paper 003, section 4.4.3)",
    core_s=0.8,
    options=NS2,
    cases={case: {"routing": routing(case)} for case in ROUTINGS},
    rows="routing",
    names={**STUDY.names, **ROUTINGS},
    published={},  # as STUDY has them: nine variants leave no room beside
    column=Column.PUBLISHED,
    also={Column.TODAY: LINUX},
    claims=claims(ROUTINGS),
)
