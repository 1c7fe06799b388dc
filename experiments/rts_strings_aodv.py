# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS under parallel flows on strings, over AODV, as the seeds ran it: seeds 000, section 3, and 003, section 5.5
(claims C5 to C9, C69 to C71, C73).

As `rts-strings`, but over AODV-UU, in the air with ns-2's rules. `--routing aodv,preset=cmu` is ns-2's own, and
`--like standard --routing aodv` RFC 3561 in the standard's air.
"""

from dataclasses import replace

from experiments import rts_strings

STUDY = replace(
    rts_strings.STUDY,
    name="rts-strings-aodv",
    title="RTS/CTS under parallel flows on strings, over AODV (seeds 000, section 3, and 003, section 5.5)",
    options={**rts_strings.STUDY.options, "like": "ns2", "routing": "aodv,preset=thesis"},
    quantities={**rts_strings.STUDY.quantities, "flows.0.route.without_s": "the source without a route, s"},
)
