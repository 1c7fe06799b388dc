# SPDX-License-Identifier: BSD-3-Clause
"""A partly upgraded network: some flows use slow congestion avoidance, or have their ACKs thinned, and the others do
not.

Paper 003 leaves open what happens in a network of which a part is upgraded. Ten NewReno flows between pairs drawn at
random in a square of 80 stations, static routes, RTS/CTS before every frame. A tenth of the flows, half of them, or all
use SCA(10), or have receivers that thin ACKs. All variants have the same pairs, so that each flow is compared with
itself where nobody has upgraded. The cases are placements.
"""

from analysis.tables.claims import Check, Claim, Of
from experiments import Options, Study, sca

FLOWS = 10
TOTAL = "goodput_kbps"
FIRST, HALF, REST, LATE = (f"flows.{which}.goodput_kbps" for which in ("0", "0-4", "5-9", "1-9"))
CASES: dict[str, Options] = {str(placement): {"placement": placement} for placement in range(1, 6)}
ALL = tuple(CASES)
SOME = {"tenth": 1, "half": 5, "all": FLOWS}


def upgraded(count: int) -> Options:
    return sca(10, ",".join(["sca"] * count + ["newreno"] * (FLOWS - count)))


def thinned(count: int) -> Options:
    return {"ackthin": {"policy": "delayed"}, "thinned_flows": count}


def than_nobody(variant: str, path: str, relation: str) -> list[Check]:
    return [Check(Of(variant, path, ALL, "all placements"), relation, Of("none", path, ALL, "all placements"))]


STUDY = Study(
    name="mixed-flows",
    title="A tenth, half or all of ten flows are upgraded (beyond paper 003)",
    topology="random",
    options={
        "stations": 80, "area": "1000x1000", "connected": "240", "flows": FLOWS, "rts": "full", "window_limit": 64,
        "seconds": 120, "trace": False, "tcp_trace": False,
    },
    cases=CASES,
    rows="placement",
    seeds="1..3",
    variants={
        "none": {"tcp": "newreno"},
        **{f"sca-{some}": upgraded(count) for some, count in SOME.items()},
        **{f"thin-{some}": thinned(count) for some, count in SOME.items()},
    },
    names={
        "none": "nobody", "sca-tenth": "SCA, a tenth", "sca-half": "SCA, half", "sca-all": "SCA, all",
        "thin-tenth": "thinned, a tenth", "thin-half": "thinned, half", "thin-all": "thinned, all",
    },
    quantities={
        TOTAL: "goodput of all, kb/s", FIRST: "of the first flow", HALF: "of the first five, each",
        REST: "of the last five, each", "fail.total": "FAIL_TOTAL",
    },
    claims=[
        Claim("SCA, all", "if all use it, all have more", than_nobody("sca-all", TOTAL, ">")),
        Claim("SCA, half, who does", "half of them: those who use it lose", than_nobody("sca-half", HALF, "<")),
        Claim("SCA, half, who does not", "half of them: those who do not gain", than_nobody("sca-half", REST, ">")),
        Claim("SCA, a tenth", "one of them: it loses", than_nobody("sca-tenth", FIRST, "<")),
        Claim("thinned, all", "if all have thinned ACKs, all have more", than_nobody("thin-all", TOTAL, ">")),
        Claim("thinned, half, who is", "half of them: those gain", than_nobody("thin-half", HALF, ">")),
        Claim("thinned, half, others", "half of them: the rest does not lose", than_nobody("thin-half", REST, ">=")),
        Claim("thinned, a tenth", "one of them: it gains", than_nobody("thin-tenth", FIRST, ">")),
        Claim("thinned, a tenth, others", "one of them: the others do not lose", than_nobody("thin-tenth", LATE, ">=")),
    ],
)  # fmt: skip
