# SPDX-License-Identifier: BSD-3-Clause
"""How long paths are when stations move by random waypoint: paper 003, section 4.4 (claim C68).

50 stations in a strip of 1500x300 m and a square of 1000x1000 m, without a pause, at up to 2, 5 and 15 m/s; one flow
over DSR. Paper 003 says that paths are rarely longer than three hops.
"""

from analysis.tables.claims import Check, Claim, Of
from experiments import LINUX, NS2, Column, Study

SHORT, MEAN = "flows.0.route.short_share", "flows.0.route.hops_mean"
AREAS = {"strip": "1500x300", "square": "1000x1000"}
CASES = {f"{name} {vmax}": {"area": area, "vmax": vmax} for name, area in AREAS.items() for vmax in (2, 5, 15)}

STUDY = Study(
    name="path-lengths",
    title="Path lengths under random waypoint: 50 stations, DSR (paper 003, section 4.4)",
    topology="mobile",
    options={**NS2, "routing": "dsr,preset=thesis", "window_limit": 64, "seconds": 300, "tcp_trace": False},
    cases=CASES,
    rows="m/s",
    seeds="1..5",
    variants={"newreno": {"tcp": "newreno"}},
    names={"newreno": "NewReno"},
    quantities={
        SHORT: "segments over at most three hops",
        MEAN: "hops, mean of segments",
        "flows.0.route.length_mean": "hops, mean over time",
        "flows.0.route.changes": "route changes",
        "goodput_kbps": "goodput, kb/s",
    },
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C68", "nine of ten segments go over at most three hops",
              [Check(Of("newreno", SHORT, case), ">=", 0.9) for case in CASES]),
    ],
)  # fmt: skip
