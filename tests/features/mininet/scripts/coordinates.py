# SPDX-License-Identifier: BSD-3-Clause
"""Scripted motion along coordinates, twice, there and back: where a station is when."""

from time import sleep

from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi()
    sta1 = net.addStation("sta1")
    sta2 = net.addStation("sta2")
    net.addAccessPoint("ap1", ssid="lab", mode="g", channel="1", position="50,50,0")
    net.configureNodes()
    sta1.coord = ["10.0,10.0,0.0", "20.0,10.0,0.0", "20.0,20.0,0.0"]
    net.startMobility(time=0, mob_rep=2, reverse=True)
    net.mobility(sta1, "start", time=1)
    net.mobility(sta1, "stop", time=5)
    net.mobility(sta2, "start", time=2, position="0,0,0")
    net.mobility(sta2, "stop", time=4, position="0,30,0")
    net.stopMobility(time=6)
    net.build()
    for _ in range(11):
        sleep(1)
        print(*("({:.0f},{:.0f})".format(*sta.position) for sta in net.stations))
    net.stop()


topology()
