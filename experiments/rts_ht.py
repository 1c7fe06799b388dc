# SPDX-License-Identifier: BSD-3-Clause
"""RTS/CTS under TCP once more, over 802.11n and 802.11ac: the question of paper 000 with aggregates.

Strings of 2 to 6 hops of 200 m, one CUBIC flow end to end, ath9k's aggregates. HT20 has 65 Mb/s (MCS 7), VHT80 has
780 Mb/s (MCS 9, two streams). RTS/CTS before every PPDU, before PPDUs with long MPDUs only (TCP DATA), or before none.
Paper 000, at 2 Mb/s: No > Partial > Full.

Two controls switch causes off. Without aggregation HT20 differs in aggregates only. At 58.5 Mb/s (MCS 0) VHT80 differs
in the duration of its PPDUs only: they take up to 4 ms, as those of HT20 do, and not half a millisecond.
"""

from analysis.tables.claims import Claim, compare, order
from experiments import RTS, RTS_NAMES, RTS_PHRASES, Options, Study

GOODPUT, DATA, ACK = "goodput_kbps", "col.data", "col.ack"
HOPS = (2, 3, 4, 6)
HT20: Options = {"mode": "n", "mcs": 7}
LONG, SHORT = ("HT20", "slow"), ("VHT80", "single")  # by the duration of PPDUs
MODES: dict[str, Options] = {
    "HT20": HT20,
    "VHT80": {"mode": "ac", "width": 80, "streams": 2, "mcs": 9},
    "single": {**HT20, "aggregation": "none"},
    "slow": {"mode": "ac", "width": 80, "streams": 2, "mcs": 0},
}


def cases(mode: str) -> list[str]:
    return [f"{mode} {hops}" for hops in HOPS]


STUDY = Study(
    name="rts-ht",
    title="RTS/CTS under TCP over 802.11n and ac: strings of 2 to 6 hops (beyond paper 000)",
    topology="string",
    options={"tcp": "cubic", "seconds": 2, "trace": False, "tcp_trace": False},
    cases={f"{mode} {hops}": {**options, "stations": hops + 1} for mode, options in MODES.items() for hops in HOPS},
    rows="mode, hops",
    seeds="1..3",
    variants=RTS,
    phrases=RTS_PHRASES,
    names=RTS_NAMES
    | {f"single {hops}": f"HT20, no aggregation {hops}" for hops in HOPS}
    | {f"slow {hops}": f"VHT80, MCS 0 {hops}" for hops in HOPS},
    quantities={GOODPUT: "goodput, kb/s", DATA: "COL_DATA", ACK: "COL_ACK"},
    core_s=0.3,
    claims=[
        Claim(f"short, {mode}", "short PPDUs: No > Partial > Full, as at 2 Mb/s",
              order(GOODPUT, "none", "partial", "full", cases=cases(mode)))
        for mode in SHORT
    ] + [
        Claim(f"long, {mode}", "long PPDUs: No gains at most 4 % on Partial",
              compare(GOODPUT, "none", "<", "partial", 1.04, cases=cases(mode)))
        for mode in LONG
    ] + [
        Claim("collisions", "RTS before data saves four of five collided MPDUs of data",
              compare(DATA, "partial", "<", "none", 0.2, cases=[case for mode in MODES for case in cases(mode)])),
    ],
)  # fmt: skip
