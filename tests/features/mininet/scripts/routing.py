# SPDX-License-Identifier: BSD-3-Clause
"""A routing protocol in an ad hoc string: the ends reach each other, and again when the middle has changed. A host on a
wire has no part in it."""

from time import sleep

from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference

net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
stas = [net.addStation(f"sta{i}", ip6=f"fe80::{i}", position=f"{80 * i},0,0", range=100) for i in (1, 2, 3)]
spare = net.addStation("sta4", ip6="fe80::4", position="160,50,0", range=100)
net.setPropagationModel(model="logDistance", exp=4)
net.configureNodes()
for sta in net.stations:
    net.addLink(sta, cls=adhoc, ssid="adhocNet", mode="g", channel=5, proto="olsrd")
h1 = net.addHost("h1", ip="192.168.0.1/24")
net.addLink(h1, stas[0], params2={"ip": "192.168.0.2/24"})
net.build()
print("wire", h1.cmd("ping -c 1 192.168.0.2 | grep -o '[0-9]*% packet loss'").strip())
sleep(20)
print("lost", round(net.ping([stas[0], stas[2]])))
stas[1].setPosition("160,500,0")
sleep(20)
print("lost", round(net.ping([stas[0], stas[2]])), "over", spare.name)
net.stop()
