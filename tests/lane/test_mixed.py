# SPDX-License-Identifier: BSD-3-Clause
"""A client of 802.11b among those of 802.11g: hostapd announces it, and mac80211 protects OFDM from it (10.26.2)."""

import json

import numpy as np
import pytest

from analysis.taps import compare, phy
from analysis.traces import pcapng, trace

MIXED = """
import json
from emulation.net import Infrastructure, Net
net = Net(rate=54, rate_control="minstrel", seconds=2, window_limit=8)
ap = net.addAccessPoint("ap1")
g, h = net.addStation("sta1", position="20,0,0"), net.addStation("sta2", position="0,20,0")
b = net.addStation("sta3", position="0,-20,0", {own})
net.addLink(ap, g, h, b, cls=Infrastructure, {link})
net.addFlow(g, h); net.addFlow(h, b)
with net:
    net.start()
    print(json.dumps([one["delivered_bytes"] for one in net.run()["applications"]]))
"""
WPA2 = 'security="wpa2", passphrase="correct horse"'
CCK, DATA = {10, 20, 55, 110}, [trace.Kind.TCP_DATA, trace.Kind.TCP_ACK, trace.Kind.ENCRYPTED]


@pytest.mark.parametrize(("own", "link"), [("", ""), ("rate=11", ""), ("rate=11", WPA2)])
def test_protection_is_there_where_a_client_needs_it(bench, own, link):
    """A station that sends OFDM first sends a CTS to itself at a basic rate, or an RTS; beacons are at 1 Mb/s; the
    counters agree."""
    (delivered,) = map(json.loads, bench.script(MIXED.format(own=own, link=link)))
    assert min(delivered) > 200_000
    folder = bench.folder / "run1-1"
    plan, lane = (json.loads((folder / name).read_text()) for name in ("plan.json", "lane.json"))
    module = [station["counters"] for station in lane["air"]["stations"]]
    recorded = trace.read(folder / "air.trace")
    tx = recorded.tx
    itself = (tx["kind"] == trace.Kind.CTS) & (tx["receiver"] == tx["station"])
    windows = [node["interfaces"][0]["edca"] for node in plan["nodes"]]
    if not own:
        assert not itself.any() and windows == [None] * 4 and plan["air"]["slot_ns"] == 9_000
        return
    assert windows[:3] == [None] * 3 and windows[3]["BE"]["cw_min"] == 31 and plan["air"]["cw_min"] == 15
    assert plan["air"]["slot_ns"] == 20_000 and plan["air"]["basic_rates"] == sorted(CCK)
    assert set(tx["rate"][itself].tolist()) <= CCK and itself.sum() > 1000
    assert set(tx["rate"][tx["kind"] == trace.Kind.MANAGEMENT].tolist()) == {10}
    old = (tx["station"] == 3) | ((tx["receiver"] == 3) & np.isin(tx["kind"], DATA))
    assert old.sum() > 200 and set(tx["rate"][old].tolist()) <= CCK
    told = tx["start_ns"][tx["kind"] == trace.Kind.MANAGEMENT][0]  # a client knows it from the next beacon on
    for station in range(3):
        mine = tx[(tx["station"] == station) & (tx["start_ns"] > told)]
        ofdm = np.flatnonzero(~np.isin(mine["rate"], list(CCK)) & np.isin(mine["kind"], DATA))
        ofdm = ofdm[ofdm > 0]
        before = mine[ofdm - 1]
        assert ofdm.size > 100 and set(before["kind"].tolist()) <= {trace.Kind.CTS, trace.Kind.RTS}
        assert (before["start_ns"] + before["duration_ns"] < mine[ofdm]["start_ns"]).all()
    pcapng.write(recorded, phy.radios(plan), folder)
    assert compare.differences(compare.counters(folder / pcapng.AIR, plan, lane["changes"]), module) == []
