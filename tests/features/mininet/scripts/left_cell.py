# SPDX-License-Identifier: BSD-3-Clause
"""One of two stations in a cell goes to the next access point; the other one still reaches it, over the wire."""

from time import sleep

from mn_wifi.net import Mininet_wifi

net = Mininet_wifi()
sta1 = net.addStation("sta1")
sta2 = net.addStation("sta2", position="10,40,0")
ap1 = net.addAccessPoint("ap1", ssid="ssid-ap1", channel="1", position="15,30,0", range=30, failMode="standalone")
ap2 = net.addAccessPoint("ap2", ssid="ssid-ap2", channel="6", position="55,30,0", range=30, failMode="standalone")
net.setPropagationModel(model="logDistance", exp=5)
net.addLink(ap1, ap2)
net.startMobility(time=0)
net.mobility(sta1, "start", time=1, position="10,30,0")
net.mobility(sta1, "stop", time=10, position="60,30,0")
net.stopMobility(time=11)
net.build()
for seconds in (0, 20, 330):
    sleep(seconds)
    here = [[each.name for each in ap.wintfs[0].associatedStations] for ap in (ap1, ap2)]
    print("lost", round(net.ping([sta1, sta2])), "at", *here)
net.stop()
