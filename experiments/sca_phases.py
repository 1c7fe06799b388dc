# SPDX-License-Identifier: BSD-3-Clause
"""What a flow's time is spent on: seed 003, section 4.4.3, table 4.3 (table T11; claim C61).

Four hops of 200 m for 1000 s, RTS/CTS before every frame: NewReno, SCA(10) and adaptive CWL. The seed knows three
phases; fast recovery, which it counts under one of them, stands by itself here. Time in RTO is from the last event of
the sender before its timer expires until then.
"""

from analysis.tables.claims import Check, Claim, Of
from experiments import Study, sca

PHASES = "flows.0.tcp."

STUDY = Study(
    name="sca-phases",
    title="Time in each phase of TCP: 4 hops (seed 003, table 4.3)",
    topology="string",
    options={"stations": 5, "rts": "full", "window_limit": 64, "seconds": 1000, "trace": False},
    seeds="1..3",
    variants={
        "newreno": {"tcp": "newreno"},
        "sca": sca(10),
        "cwl": {"tcp": "cwl", "module_parameters": {"tcp_cwl.rule": "chen"}},
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
    claims=[
        Claim("C61", "SCA(10) waits less for the timer than NewReno",
              [Check(Of("sca", f"{PHASES}rto_s"), "<", Of("newreno", f"{PHASES}rto_s"))]),
        Claim("C61, avoidance", "and is longer in congestion avoidance",
              [Check(Of("sca", f"{PHASES}congestion_avoidance_s"), ">",
                     Of("newreno", f"{PHASES}congestion_avoidance_s"))]),
    ],
)  # fmt: skip
