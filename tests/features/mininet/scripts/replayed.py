# SPDX-License-Identifier: BSD-3-Clause
"""Positions that were written down are played again, at each station's speed."""

from time import sleep

from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.replaying import ReplayingMobility
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    sta1 = net.addStation("sta1", ip="10.0.0.1/8", speed=10, range=50)
    sta2 = net.addStation("sta2", ip="10.0.0.2/8", position="0,0,0", range=50)
    net.configureNodes()
    for sta in (sta1, sta2):
        net.addLink(sta, cls=adhoc, ssid="adhocNet", mode="g", channel=5)
    sta1.p = [(x, 0.0, 0.0) for x in range(20, 121)]
    net.build()
    ReplayingMobility(net)
    for _ in range(3):
        print("apart", round(sta1.get_distance_to(sta2)), "lost", round(net.ping([sta1, sta2])))
        sleep(3)
    net.stop()


topology()
