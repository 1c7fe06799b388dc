# SPDX-License-Identifier: BSD-3-Clause
"""The capacity of one link, at each rate of 802.11b, g and a, to the nanosecond: under an access point, saturated with
datagrams of 1472 bytes, each exchange is DIFS, some slots, the frame, SIFS and the ACK.

The airtimes are computed again here, from the standard: 15.2 and 16.2 (192 us, then bits at the rate, rounded up to a
microsecond), 17.3 and 18.3 (20 us, then symbols of 4 us with 22 additional bits, and at 2.4 GHz 6 us of silence).
"""

import math

import numpy as np
import pytest

from analysis.traces.trace import Kind, read

SCRIPT = """
from emulation.net import Infrastructure, Net, Wired
for rate in {rates}:
    net = Net(rate=rate, freq={freq}, seconds=1, beacon_tu=10_000, propagation="free-space")
    ap, sta, host = net.addAccessPoint("ap1"), net.addStation("sta1", position=(3, 0, 0)), net.addHost("h1")
    net.addLink(ap, sta, cls=Infrastructure)
    net.addLink(ap, host, cls=Wired)
    net.addFlow(sta, host, kind="udp", datagram_bytes=1472, rate_kbps=rate * 1000)
    with net:
        net.start()
        print(rate, net.run(1, name=f"rate{{rate:g}}".replace(".", "+"))["applications"][0]["datagrams"]["arrived"])
"""
DSSS, OFDM = (1, 2, 5.5, 11), (6, 9, 12, 18, 24, 36, 48, 54)
LENGTH, ACK, DELAY_NS = 24 + 8 + 28 + 1472 + 4, 14, 10  # bytes with FCS; 3 m


def airtime_us(rate: float, length: int, extension_us: int) -> float:
    if rate in DSSS:
        return 192 + math.ceil(8 * length / rate)
    return 20 + 4 * math.ceil((22 + 8 * length) / (4 * rate)) + extension_us


@pytest.mark.parametrize(
    ("rates", "freq", "slot_us", "sifs_us", "slots", "extension_us", "basic"),
    [
        (DSSS, 2412, 20, 10, 31, 0, (1,)),
        (OFDM, 2412, 9, 10, 15, 6, (6, 12, 24)),
        (OFDM, 5180, 9, 16, 15, 0, (6, 12, 24)),
    ],
    ids="bga",
)
def test_one_link_carries_what_the_standard_says(bench, rates, freq, slot_us, sifs_us, slots, extension_us, basic):
    lines = bench.script(SCRIPT.format(rates=rates, freq=freq))
    for rate, line in zip(rates, lines, strict=True):
        trace = read(bench.folder / f"rate{rate:g}-1".replace(".", "+") / "air.trace")
        sent = trace.tx[trace.tx["kind"] != Kind.ACK]
        ours = sent["length"] == LENGTH
        took_us = airtime_us(rate, LENGTH, extension_us)
        answer_us = airtime_us(max(each for each in basic if each <= rate), ACK, extension_us)
        next_waits = sent["queued_ns"][1:].astype(np.int64) < sent["start_ns"][:-1]
        gap_us = np.diff(sent["start_ns"])[ours[1:] & ours[:-1] & next_waits] / 1000  # nothing else between
        waited = (gap_us - took_us - sifs_us - answer_us - (sifs_us + 2 * slot_us) - 2 * DELAY_NS / 1000) / slot_us
        drawn = np.round(waited)
        assert drawn.size > 50 and drawn.min() >= 0 and drawn.max() <= slots, rate
        assert np.abs(waited - drawn).max() * slot_us < 0.001, rate
        assert abs(drawn.mean() - slots / 2) < 5 * slots / math.sqrt(12 * drawn.size), rate
        most = 1e6 / (took_us + sifs_us + answer_us + sifs_us + 2 * slot_us + slots / 2 * slot_us)
        arrived = int(line.split()[1])
        assert abs(arrived / most - 1) < 0.05, (rate, arrived, most)
