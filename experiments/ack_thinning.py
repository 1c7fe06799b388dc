# SPDX-License-Identifier: BSD-3-Clause
"""ACK policies beside each other and beside the kernel's delayed ACK: papers 003 (5.2) and 004 (claims C80, C81).

Strings of 1 to 8 hops of 200 m, RTS/CTS before every frame, NewReno. The kernel delays ACKs at the receiver's socket.
The other policies are those of the qdisc `ackthin`, which thins the ACKs that the socket sends, one for each segment:
delayed ACKs, 1, 2 or 3 ACKs left out from segment 50 on, Dynamic Adaptive ACK (DAA), and one that follows the MAC's
failures. DAA comes twice: with NewReno, and with its own sender, which keeps its window within 4 segments.

C81 is Xu and Saadawi's, as paper 003 cites it. C80 is paper 004's, for stations around an access point.
"""

from analysis.tables.claims import Claim, compare, order
from experiments import NS2, Column, Options, Study, cwl, strings

HOPS = (1, 2, 3, 4, 6, 8)
CASES = [str(hops) for hops in HOPS]
GOODPUT = "goodput_kbps"


def thin(policy: str, **parameters: int) -> Options:
    return {"ackthin": {"policy": policy, **parameters}}


STUDY = Study(
    name="ack-thinning",
    title="ACK policies on strings (papers 003 and 004)",
    topology="string",
    options={"rts": "full", "seconds": 120, "trace": False},
    cases=strings(HOPS),
    rows="hops",
    seeds="1..3",
    variants={
        "plain": {},
        "kernel": {"ack": "delayed"},
        "delayed": thin("delayed"),
        **{f"skip{skip}": thin("skip", skip=skip) for skip in (1, 2, 3)},
        "dynamic": thin("dynamic"),
        "daa": thin("daa"),
        "daa4": {**thin("daa"), **cwl(4)},
    },
    names={
        "plain": "plain", "kernel": "delayed (kernel)", "delayed": "delayed (ackthin)", "skip1": "skip 1",
        "skip2": "skip 2", "skip3": "skip 3", "dynamic": "dynamic", "daa": "DAA", "daa4": "DAA, window 4",
    },
    quantities={GOODPUT: "goodput, kb/s", "col.total": "COL_TOTAL", "fail.total": "FAIL_TOTAL"},
    also={Column.PUBLISHED: NS2},
    claims=[
        Claim("C81", "delayed ACKs have 15..32 % more goodput",
              compare(GOODPUT, "delayed", "in", "plain", 1.15, 1.32, cases=CASES)),
        Claim("C80", "leaving out every other ACK helps everywhere", order(GOODPUT, "skip1", "plain", cases=CASES)),
        Claim("the kernel's", "thinning in the queue is worth as much as in the kernel: within 5 %",
              compare(GOODPUT, "delayed", "in", "kernel", 0.95, 1.05, cases=CASES)),
    ],
)  # fmt: skip
