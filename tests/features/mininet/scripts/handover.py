# SPDX-License-Identifier: BSD-3-Clause
"""A station goes from one access point to the other; a host on the wire can be reached where it is in range."""

import sys
from time import sleep

from mininet.log import setLogLevel
from mininet.node import Controller
from mn_wifi.net import Mininet_wifi


def topology(same):
    net = Mininet_wifi(controller=Controller)
    sta1 = net.addStation("sta1", mac="00:00:00:00:00:01", ip="10.0.0.1/8")
    ap1 = net.addAccessPoint("ap1", ssid="ssid-1", mode="g", channel="1", position="50,50,0", range=60)
    ap2 = net.addAccessPoint(
        "ap2", ssid="ssid-1" if same else "ssid-2", mode="g", channel="6", position="150,50,0", range=60
    )
    s1, h1 = net.addSwitch("s1"), net.addHost("h1", mac="00:00:00:00:00:02", ip="10.0.0.2/8")
    c1 = net.addController("c1")
    net.setPropagationModel(model="logDistance", exp=4)
    net.configureWifiNodes()
    net.addLink(ap1, s1)
    net.addLink(ap2, s1)
    net.addLink(s1, h1)
    net.plotGraph(max_x=200, max_y=100)
    net.startMobility(time=0)
    net.mobility(sta1, "start", time=1, position="40,50,0")
    net.mobility(sta1, "stop", time=21, position="160,50,0")
    net.stopMobility(time=22)
    net.build()
    c1.start()
    for each in (ap1, ap2, s1):
        each.start([c1])
    for _ in range(5):
        print(
            "at",
            round(sta1.position[0]),
            "on",
            sta1.wintfs[0].associatedTo or "none",
            "lost",
            round(net.ping([sta1, h1])),
        )
        sleep(6)
    net.stop()


if __name__ == "__main__":
    setLogLevel("warning")
    topology("-s" in sys.argv)
