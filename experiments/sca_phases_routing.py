# SPDX-License-Identifier: BSD-3-Clause
"""What a flow's time is spent on, over DSR and AODV: seed 003, section 4.4.3, table 4.3 (table T11; claim C61).

As `sca-phases`, but over the routing that the seed had, DSR-UU, over AODV-UU, and over those that ns-2 itself brings.
The air has ns-2's rules.
"""

from dataclasses import replace

from analysis.tables.claims import Check, Claim, Of
from experiments import sca_phases
from experiments.sca_fairness_routing import ROUTINGS, routing
from experiments.sca_phases import PHASES


def beside(phase: str, relation: str) -> list[Check]:
    """SCA(10), and NewReno."""
    path = f"{PHASES}{phase}_s"
    return [Check(Of("sca", path, case), relation, Of("newreno", path, case)) for case in ROUTINGS]


STUDY = replace(
    sca_phases.STUDY,
    name="sca-phases-routing",
    title="Time in each phase of TCP over DSR and AODV: 4 hops (seed 003, table 4.3)",
    core_s=2.2,
    options={**sca_phases.STUDY.options, "like": "ns2"},
    cases={case: {"routing": routing(case)} for case in ROUTINGS},
    rows="routing",
    names={**sca_phases.STUDY.names, **ROUTINGS},
    quantities={**sca_phases.STUDY.quantities, "flows.0.route.without_s": "the source without a route, s"},
    published={case: dict(sca_phases.STUDY.published[""]) for case in ROUTINGS},
    claims=[
        Claim("C61", "SCA(10) waits less for the timer than NewReno", beside("rto", "<")),
        Claim("C61, avoidance", "and is longer in congestion avoidance", beside("congestion_avoidance", ">")),
    ],
)
