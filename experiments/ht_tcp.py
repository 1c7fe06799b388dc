# SPDX-License-Identifier: BSD-3-Clause
"""Thinned ACKs and congestion controls over 802.11n and ac: what is left of the gains of papers 003 and 004 when ACKs
ride in aggregates.

`ht-acks`: one CUBIC flow over 1 and 4 hops. An ACK for each segment, the kernel's delayed ACKs, every second and
every fourth ACK only, and Dynamic Adaptive ACK with its sender's window of 4 segments. HT20 without aggregation is the
control. TACK (SIGCOMM 2020) has 90 % fewer ACKs, and about 28 % more goodput.

`ht-tcp`: CUBIC, BBR and the controls of papers 002 and 003 over the same strings. BBR-n (PLOS ONE 2023) is about BBRv2,
whose pacing starves the aggregates of 802.11ac; Linux has BBRv1.
"""

from analysis.tables.claims import Claim, compare, order
from experiments import Options, Study, cwl, sca

GOODPUT, SRTT = "goodput_kbps", "flows.0.tcp.srtt_ms"
HT20: Options = {"mode": "n", "mcs": 7}
VHT80: Options = {"mode": "ac", "width": 80, "streams": 2, "mcs": 9, "aggregation": "ath10k"}
MODES: dict[str, Options] = {"HT20": HT20, "VHT80": VHT80, "single": {**HT20, "aggregation": "none"}}
CLOSER: Options = {**VHT80, "aggregation": "mt76"}
HOPS = (1, 4)


def cases(modes: dict[str, Options]) -> dict[str, Options]:
    return {f"{mode} {hops}": {**options, "stations": hops + 1} for mode, options in modes.items() for hops in HOPS}


SINGLE_NAMES = {f"single {hops}": f"HT20, no aggregation {hops}" for hops in HOPS}


STUDY = Study(
    name="ht-acks",
    title="ACK thinning under aggregation: 802.11n and ac (beyond papers 003 and 004)",
    topology="string",
    options={"tcp": "cubic", "send_buffer": "auto", "receive_buffer": "auto", "seconds": 2, "trace": False,
             "tcp_trace": False},
    cases=cases({**MODES, "mt76": CLOSER}),
    rows="mode, hops",
    seeds="1..3",
    variants={
        "plain": {},
        "kernel": {"ack": "delayed"},
        "skip1": {"ackthin": {"policy": "skip", "skip": 1}},
        "skip3": {"ackthin": {"policy": "skip", "skip": 3}},
        "daa4": {"ackthin": {"policy": "daa"}, **cwl(4)},
    },
    names={"plain": "plain", "kernel": "delayed", "skip1": "every 2nd", "skip3": "every 4th", "daa4": "DAA, window 4"}
    | SINGLE_NAMES | {f"mt76 {hops}": f"VHT80, mt76 {hops}" for hops in HOPS},
    quantities={GOODPUT: "goodput, kb/s"},
    core_s=1.0,
    claims=[
        Claim("single", "without aggregation thinner ACKs gain over a hop, as in paper 004",
              order(GOODPUT, "skip3", "skip1", "plain", cases=["single 1"])),
        Claim("HT20", "HT20: over a hop, every second ACK gains less with aggregates: at most 8 %",
              compare(GOODPUT, "skip1", "in", "plain", 0.98, 1.08, cases=["HT20 1"])),
        Claim("VHT80", "VHT80: every fourth ACK gains 15 % and more",
              compare(GOODPUT, "skip3", "in", "plain", 1.15, 2.0, cases=["VHT80 1", "VHT80 4"])),
        Claim("spacing", "over a hop, MPDUs that start 4 us apart, not 8, lower that gain",
              compare(GOODPUT, "skip3", ">", "plain", 1.25, cases=["VHT80 1"])
              + compare(GOODPUT, "skip3", "<", "plain", 1.25, cases=["mt76 1"])),
        Claim("DAA", "VHT80: a window of 4 segments halves the goodput",
              compare(GOODPUT, "plain", ">>", "daa4", cases=["VHT80 1", "VHT80 4"])),
    ],
)  # fmt: skip

TCPS = {"cubic": "CUBIC", "newreno": "NewReno", "bbr": "BBR", "sca": "SCA(10)", "cwl": "CWL", "dcr": "TCP-DCR"}
CONTROLS = Study(
    name="ht-tcp",
    title="Congestion controls over 802.11n and ac (beyond papers 002 and 003)",
    topology="string",
    options={"send_buffer": "auto", "receive_buffer": "auto", "seconds": 2, "trace": False},
    cases=cases(MODES),
    rows="mode, hops",
    seeds="1..3",
    variants={**{tcp: {"tcp": tcp} for tcp in TCPS}, "sca": sca(10), "cwl": cwl()},
    names=TCPS | SINGLE_NAMES,
    quantities={GOODPUT: "goodput, kb/s", SRTT: "SRTT, ms"},
    core_s=1.0,
    claims=[
        Claim("BBR", "BBR has half of CUBIC's goodput over 802.11ac, or less",
              compare(GOODPUT, "cubic", ">>", "bbr", cases=["VHT80 1"])),
        Claim("CWL", "a window of a quarter of the hops starves aggregates",
              compare(GOODPUT, "cubic", ">>", "cwl", cases=["HT20 4", "VHT80 1", "VHT80 4"])),
    ],
)  # fmt: skip
