# SPDX-License-Identifier: BSD-3-Clause
"""Which threshold slow congestion avoidance should have, over DSR: seed 003, section 4.4.1 (claim C50).

As `sca-sweep`, but over DSR-UU, in the air with ns-2's rules; the seed's other routing is `--routing
aodv,preset=thesis`, and ns-2's own are those with `preset=cmu`.
"""

from dataclasses import replace

from experiments import sca_sweep

STUDY = replace(
    sca_sweep.STUDY,
    name="sca-sweep-dsr",
    title="The threshold of slow congestion avoidance, over DSR (seed 003, section 4.4.1)",
    options={**sca_sweep.STUDY.options, "like": "ns2", "routing": "dsr,preset=thesis"},
)
