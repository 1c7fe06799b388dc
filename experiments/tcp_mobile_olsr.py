# SPDX-License-Identifier: BSD-3-Clause
"""TCP's variants among stations that move, over OLSR: seed 003, section 3.5 (claims C40 to C42).

As `tcp-mobile`, but over OLSR with HELLOs every second and TCs every 5 s (appendix A), which tells nobody of what the
MAC gives up; `--like standard --routing olsr` is RFC 3626 in the standard's air.
"""

from dataclasses import replace

from analysis.tables.claims import Claim
from experiments import tcp_mobile
from experiments.tcp_mobile import more, on_average

STUDY = replace(
    tcp_mobile.STUDY,
    name="tcp-mobile-olsr",
    title="TCP's variants among moving stations, over OLSR (seed 003, section 3.5)",
    core_s=15,
    options={**tcp_mobile.STUDY.options, "routing": "olsr,preset=thesis"},
    claims=[
        Claim("C40, more", "strip: Vegas has more than NewReno and SACK", on_average("strip")),
        Claim("C40, how much", "strip: 4 to 6 % more at 2, 5 and 10 m/s, about 2 % at 15",
              more("strip", 1.04, 1.06, speeds=(2, 5, 10)) + more("strip", 1.01, 1.03, speeds=(15,))),
        Claim("C41, more", "square: Vegas has more than NewReno and SACK", on_average("square")),
        Claim("C41, how much", "square: 4 to 8 % more", more("square", 1.04, 1.08)),
        *tcp_mobile.FASTER,
    ],
)  # fmt: skip
