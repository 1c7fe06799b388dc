# SPDX-License-Identifier: BSD-3-Clause
"""TCP small queues over 802.11n and ac: Grazia, Patriciello, Høiland-Jørgensen and Casoni, Adapting TCP Small Queues
for IEEE 802.11 Networks, PIMRC 2018.

A socket may have 2^-N s of its data below it: 1 ms with N = 10, as on wires, and 8 ms with the 7 that mac80211 has set
since then. The publication had twice the goodput in 802.11n, and up to ten times in 802.11ac. Two stations and one
CUBIC flow: HT20 with ath9k's aggregates, VHT80 with ath10k's.

Since 5.18 Linux makes longer bursts where round-trip times are short (`tcp_tso_rtt_log`), and small queues let two
bursts wait in any case. The cases *pacing* switch that off.
"""

from analysis.tables.claims import Claim, compare
from experiments import Options, Study

GOODPUT, SRTT = "goodput_kbps", "flows.0.tcp.srtt_ms"
COMMON: Options = {"streams": 2, "guard": 0.4}
MODES: dict[str, Options] = {
    "HT20": {**COMMON, "mode": "n", "mcs": 7},
    "VHT80": {**COMMON, "mode": "ac", "width": 80, "mcs": 9, "aggregation": "ath10k"},
}
PACING: Options = {"sysctl": {"net.ipv4.tcp_tso_rtt_log": "0"}}
PACED = {f"{mode}, pacing": {**options, **PACING} for mode, options in MODES.items()}

STUDY = Study(
    name="pacing-shift",
    title="TCP small queues over 802.11n and ac (the paper Adapting TCP Small Queues)",
    topology="string",
    options={
        "stations": 2, "spacing": 20, "tcp": "cubic", "send_buffer": "auto", "receive_buffer": "auto", "seconds": 1,
        "trace": False,
    },
    cases=MODES | PACED,
    rows="mode",
    seeds="1..3",
    variants={f"shift{n}": {"pacing_shift": n} for n in (10, 8, 7, 6, 12, 14)},
    names={f"shift{n}": f"2^-{n} s" for n in (10, 8, 7, 6, 12, 14)},
    quantities={GOODPUT: "goodput, kb/s", SRTT: "SRTT, ms"},
    core_s=0.4,
    claims=[
        Claim("doubles", "802.11n: 8 ms of data give twice the goodput of 1 ms",
              compare(GOODPUT, "shift7", ">>", "shift10", cases=["HT20"])),
        Claim("tenfold", "802.11ac: more than twice",
              compare(GOODPUT, "shift7", ">>", "shift10", cases=["VHT80"])),
        Claim("enough", "1 ms gives 93 % of what 16 ms do",
              compare(GOODPUT, "shift10", ">", "shift6", 0.93, cases=[*MODES, *PACED])),
        Claim("cause", "where pacing alone sizes bursts, 1/16 ms is too little; else it is enough",
              compare(GOODPUT, "shift14", "<", "shift6", 0.9, cases=PACED)
              + compare(GOODPUT, "shift14", ">", "shift6", 0.9, cases=MODES)),
        Claim("delay", "8 ms of data cost round-trip time",
              compare(SRTT, "shift7", ">", "shift10", cases=MODES)),
    ],
)  # fmt: skip
