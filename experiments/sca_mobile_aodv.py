# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance among stations that move, over AODV: seed 003, section 4.4.1 (claims C53, C54, C56).

As `sca-mobile`, but over AODV-UU with link-layer feedback and local repair (appendix A); `--routing aodv,preset=cmu` is
ns-2's own, and `--like standard --routing aodv` RFC 3561 in the standard's air.
"""

from dataclasses import replace

from analysis.tables.claims import Claim
from experiments import sca_mobile
from experiments.sca_mobile import alike, gains, same, together

STUDY = replace(
    sca_mobile.STUDY,
    name="sca-mobile-aodv",
    title="Slow congestion avoidance among moving stations, over AODV (seed 003, section 4.4.1)",
    core_s=12,
    options={**sca_mobile.STUDY.options, "routing": "aodv,preset=thesis"},
    claims=[
        Claim("C53, AODV, more", "one flow: SCA(10) has more than NewReno", together("sca10", "newreno", 1)),
        Claim("C53, AODV, how much", "one flow: 4 to 10 % without a pause, 6 to 8 % with pauses",
              gains("sca10", "newreno", 1, same(1.04, 1.10, 0) | same(1.06, 1.08, 40))),
        Claim("C53, AODV, best", "one flow: 10 is the best of the thresholds 1, 5 and 10, in the mean",
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
