# SPDX-License-Identifier: BSD-3-Clause
"""Latency under load at an access point: Ending the Anomaly (USENIX ATC 2017), and airtime queue limits (AQL).

`latency`: the network of `airtime`, with four TCP flows to each client. Datagrams to a fast and to the slow client, and
a voice to the slow one, have best effort as TCP has. `aql`: one client at 13 Mb/s, with ath10k's aggregates and a
firmware that takes 1000 frames; users of OpenWrt saw more than 4 s without AQL, and less than 60 ms with it, at about
12 Mb/s.
"""

from analysis.tables.claims import Check, Claim, Of, compare, order
from experiments import Study, airtime

GOODPUT = "goodput_kbps"
PROBE = "udp,from=h1,to={},datagram_bytes=64,interval_s=0.02,start_s=1"
MEDIAN, TAIL, MOS = "flows.{}.datagrams.delay_ms.p50", "flows.{}.datagrams.delay_ms.p95", "flows.{}.datagrams.mos"
FAST, SLOW, VOICE = 3, 4, 5  # places of flows
BULK = {"traffic": {"kind": "bulk"}, "tcp": "cubic", "send_buffer": "auto", "receive_buffer": "auto"}


def more(*clients: str) -> list[str]:
    """Three more flows to each."""
    return [f"bulk,from=h1,to={client}" for client in clients for _ in range(3)]


STUDY = Study(
    name="latency",
    title="Latency under load at an access point of 802.11n (the paper Ending the Anomaly)",
    topology="wlan",
    options={
        **airtime.STUDY.options, **BULK, "seconds": 5, "trace": False,
        "application": (PROBE.format("sta1"), PROBE.format("sta3"), "voice,from=h1,to=sta3,tos=0,start_s=1",
                        *more("sta1", "sta2", "sta3")),
    },
    seeds="1..3",
    variants=airtime.VARIANTS,
    names=airtime.STUDY.names,
    quantities={
        GOODPUT: "goodput, kb/s",
        MEDIAN.format(FAST): "delay to client 1, median, ms",
        TAIL.format(FAST): "delay to client 1, 95 %, ms",
        MEDIAN.format(SLOW): "delay to the slow one, median, ms",
        TAIL.format(SLOW): "delay to the slow one, 95 %, ms",
        MOS.format(VOICE): "MOS of its voice",
    },
    published={"": {"fifo": {MOS.format(VOICE): 1.0}, "fairness": {MOS.format(VOICE): 4.4}}},
    core_s=1.0,
    claims=[
        Claim("delay", "FIFO has ten times the delay of fairness", [
            *compare(MEDIAN.format(FAST), "fifo", ">", "fairness", 10),
            *compare(MEDIAN.format(SLOW), "fifo", ">", "fairness", 10)]),
        Claim("voice", "voice in best effort is good with fairness, and useless with FIFO", [
            Check(Of("fairness", MOS.format(VOICE)), ">", 4.0), Check(Of("fifo", MOS.format(VOICE)), "<", 1.5)]),
    ],
)  # fmt: skip

AQL = Study(
    name="aql",
    title="Airtime queue limits at a client with 13 Mb/s (beyond the papers)",
    topology="wlan",
    options={
        "mode": "ac", "mcs": 1, "aggregation": "ath10k", "stations": 1, "direction": "down", "bw": 1000, **BULK,
        "seconds": 5, "trace": False, "driver_queue": 1000, "application": (PROBE.format("sta1"), *more("sta1")),
    },
    seeds="1..3",
    variants={"off": {"aql": "off"}, "on": {"aql": "on"}},
    names={"off": "without AQL", "on": "with AQL"},
    quantities={GOODPUT: "goodput, kb/s", MEDIAN.format(1): "delay, median, ms", TAIL.format(1): "delay, 95 %, ms"},
    published={"": {"off": {MEDIAN.format(1): 4000}, "on": {MEDIAN.format(1): 60}}},
    core_s=1.0,
    claims=[
        Claim("AQL", "without AQL, ten times the delay",
              order(MEDIAN.format(1), "off", "on") + compare(MEDIAN.format(1), "off", ">", "on", 10)),
        Claim("goodput", "and AQL costs less than 5 % of the goodput", compare(GOODPUT, "on", ">", "off", 0.95)),
    ],
)  # fmt: skip
