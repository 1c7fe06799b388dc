# SPDX-License-Identifier: BSD-3-Clause
"""How fine the timer of Dynamic Adaptive ACK must be: paper 003, section 5.3.1 (table 5.1, here T9; claim C67).

Strings of 3 to 11 hops of 200 m for 120 s, RTS/CTS before every frame. An ACK that DAA has delayed leaves only at
multiples of the granularity G. DAA's sender keeps its window within 4 segments, as CWL with a fixed limit does. Its
receiver is the qdisc `ackthin`, which thins the ACKs that Linux sends for each segment.
"""

from analysis.tables.claims import Check, Claim, Of
from experiments import NS2, Column, Study, cwl, strings

HOPS, GRANULARITIES = range(3, 12), (0, 10, 50, 200, 500)  # ms
GOODPUT = "goodput_segments"
T9 = {
    3: (6237, 6299, 6311, 6305, 6293), 4: (4370, 4388, 4295, 3900, 3504), 5: (3777, 3727, 3621, 3517, 3011),
    6: (3257, 3320, 3231, 3043, 2618), 7: (3129, 3064, 2997, 2851, 2450), 8: (2910, 2873, 2797, 2686, 2320),
    9: (2800, 2747, 2679, 2516, 2156), 10: (2652, 2624, 2542, 2429, 1962), 11: (2465, 2474, 2517, 2459, 1963),
}  # fmt: skip


def within(granularities: tuple[int, ...], hops: range, low: float, high: float) -> list[Check]:
    return [Check(Of(f"{g}ms", GOODPUT, str(h)), "in", Of("0ms", GOODPUT, str(h)), low, high)
            for h in hops for g in granularities]  # fmt: skip


STUDY = Study(
    name="daa-granularity",
    title="The timer of Dynamic Adaptive ACK (paper 003, table 5.1)",
    topology="string",
    options={"rts": "full", "window_limit": 64, "seconds": 120, "trace": False, "tcp_trace": False, **cwl(4)},
    cases=strings(HOPS),
    rows="hops",
    seeds="1..3",
    variants={f"{g}ms": {"ackthin": {"policy": "daa", "granularity_us": 1000 * g}} for g in GRANULARITIES},
    names={f"{g}ms": f"{g} ms" for g in GRANULARITIES},
    quantities={GOODPUT: "goodput, segments"},
    published={
        str(hops): {f"{g}ms": {GOODPUT: segments} for g, segments in zip(GRANULARITIES, row, strict=True)}
        for hops, row in T9.items()
    },
    also={Column.PUBLISHED: {**NS2, "routing": "aodv,preset=thesis"}},
    claims=[
        Claim("C67, fine", "10 and 50 ms are as good as 0: within 5 %", within((10, 50), HOPS, 0.95, 1.05)),
        Claim("C67, 200 ms", "costs 7..12 % over 4 to 10 hops", within((200,), range(4, 11), 0.88, 0.93)),
        Claim("C67, 500 ms", "costs 20..26 % from 4 hops on", within((500,), range(4, 12), 0.74, 0.80)),
        Claim("C67, coarse", "200 ms costs less than 500 ms, and more than nothing, from 4 hops on",
              [Check(Of(a, GOODPUT, str(h)), ">", Of(b, GOODPUT, str(h)))
               for h in range(4, 12) for a, b in (("0ms", "200ms"), ("200ms", "500ms"))]),
        Claim("C67, 3 hops", "none costs anything over 3 hops: within 5 %",
              within((10, 50, 200, 500), range(3, 4), 0.95, 1.05)),
    ],
)  # fmt: skip
