# SPDX-License-Identifier: BSD-3-Clause
"""The gain of a faster rate over one hop and over three: each hop has the same overhead."""

from analysis.tables.claims import Claim, order
from experiments import Study, strings

GOODPUT = "goodput_kbps"

STUDY = Study(
    name="rates",
    title="2 and 11 Mb/s over short strings",
    topology="string",
    options={"spacing": 100, "seconds": 2, "trace": False},
    cases=strings([1, 3]),
    rows="hops",
    variants={"2": {"rate": 2}, "11": {"rate": 11}},
    names={"2": "2 Mb/s", "11": "11 Mb/s"},
    quantities={GOODPUT: "goodput, kb/s"},
    claims=[Claim("R1", "the faster rate carries more", order(GOODPUT, "11", "2", cases=["1", "3"]))],
)
