# SPDX-License-Identifier: BSD-3-Clause
"""Which threshold slow congestion avoidance should have: paper 003, section 4.4.1 (claim C50).

Strings of 3 to 15 hops of 200 m, RTS/CTS before every frame, thresholds from 0, which is NewReno, to 50. Paper 003 ran
all 51 thresholds for 900 s, over DSR and AODV. Routes are static here. `sca-sweep-dsr` is over DSR-UU under ns-2's
rules; `--routing aodv,preset=thesis` is the paper's AODV, and `preset=cmu` selects ns-2's own protocols.
"""

from analysis.tables.claims import Check, Claim, Of, order
from experiments import sca, sca_flows, strings
from experiments.sca_flows import GOODPUT

HOPS = range(3, 16)

STUDY = sca_flows.STUDY.but(
    name="sca-sweep",
    title="The threshold of slow congestion avoidance (paper 003, section 4.4.1)",
    cases=strings(HOPS),
    rows="hops",
    variants={str(threshold): sca(threshold) for threshold in (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 25, 30, 40, 50)},
    names={},
    claims=[
        Claim("C50", "beyond a threshold of 10 goodput is flat: within 5 %",
              [Check(Of(threshold, GOODPUT, str(hops)), "in", Of("10", GOODPUT, str(hops)), 0.95, 1.05)
               for hops in HOPS for threshold in ("20", "30", "50")]),
        Claim("C50, before", "and 10 is better than 0",
              order(GOODPUT, "10", "0", cases=map(str, HOPS))),
    ],
)  # fmt: skip

OVER_DSR = STUDY.but(
    name="sca-sweep-dsr",
    title="The threshold of slow congestion avoidance, over DSR (paper 003, section 4.4.1)",
    **sca_flows.DSR,
)
