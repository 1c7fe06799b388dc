# SPDX-License-Identifier: BSD-3-Clause
"""TCP's variants among stations that move, over DSR: seed 003, section 3.5 (claims C38, C39, C42).

As `tcp-mobile`, but over DSR-UU; `--routing dsr,preset=cmu` is ns-2's own, and `--like standard --routing dsr` RFC 4728
in the standard's air.
"""

from dataclasses import replace

from analysis.tables.claims import Claim
from experiments import tcp_mobile
from experiments.tcp_mobile import alike, more, on_average

STUDY = replace(
    tcp_mobile.STUDY,
    name="tcp-mobile-dsr",
    title="TCP's variants among moving stations, over DSR (seed 003, section 3.5)",
    core_s=6,
    options={**tcp_mobile.STUDY.options, "routing": "dsr,preset=thesis"},
    claims=[
        Claim("C38, more", "strip: Vegas has more than NewReno and SACK", on_average("strip")),
        Claim("C38, how much", "strip: about 5 % more", more("strip", 1.025, 1.075)),
        Claim("C39, more", "square: Vegas has more than NewReno and SACK", on_average("square")),
        Claim("C39, how much", "square: 2 to 5 % more than NewReno, 2 to 6 % more than SACK",
              more("square", 1.02, 1.05, ("newreno",)) + more("square", 1.02, 1.06, ("sack",))),
        Claim("C39, alike", "square: NewReno and SACK are within 1 %", alike("square")),
        *tcp_mobile.FASTER,
    ],
)  # fmt: skip
