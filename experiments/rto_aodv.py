# SPDX-License-Identifier: BSD-3-Clause
"""Retransmission timeouts over AODV: seed 003, section 3.6, as `rto`, but over the seed's routing (claims C43, C44).

AODV-UU with link-layer feedback and local repair (appendix A); the air has ns-2's rules.
"""

from dataclasses import replace

from experiments import rto

STUDY = replace(
    rto.STUDY,
    name="rto-aodv",
    title="Retransmission timeouts over AODV: 5 hops (seed 003, table 3.7)",
    options={**rto.STUDY.options, "like": "ns2", "routing": "aodv,preset=thesis"},
    quantities={**rto.STUDY.quantities, "flows.0.route.without_s": "without a route, s"},
)
