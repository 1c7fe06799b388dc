# SPDX-License-Identifier: BSD-3-Clause
"""A threshold by the route's length, among moving stations: paper 003, section 4.4.1 (table 4.4; claim C66).

Adaptive SCA takes the threshold that was best on strings of as many hops as the route has, from 4 hops on. Over fewer
hops it is NewReno, or, in a second variant, has the threshold for 4 hops. DSR, one flow, a strip, no pause; the rest is
as in `sca-mobile`.
"""

from analysis.tables.claims import Claim
from experiments import LINUX, Column, sca, sca_mobile
from experiments.sca_mobile import case, gains, same


def adaptive(min_hops: int) -> dict[str, object]:
    return {"tcp": "sca", "module_parameters": {"tcp_sca.adaptive": "dsr", "tcp_sca.min_hops": str(min_hops)}}


ONE = [case(1, 0, vmax) for vmax in sca_mobile.SPEEDS]
STUDY = sca_mobile.STUDY.but(
    name="sca-adaptive",
    title="SCA's threshold by hop count, among moving stations (paper 003, table 4.4)",
    core_s=6,
    cases={name: sca_mobile.CASES[name] for name in ONE},
    variants={"sca10": sca(10), "adaptive": adaptive(0), "off": adaptive(4), "newreno": {"tcp": "newreno"}},
    names={name: sca_mobile.NAMES[name] for name in ONE} | {
        "sca10": "SCA(10)", "adaptive": "adaptive", "off": "adaptive, off below 4 hops", "newreno": "NewReno",
    },
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    claims=[
        Claim("C66", "adaptive SCA has 1 % less to 1.5 % more than SCA(10)",
              gains("adaptive", "sca10", 1, same(0.99, 1.015, 0))),
        Claim("C66, off", "and so if it is off below 4 hops", gains("off", "sca10", 1, same(0.99, 1.015, 0))),
    ],
)  # fmt: skip
