# SPDX-License-Identifier: BSD-3-Clause
"""The airtime anomaly and its end: Høiland-Jørgensen, Kazior, Täht, Hurtig and Brunstrom, Ending the Anomaly, USENIX
ATC 2017.

An access point of 802.11n with ath9k's rules and three clients: two at MCS 15 of 20 MHz, and one at MCS 0. UDP to all
of them, more than they can have. *FIFO* is one queue of 1000 frames below mac80211, without airtime fairness: Linux
before 2016. *Queues* are mac80211's, with fq_codel, without airtime fairness. *Fairness* is Linux as it is. Without
aggregation, the queues alone do not help.

Published numbers are of hardware, whose two fast clients were not quite alike. `airtime-30` has 30 clients and TCP;
its slow client has 7.2 Mb/s, that of the publication 1 Mb/s.
"""

from dataclasses import replace

from analysis.tables.claims import Check, Claim, Of, compare, order
from experiments import Options, Study

GOODPUT, SIZE = "goodput_kbps", "aggregates.size"
SHARES = [f"aggregates.airtime_share.sta{n}" for n in (1, 2, 3)]
FLOWS = [f"flows.{n}.goodput_kbps" for n in range(3)]
LINUX, NONE = "ath9k's aggregates", "no aggregation"
BEFORE_2016: Options = {"driver_queue": 1000, "airtime_fairness": False}
VARIANTS: dict[str, Options] = {"fifo": BEFORE_2016, "queues": {"airtime_fairness": False}, "fairness": {}}
SLOW = SHARES[2]

STUDY = Study(
    name="airtime",
    title="The airtime anomaly and its end: two fast clients and a slow one (the paper Ending the Anomaly)",
    topology="wlan",
    options={
        "mode": "n", "mcs": 7, "streams": 2, "guard": 0.4, "stations": 3, "slow": 1, "direction": "down", "bw": 1000,
        "traffic": {"kind": "udp", "rate_kbps": 60_000, "datagram_bytes": 1460}, "seconds": 2,
    },
    cases={LINUX: {}, NONE: {"aggregation": "none"}},
    rows="aggregation",
    seeds="1..3",
    variants=VARIANTS,
    names={"fifo": "FIFO", "queues": "queues", "fairness": "fairness"},
    quantities={
        GOODPUT: "goodput, kb/s",
        **{path: f"of client {n}, kb/s" for n, path in enumerate(FLOWS, 1)},
        **{path: f"airtime to client {n}, %" for n, path in enumerate(SHARES, 1)},
        SIZE: "MPDUs in a PPDU",
    },
    published={LINUX: {
        "fifo": {GOODPUT: 18_700, **dict(zip(SHARES, (10, 11, 79), strict=True))},
        "fairness": {GOODPUT: 76_400, **dict(zip(FLOWS, (38_800, 35_600, 2_000), strict=True)),
                     **dict(zip(SHARES, (33, 33, 33), strict=True))},
    }},
    core_s=2.0,
    claims=[
        Claim("anomaly", "FIFO: the slow client has most of the airtime",
              [Check(Of("fifo", SLOW, LINUX), "in", 79, 0.75, 1.25)]),
        Claim("fairness", "with airtime fairness each has a third",
              [Check(Of("fairness", path, case), "in", 100 / 3, 0.97, 1.03) for path in SHARES
               for case in (LINUX, NONE)]),
        Claim("goodput", "fairness has 4.1 times the goodput of FIFO",
              compare(GOODPUT, "fairness", "~", "fifo", 4.1, cases=[LINUX])),
        Claim("order", "goodput: fairness > queues > FIFO",
              order(GOODPUT, "fairness", "queues", "fifo", cases=[LINUX])),
        Claim("cause", "without aggregation, queues alone leave the anomaly as it is",
              compare(SLOW, "queues", "~", "fifo", cases=[NONE])),
    ],
)  # fmt: skip

MANY = replace(
    STUDY,
    name="airtime-30",
    title="The airtime anomaly among 30 clients, one of them slow, with TCP (the paper Ending the Anomaly)",
    options={**STUDY.options, "stations": 30, "traffic": {"kind": "bulk"}, "tcp": "cubic", "seconds": 3},
    cases={"": {}},
    rows="",
    quantities={GOODPUT: "goodput, kb/s", "aggregates.airtime_share.sta30": "airtime to the slow client, %",
                SIZE: "MPDUs in a PPDU"},
    published={"": {"fifo": {GOODPUT: 3_300}, "fairness": {GOODPUT: 17_700}}},
    core_s=1.6,
    claims=[Claim("30, order", "goodput: fairness > FIFO", order(GOODPUT, "fairness", "fifo"))],
)  # fmt: skip
