# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS on a mesh, over AODV, as the seeds ran it: seeds 000, section 4, and 003, section 5.5 (claims C10 to C12,
C72, C73).

As `rts-meshes`, but over AODV-UU, in the air with ns-2's rules. `--routing aodv,preset=cmu` is ns-2's own, and `--like
standard --routing aodv` RFC 3561 in the standard's air.
"""

from dataclasses import replace

from experiments import rts_meshes

STUDY = replace(
    rts_meshes.STUDY,
    name="rts-meshes-aodv",
    title="RTS/CTS on a mesh of 5x5 stations, over AODV (seeds 000, section 4, and 003, section 5.5)",
    core_s=1.6,
    options={**rts_meshes.STUDY.options, "like": "ns2", "routing": "aodv,preset=thesis"},
    quantities={**rts_meshes.STUDY.quantities, "flows.0.route.without_s": "without a route, s: first flow's source"},
)
