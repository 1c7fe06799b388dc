# SPDX-License-Identifier: BSD-3-Clause
"""Radios that are added to a running network, and what they then do."""

import sys
from time import sleep

from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi


def topology(mode):
    net = Mininet_wifi()
    sta1 = net.addStation("sta1", position="10,0,0")
    ap1 = net.addAccessPoint("ap1", ssid="a", mode=mode, channel=1, position="0,0,0", failMode="standalone")
    net.start()
    sta2 = net.addStation("sta2", position="20,0,0", wlans=2)
    net.addLink(sta2, ap1)
    print("joined", sta2.wintfs[0].associatedTo, sta2.IP(), "lost", net.ping([sta1, sta2]))
    ap2 = net.addAccessPoint(
        "ap2", ssid="b", mode=mode, channel=6, position="300,0,0", encrypt="wpa2", passwd="12345678",
        failMode="standalone",
    )  # fmt: skip
    ap2.start([])
    net.addLink(ap1, ap2)
    sta3 = net.addStation("sta3", position="310,0,0", encrypt="wpa2", passwd="12345678")
    sleep(5)
    print("over wires", sta3.wintfs[0].associatedTo, "lost", net.ping([sta1, sta3]))
    sta4 = net.addStation("sta4", position="25,0,0")
    for sta, intf in (sta2, "sta2-wlan1"), (sta4, "sta4-wlan0"):
        net.addLink(sta, cls=adhoc, ssid="x", mode=mode, channel=11, intf=intf)
    sta2.cmd("ip addr add 10.9.0.2/24 dev sta2-wlan1")
    sta4.setIP("10.9.0.4/24")
    sleep(2)
    print("cell", sta4.cmd("ping -c 3 10.9.0.2").count("bytes from"))
    sta4.setPosition("4000,0,0")
    print("away", sta4.cmd("ping -c 1 -W 1 10.9.0.2").count("bytes from"))
    for call in "net.addStation('sta5', wlans=12)", "net.addAccessPoint('ap3', mode='a', channel=36)":
        try:
            eval(call)
        except Exception as error:
            print("not", error)
    print("there", *net)
    net.stop()


topology(sys.argv[1])
