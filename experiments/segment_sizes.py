# SPDX-License-Identifier: BSD-3-Clause
"""How long segments should be over several hops: what paper 001 leaves to others.

A longer segment carries more with each exchange of the MAC, and is exposed to hidden stations for longer. Strings of 1
to 8 hops at 2 and at 11 Mb/s, with RTS/CTS before every frame and before none, NewReno. Segments of 536 bytes, the
least that any IPv4 station takes, to 1460.
"""

from analysis.tables.claims import Claim, order
from experiments import Study

GOODPUT = "goodput_kbps"
SIZES, HOPS = (536, 1000, 1460), (1, 2, 4, 8)
CASES = {
    f"{rate} Mb/s, {said}, {hops}": {"rate": rate, "rts": rts, "stations": hops + 1}
    for rate in (2, 11) for rts, said in (("full", "Full"), ("none", "No")) for hops in HOPS
}  # fmt: skip

STUDY = Study(
    name="segment-sizes",
    title="Segment sizes over several hops (beyond paper 001)",
    topology="string",
    options={"window_limit": 64, "seconds": 120, "trace": False, "tcp_trace": False},
    cases=CASES,
    rows="rate, RTS/CTS, hops",
    seeds="1..3",
    variants={str(size): {"mss": size} for size in reversed(SIZES)},
    names={str(size): f"{size} B" for size in SIZES},
    quantities={GOODPUT: "goodput, kb/s", "losses.contention": "given up, % of packets", "energy.per_mb": "J/MB"},
    claims=[
        Claim("longer", "longer segments carry more, everywhere",
              order(GOODPUT, *(str(size) for size in reversed(SIZES)), cases=CASES)),
    ],
)  # fmt: skip
