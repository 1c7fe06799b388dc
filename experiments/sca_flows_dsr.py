# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance with parallel flows, over DSR, as the seed ran it: seed 003, section 4.4.4 (claims C62,
C63).

As `sca-flows`, but over DSR-UU, in the air with ns-2's rules; `--routing dsr,preset=cmu` is ns-2's own.
"""

from dataclasses import replace

from experiments import sca_flows

STUDY = replace(
    sca_flows.STUDY,
    name="sca-flows-dsr",
    title="Slow congestion avoidance with parallel flows, over DSR (seed 003, section 4.4.4)",
    options={**sca_flows.STUDY.options, "like": "ns2", "routing": "dsr,preset=thesis"},
)
