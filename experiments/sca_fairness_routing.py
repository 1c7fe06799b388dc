# SPDX-License-Identifier: BSD-3-Clause
"""Who gets how much beside Reno, over DSR and AODV: seed 003, section 4.4.3 (figures 4.13-4.15; claim C60).

As `sca-fairness`, but over the routing that the seed had: DSR-UU and AODV-UU; and over those that ns-2 itself brings.
The air has ns-2's rules. The seed ran 900 s.
"""

from dataclasses import replace

from analysis.tables.claims import Check, Claim, Of, order
from experiments import sca_fairness
from experiments.sca_fairness import FIRST, SHARE, WINDOW

ROUTINGS = {"dsr-uu": "DSR-UU", "dsr-cmu": "CMU's DSR", "aodv-uu": "AODV-UU", "aodv-cmu": "ns-2's AODV"}


def routing(case: str) -> str:
    protocol, source = case.split("-")
    return f"{protocol},preset={'thesis' if source == 'uu' else source}"


def share(variant: str, of: float, low: float, high: float) -> list[Check]:
    return [Check(Of(variant, SHARE, case), "in", of, low, high) for case in ROUTINGS]


STUDY = replace(
    sca_fairness.STUDY,
    name="sca-fairness-routing",
    title="Fairness beside NewReno over DSR and AODV: two flows, 4 hops (seed 003, section 4.4.3)",
    core_s=0.8,
    options={**sca_fairness.STUDY.options, "like": "ns2"},
    cases={case: {"routing": routing(case)} for case in ROUTINGS},
    rows="routing",
    names={**sca_fairness.STUDY.names, **ROUTINGS},
    published={},  # as `sca-fairness` has them: nine variants leave no room beside
    claims=[
        Claim("C60", "NewReno takes more beside CWL than beside SCA(10), and more there than beside its like",
              order(SHARE, "cwl", "sca10", "newreno", cases=ROUTINGS)),
        Claim("C60, CWL", "about 8/9 beside CWL", share("cwl", 8 / 9, 0.9, 1.1)),
        Claim("C60, SCA", "about 2/3 beside SCA(10)", share("sca10", 2 / 3, 0.9, 1.1)),
        Claim("C60, Reno", "half beside its like", share("newreno", 1 / 2, 0.9, 1.1)),
        Claim("C60, clamp", "a limit of 6 is nearly fair", share("6", 1 / 2, 0.9, 1.2)),
        Claim("C60, windows", "NewReno's window is largest beside CWL, whose own is about 1",
              order(WINDOW, "cwl", "newreno", cases=ROUTINGS)
              + [Check(Of("cwl", f"{FIRST}.tcp.cwnd_mean", case), "~", 1) for case in ROUTINGS]),
    ],
)  # fmt: skip
