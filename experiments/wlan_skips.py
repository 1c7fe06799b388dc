# SPDX-License-Identifier: BSD-3-Clause
"""Skipping ACKs in a WLAN: paper 004 (equation 1 and figures; claims C74 to C80).

One or three stations send 1 or 10 MB each over an access point to a host behind 2 ms of wire, at 11 Mb/s with 1 Mb/s
for control frames, without RTS/CTS, with queues of 50. The host acknowledges each segment, or, after the fiftieth,
every second, third, … only. The MAC tries each frame once, or as often as the standard says. A transfer that takes more
than 1000 s counts with what it has delivered by then. All stations hear each other, so frames collide in one slot only.

Paper 004 does not say how long segments are; here they have ns-2's 1000 bytes. Its five runs differ in their times of
start, the five seeds here in their backoffs. Retries are the study's cases, as they change what a loss is.
"""

from analysis.tables.claims import Check, Claim, Of, compare, order
from experiments import NS2, Column, Options, Study

GOODPUT, SHARE, SLOT, COL = "goodput_kbps", "same_slot_share", "col.same_slot", "col.total"
SKIPS = (0, 1, 2, 3, 5)
MB = 1_000_000
ONCE: Options = {"short_retry": 1, "long_retry": 1}


def case(flows: int, size: int, tried: str) -> str:
    return f"{flows} {'flow' if flows == 1 else 'flows'}, {size} MB, {tried}"


CASES: dict[str, Options] = {
    case(flows, size, tried): {"stations": flows, "bytes": size * MB, **retries}
    for tried, retries in (("tried once", ONCE), ("retries", {}))
    for flows in (1, 3)
    for size in (1, 10)
}


ALONE = case(1, 1, "tried once"), case(1, 10, "tried once")


def gain(skip: int, least: float, most: float, *cases: str) -> list[Check]:
    """Skipping this many ACKs gives `least` to `most` times what acknowledging all gives."""
    return compare(GOODPUT, f"skip{skip}", "in", "skip0", least, most, cases=cases)


STUDY = Study(
    name="wlan-skips",
    title="ACK skipping in a WLAN (paper 004)",
    topology="wlan",
    options={
        "rate": 11, "rts": "none", "mss": 1000, "delay": 2, "tcp": "newreno", "seconds": 1000, "beacon_tu": 10_000,
    },
    seeds="1..5",
    cases=CASES,
    rows="transfers",
    variants={f"skip{n}": {"ackthin": f"skip,skip={n}"} if n else {} for n in SKIPS},
    names={f"skip{n}": f"skip {n}" if n else "all" for n in SKIPS},
    quantities={
        GOODPUT: "throughput of all, kb/s",
        "unfinished": "unfinished in 1000 s",
        SLOT: "collided in one slot",
        COL: "collided",
        SHARE: "of attempts, %",
        "fail.total": "given up",
        "queue_drops": "queue drops",
        "flows.0.tcp.rtos": "timeouts of flow1",
    },
    repetition=(1000, 5),
    also={Column.PUBLISHED: {**NS2, "rto_min_ms": 1000}},
    claims=[
        Claim("C74", "two stations pick one slot in 3 % of cases, four in 17.6 %",
              [Check(Of("skip0", SHARE, case(1, 10, "tried once")), "in", 3.1, 0.5, 2),
               Check(Of("skip0", SHARE, case(3, 10, "tried once")), "in", 17.7, 0.5, 2)]),
        Claim("C75", "one flow, tried once: about 1 Mb/s whatever its length, and all that is lost is lost in one slot",
              [Check(Of("skip0", GOODPUT, one), "in", 1000, 0.75, 1.25) for one in ALONE]
              + [Check(Of("skip0", SLOT, one), "=", Of("skip0", COL, one)) for one in ALONE]),
        Claim("C76", "one skip, tried once, one flow: up to 30 % more of 1 MB, up to 98 % of 10 MB",
              [*gain(1, 1.0, 1.3, case(1, 1, "tried once")), *gain(1, 1.3, 2.0, case(1, 10, "tried once"))]),
        Claim("C77", "more skips, tried once: sessions do not finish in 1000 s",
              [Check(Of("skip5", "unfinished", case(1, 10, "tried once")), ">", 0)]),
        Claim("C78", "with retries throughput rises with skipping, up to about 30 %; what is lost is lost in queues",
              order(GOODPUT, "skip3", "skip2", "skip1", "skip0", cases=[case(1, 10, "retries")])
              + gain(3, 1.1, 1.4, case(1, 10, "retries"))
              + [Check(Of("skip0", "fail.total", case(1, 10, "retries")), "=", 0)]),
        Claim("C79", "three flows, tried once: a skip gains, and less than a quarter",
              gain(1, 1.0, 1.25, case(3, 1, "tried once"), case(3, 10, "tried once"))),
        Claim("C80", "one skip helps everywhere",
              order(GOODPUT, "skip1", "skip0", cases=CASES)),
    ],
)  # fmt: skip
