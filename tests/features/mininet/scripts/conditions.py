# SPDX-License-Identifier: BSD-3-Clause
"""Rates, losses, delays and signals that were written down are played again."""

import re
from time import sleep

from mn_wifi.net import Mininet_wifi
from mn_wifi.replaying import ReplayingBandwidth, ReplayingNetworkConditions, ReplayingRSSI


def topology():
    net = Mininet_wifi()
    sta1 = net.addStation("sta1", position="10,0,0")
    ap1 = net.addAccessPoint("ap1", ssid="x", channel="1", position="0,0,0", failMode="standalone")
    h1 = net.addHost("h1")
    net.addLink(ap1, h1)
    net.build()
    sta1.time, sta1.throughput = [0.0, 10.0], [1.0, 5.0]
    ReplayingBandwidth(net)
    for limit in sta1.throughput:
        said, unit, *_ = net.iperf([sta1, h1], seconds=4)[0].split()
        print("rate", limit, 0.8 < float(said) / (limit * 1e3 if unit[0] == "K" else limit) <= 1)
        sleep(6)
    sta1.time, sta1.bw, sta1.loss, sta1.latency = [0.0, 10.0], [9.0, 9.0], [0.0, 100.0], [25.0, 0.0]
    ReplayingNetworkConditions(net)
    sleep(6)
    print("delay", re.search(r"time=(\d+)", sta1.cmd(f"ping -c 1 {h1.IP()}"))[1])
    sleep(10)
    print("lost", round(net.ping([sta1, h1])))
    sta1.time, sta1.rssi = [0.0, 5.0], [-50.0, -60.0]
    ReplayingRSSI(net)
    for _ in range(2):
        sleep(1)
        print("signal", round(sta1.wintfs[0].rssi), sta1.position[1:])
        sleep(5)
    net.stop()


topology()
