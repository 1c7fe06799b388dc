# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance beside a window limited by hop count, among moving stations: paper 003, section 4.4.2
(table 4.2; claims C57 to C59).

The networks of `sca-mobile` over DSR: NewReno, SCA(10), and CWL, which limits the window to what Chen, Xue and
Nahrstedt give for the route's hops. Linux has no Reno without partial ACKs, so NewReno stands for it.
"""

from analysis.tables.claims import Claim
from experiments import LINUX, Column, cwl, sca, sca_mobile
from experiments.sca_mobile import gains, same, together

STUDY = sca_mobile.STUDY.but(
    name="sca-cwl",
    title="SCA beside windows limited by hop count, among moving stations (paper 003, section 4.4.2)",
    core_s=9,
    variants={"newreno": {"tcp": "newreno"}, "cwl": cwl(), "sca10": sca(10)},
    names=sca_mobile.NAMES | {"newreno": "NewReno", "cwl": "CWL", "sca10": "SCA(10)"},
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C57, more", "one flow: SCA(10) has more than CWL", together("sca10", "cwl", 1)),
        Claim("C57, how much", "one flow: 4 to 9 % without a pause, 7 to 20 % with pauses",
              gains("sca10", "cwl", 1, same(1.04, 1.09, 0) | same(1.07, 1.20, 40))),
        Claim("C57, NewReno", "one flow: 4 to 26 % more than NewReno without a pause, 5 to 15 % with pauses",
              gains("sca10", "newreno", 1, same(1.04, 1.26, 0) | same(1.05, 1.15, 40))),
        Claim("C58, nothing", "one flow: CWL gains nothing on NewReno at 2 m/s without a pause (-4 %), and next to "
              "nothing at 5 m/s with pauses",
              gains("cwl", "newreno", 1, {(0, 2): (0.94, 1.02), (40, 5): (0.98, 1.02)})),
        Claim("C58, small", "one flow: on average CWL has more than NewReno", together("cwl", "newreno", 1)),
        Claim("C59, more", "five flows: SCA(10) has more than CWL", together("sca10", "cwl", 5)),
        Claim("C59, how much", "five flows: 2 to 10 % everywhere",
              gains("sca10", "cwl", 5, same(1.02, 1.10, 0) | same(1.02, 1.10, 40))),
    ],
)  # fmt: skip
