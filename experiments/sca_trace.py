# SPDX-License-Identifier: BSD-3-Clause
"""The window over time under slow congestion avoidance: paper 003, section 4.3.4 (claim C49).

Four hops of 200 m for 100 s, RTS/CTS before every frame: NewReno beside SCA(4). The report shows both windows. Paper
003 shows Reno over DSR, whose window was 7 when it lost the first segment, at 0.6 s. Linux starts with a window of 10.
"""

from analysis.tables.claims import Check, Claim, Of, compare
from experiments import NS2, Column, Study, sca

WINDOW, GOODPUT = "flows.0.tcp.cwnd_max", "goodput_segments"

STUDY = Study(
    name="sca-trace",
    title="Slow congestion avoidance, the window: 4 hops (paper 003, section 4.3.4)",
    topology="string",
    options={"stations": 5, "rts": "full", "window_limit": 64, "seconds": 100},
    seeds="1..5",
    variants={"newreno": {"tcp": "newreno"}, "sca": sca(4)},
    names={"newreno": "NewReno", "sca": "SCA(4)"},
    quantities={
        GOODPUT: "goodput, segments",
        WINDOW: "largest cwnd, segments",
        "flows.0.tcp.cwnd_mean": "mean cwnd, segments",
        "flows.0.tcp.rtos": "retransmission timeouts",
        "flows.0.tcp.fast_retransmits": "fast retransmits",
        "queue_drops": "queue drops",
        "fail.total": "FAIL_TOTAL",
    },
    published={"": {"newreno": {WINDOW: 9}, "sca": {WINDOW: 5}}},
    column=Column.CONTROL,
    also={Column.PUBLISHED: {**NS2, "routing": "dsr,preset=thesis"}, Column.TODAY: {"routing": "dsr"}},
    claims=[
        Claim("C49", "SCA(4) delivers 38 % more segments",
              compare(GOODPUT, "sca", "in", "newreno", 1.38, 1.38)),
        Claim("C49, window", "SCA(4)'s window grows less", compare(WINDOW, "sca", "<", "newreno")),
        Claim("C49, queues", "no queue overflows",
              [Check(Of(variant, "queue_drops"), "=", 0) for variant in ("newreno", "sca")]),
    ],
)  # fmt: skip
