# SPDX-License-Identifier: BSD-3-Clause
"""More retries at the MAC, or a later fast retransmit at TCP: paper 002 (table 1, here T12; claims C25-C30).

Seven stations 80 m apart with a range of 100 m, one flow end to end, in free space and without noise, RTS/CTS before
DATA, queues of 20 frames. S1 is NewReno with 7 and 4 attempts, S2 TCP-DCR with the same, S3 TCP-DCR with 14 and 8.

Paper 002 used OPNET and DSR. It does not say how far stations sense each other: here 100 m, so that the hidden
terminals of its figures are hidden. Nor does it say for how long it ran, so only ratios of its counts can be compared.
Its figure 7 shows that goodput dips now and then in S1 only. Here the dip is the slowest ten seconds beside the mean.
"""

from analysis.tables.claims import Check, Claim, Of, order
from experiments import Column, Study

SCENARIOS = ("s1", "s2", "s3")
FAST, TIMEOUTS, BOTH = (f"flows.0.tcp.{name}" for name in ("fast_retransmits", "rtos", "retransmissions_begun"))
DIP, STALL = "flows.0.tcp.dip", "flows.0.tcp.stall_s"
SHORT, LONG = "retries.short", "retries.long"

STUDY = Study(
    name="mac-retries",
    title="TCP-DCR and doubled MAC retries: 6 hops of 80 m (paper 002)",
    topology="string",
    options={
        "stations": 7, "spacing": 80, "propagation": "free-space", "ranges": "100,100", "queue": 20, "rts": "partial",
        "seconds": 900, "trace": False,
    },
    seeds="1..3",
    variants={
        "s1": {"tcp": "newreno", "short_retry": 7, "long_retry": 4},
        "s2": {"tcp": "dcr", "short_retry": 7, "long_retry": 4},
        "s3": {"tcp": "dcr", "short_retry": 14, "long_retry": 8},
    },
    names={"s1": "S1: NewReno", "s2": "S2: DCR", "s3": "S3: DCR, doubled"},
    quantities={
        "goodput_kbps": "goodput, kb/s",
        FAST: "fast retransmits",
        TIMEOUTS: "timeouts",
        BOTH: "both",
        DIP: "slowest 10 s beside the mean",
        STALL: "longest time without an ACK, s",
        SHORT: "MAC retries, short",
        LONG: "MAC retries, long",
        "losses.contention": "lost by contention, %",
        "losses.queue": "lost by queues, %",
        "responses_spoilt": "CTSs and the MAC's ACKs lost",
    },
    published={"": {
        "s1": {SHORT: 197140, LONG: 28130}, "s2": {SHORT: 183492, LONG: 26031}, "s3": {SHORT: 204285, LONG: 29285},
    }},
    also={Column.PUBLISHED: {"routing": "dsr"}},
    claims=[
        Claim("C25", "S1 loses about 2 % of the packets by contention, and hardly any in queues",
              [Check(Of("s1", "losses.contention"), "in", 2, 0.5, 2), Check(Of("s1", "losses.queue"), "<", 0.05)]),
        Claim("C26, S1", "recovers by fast retransmit rather than by timeout",
              [Check(Of("s1", FAST), ">>", Of("s1", TIMEOUTS))]),
        Claim("C26, S2", "has fewer fast retransmits than S1, and far more timeouts",
              [*order(FAST, "s1", "s2"), Check(Of("s2", TIMEOUTS), ">>", Of("s1", TIMEOUTS))]),
        Claim("C26, S3", "has the fewest of both", [*order(BOTH, "s1", "s3"), *order(BOTH, "s2", "s3")]),
        Claim("C27", "goodput: S2 is worst, S1 and S3 are alike (within 5 %)",
              [*order("goodput_kbps", "s1", "s2"), *order("goodput_kbps", "s3", "s2"),
               Check(Of("s3", "goodput_kbps"), "in", Of("s1", "goodput_kbps"), 0.95, 1.05)]),
        Claim("C28", "S1's goodput dips, to less than half for ten seconds, and S3's does not",
              [Check(Of("s1", DIP), "<", 0.5), Check(Of("s3", DIP), ">=", 0.5)]),
        Claim("C28, deeper", "S1's goodput dips deeper than S3's", order(DIP, "s3", "s1")),
        Claim("C29, S3", "costs about 4 % more MAC retries than S1",
              [Check(Of("s3", path), "in", Of("s1", path), 1.0, 1.08) for path in (SHORT, LONG)]),
        Claim("C29, S2", "costs about 7 % fewer",
              [Check(Of("s2", path), "in", Of("s1", path), 0.89, 0.97) for path in (SHORT, LONG)]),
        Claim("C30", "neither CTS nor the MAC's ACKs are ever lost to contention; packets are",
              [*(Check(Of(scenario, "responses_spoilt"), "=", 0) for scenario in SCENARIOS),
               Check(Of("s1", "losses.contention"), ">", 0)]),
    ],
)  # fmt: skip
