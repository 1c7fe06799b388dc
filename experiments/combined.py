# SPDX-License-Identifier: BSD-3-Clause
"""Remedies at the sender, the receiver and the MAC together: what paper 003, section 5.6, leaves to others.

Slow congestion avoidance sends less, ACK thinning acknowledges less, and without RTS/CTS the MAC sends fewer control
frames. Each alone, in pairs, and all three, on strings of 4 and 8 hops: over static routes, and over ns-2's own DSR,
where SCA gains (`sca-routing`). If the remedies were independent, their factors would multiply.
"""

from itertools import chain, combinations

from analysis.tables.claims import Claim, compare, order
from experiments import Options, Study, sca

GOODPUT, ENERGY = "goodput_kbps", "energy.beyond_idle_per_mb"
REMEDIES: dict[str, tuple[str, Options]] = {
    "sca": ("SCA(10)", sca(10)),
    "thin": ("thinned ACKs", {"ackthin": {"policy": "delayed"}}),
    "no": ("no RTS", {"rts": "none"}),
}
SETS = list(chain.from_iterable(combinations(REMEDIES, count) for count in range(4)))
ROUTINGS = {"static": "manet_static", "DSR": "dsr,preset=cmu"}
CASES = [f"{routing} {hops}" for routing in ROUTINGS for hops in (4, 8)]


def name(remedies: tuple[str, ...]) -> str:
    return "+".join(remedies) or "none"


def together(remedies: tuple[str, ...]) -> Options:
    merged: dict[str, object] = {}
    for remedy in remedies:
        merged |= REMEDIES[remedy][1]
    return merged


STUDY = Study(
    name="combined",
    title="SCA, ACK thinning and RTS/CTS together (beyond paper 003, section 5.6)",
    topology="string",
    options={"like": "ns2", "rts": "full", "window_limit": 64, "seconds": 200, "trace": False, "tcp_trace": False},
    cases={case: {"routing": ROUTINGS[case.split()[0]], "stations": int(case.split()[1]) + 1} for case in CASES},
    rows="routing, hops",
    seeds="1..5",
    variants={name(remedies): together(remedies) for remedies in SETS},
    names={name(remedies): ", ".join(REMEDIES[each][0] for each in remedies) or "none" for remedies in SETS},
    quantities={GOODPUT: "goodput, kb/s", "fail.total": "FAIL_TOTAL", ENERGY: "J/MB beyond idling"},
    claims=[
        Claim("all", "all three have more goodput than any one", [
            check for remedy in REMEDIES for check in order(GOODPUT, "sca+thin+no", remedy, cases=CASES)]),
        Claim("all, pairs", "all three have more goodput than any two", [
            check for pair in combinations(REMEDIES, 2)
            for check in order(GOODPUT, "sca+thin+no", name(pair), cases=CASES)]),
        Claim("thinning and RTS", "without RTS/CTS thinning still gains", order(GOODPUT, "thin+no", "no", cases=CASES)),
        Claim("energy", "all three deliver a megabyte with less than none of them",
              compare(ENERGY, "sca+thin+no", "<", "none", cases=CASES)),
    ],
)  # fmt: skip
