# SPDX-License-Identifier: BSD-3-Clause
"""How a flow spends its time: paper 003, section 4.4.3, table 4.3 (here T11; claim C61).

Four hops of 200 m for 1000 s, RTS/CTS before every frame: NewReno, SCA(10) and adaptive CWL. Paper 003 knows three
phases, and counts fast recovery under one of them. Here fast recovery stands by itself. Time in RTO is from the
sender's last event before its timer expires until the timer expires.

`sca-phases-routing` is over the routing of the paper, DSR-UU, over AODV-UU, and over ns-2's own DSR and AODV. The air
has ns-2's rules.
"""

from collections.abc import Iterable

from analysis.tables.claims import Claim, compare
from experiments import LINUX, NS2, Column, Study, cwl, sca
from experiments.sca_fairness import ROUTINGS, routing

PHASES = "flows.0.tcp."


def claims(cases: Iterable[str] = ("",)) -> list[Claim]:
    return [
        Claim("C61", "SCA(10) waits less for the timer than NewReno",
              compare(f"{PHASES}rto_s", "sca", "<", "newreno", cases=cases)),
        Claim("C61, avoidance", "and is longer in congestion avoidance",
              compare(f"{PHASES}congestion_avoidance_s", "sca", ">", "newreno", cases=cases)),
    ]  # fmt: skip


STUDY = Study(
    name="sca-phases",
    title="Time in each phase of TCP: 4 hops (paper 003, table 4.3)",
    topology="string",
    options={"stations": 5, "rts": "full", "window_limit": 64, "seconds": 1000, "trace": False},
    seeds="1..3",
    variants={
        "newreno": {"tcp": "newreno"},
        "sca": sca(10),
        "cwl": cwl(),
    },
    names={"newreno": "NewReno", "sca": "SCA(10)", "cwl": "CWL"},
    quantities={
        f"{PHASES}slow_start_s": "slow start, s",
        f"{PHASES}congestion_avoidance_s": "congestion avoidance, s",
        f"{PHASES}recovery_s": "fast recovery, s",
        f"{PHASES}rto_s": "waiting for the timer, s",
        f"{PHASES}rtos": "timeouts",
        f"{PHASES}fast_retransmits": "fast retransmits",
        f"{PHASES}cwnd_mean": "mean cwnd, segments",
        "goodput_segments": "goodput, segments",
    },
    published={"": {
        variant: dict(zip((f"{PHASES}{phase}_s" for phase in ("slow_start", "congestion_avoidance", "rto")), seconds,
                          strict=True))
        for variant, seconds in
        {"newreno": (54.8, 842.9, 102.3), "sca": (9.7, 957.1, 33.2), "cwl": (1000.0, 0.0, 0.0)}.items()
    }},
    column=Column.CONTROL,
    claims=claims(),
)  # fmt: skip

BY_ROUTING = STUDY.but(
    name="sca-phases-routing",
    title="Time in each phase of TCP over DSR and AODV: 4 hops (paper 003, table 4.3)",
    core_s=2.2,
    options=NS2,
    cases={case: {"routing": routing(case)} for case in ROUTINGS},
    rows="routing",
    names={**STUDY.names, **ROUTINGS},
    quantities={"flows.0.route.without_s": "the source without a route, s"},
    published={case: STUDY.published[""] for case in ROUTINGS},
    column=Column.PUBLISHED,
    also={Column.TODAY: LINUX},
    claims=claims(ROUTINGS),
)
