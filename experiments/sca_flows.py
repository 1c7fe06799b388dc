# SPDX-License-Identifier: BSD-3-Clause
"""Slow congestion avoidance with parallel flows: paper 003, section 4.4.4 (claims C62, C63).

1 to 7 flows between the ends of strings of 1 to 8 hops of 200 m, RTS/CTS before every frame, all NewReno with the same
threshold. Goodput is of all flows. Paper 003 ran 900 s and all thresholds from 0 to 50, over DSR. `sca-flows-dsr` is
over DSR-UU under ns-2's rules; `--routing dsr,preset=cmu` is ns-2's own DSR.
"""

from collections.abc import Iterable
from typing import Any

from analysis.tables.claims import Check, Claim, compare, order
from experiments import LINUX, NS2, Column, Study, sca

FLOWS, HOPS = range(1, 8), (1, 2, 3, 4, 6, 8)
GOODPUT = "goodput_kbps"
DSR: dict[str, Any] = {  # a study over DSR, and not over static routes
    "options": {**NS2, "routing": "dsr,preset=thesis"}, "column": Column.PUBLISHED,
    "also": {Column.TODAY: {**LINUX, "routing": "dsr"}},
}  # fmt: skip


def within(low: float, high: float, flows: Iterable[int], hops: Iterable[int], base: str = "0") -> list[Check]:
    """The threshold of 25, which the paper recommends for several flows."""
    cases = [f"{n}x{h}" for n in flows for h in hops]
    return compare(GOODPUT, "25", "in", base, low, high, cases=cases)


STUDY = Study(
    name="sca-flows",
    title="Slow congestion avoidance with parallel flows (paper 003, section 4.4.4)",
    topology="string",
    options={"rts": "full", "window_limit": 64, "seconds": 100, "trace": False, "tcp_trace": False},
    cases={f"{flows}x{hops}": {"flows": flows, "stations": hops + 1} for flows in FLOWS for hops in HOPS},
    variants={str(threshold): sca(threshold) for threshold in (0, 10, 25, 50)},
    names={"0": "NewReno", "10": "SCA(10)", "25": "SCA(25)", "50": "SCA(50)"} | {
        f"{flows}x{hops}": f"{flows} flow{'s' if flows > 1 else ''}, {hops} hop{'s' if hops > 1 else ''}"
        for flows in FLOWS for hops in HOPS
    },
    quantities={GOODPUT: "goodput, kb/s"},
    column=Column.CONTROL,
    claims=[
        Claim("C62, short", "two flows: no gain over 1 or 2 hops (within 5 %)", within(0.95, 1.05, [2], [1, 2])),
        Claim("C62, 3 hops", "two flows: up to 19 % over 3 hops", within(1.0, 1.19, [2], [3])),
        Claim("C62, long", "two flows: more than that beyond",
              compare(GOODPUT, "25", ">", "0", 1.19, cases=[f"2x{hops}" for hops in (4, 6, 8)])),
        Claim("C62, gain", "two and three flows: SCA(25) has more than NewReno beyond 3 hops",
              order(GOODPUT, "25", "0", cases=[f"{n}x{h}" for n in (2, 3) for h in (4, 6, 8)])),
        Claim("C62, plateau", "two and three flows: beyond 25 goodput is flat (within 5 %)",
              within(0.95, 1.05, [2, 3], [3, 4, 6, 8], base="50")),
        Claim("C63", "4 to 7 flows: hardly any effect (within 5 %)", within(0.95, 1.05, range(4, 8), HOPS)),
    ],
)  # fmt: skip

OVER_DSR = STUDY.but(
    name="sca-flows-dsr",
    title="Slow congestion avoidance with parallel flows, over DSR (paper 003, section 4.4.4)",
    **DSR,
)
