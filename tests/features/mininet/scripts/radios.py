# SPDX-License-Identifier: BSD-3-Clause
"""Nodes with several radios: access points that are joined by a mesh, and a station on two cells at once."""

from mininet.log import info, setLogLevel
from mn_wifi.link import adhoc, mesh, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    sta1 = net.addStation("sta1", mac="00:00:00:00:00:11", position="1,10,0")
    sta2 = net.addStation("sta2", mac="00:00:00:00:00:12", position="61,10,0")
    ap1 = net.addAccessPoint("ap1", wlans=2, ssid="ssid1,", position="10,10,0", failMode="standalone")
    ap2 = net.addAccessPoint("ap2", wlans=2, ssid="ssid2,", position="50,10,0", failMode="standalone")
    both = net.addStation("sta3", wlans=2, ip="10.1.0.3/24", position="200,10,0")
    sta4 = net.addStation("sta4", ip="10.1.0.4/24", position="210,10,0")
    sta5 = net.addStation("sta5", ip="10.2.0.5/24", position="190,10,0")

    info("*** Configuring wifi nodes\n")
    net.configureWifiNodes()
    net.addLink(sta1, ap1)
    net.addLink(sta2, ap2)
    for ap in (ap1, ap2):
        net.addLink(ap, intf=f"{ap}-wlan2", cls=mesh, ssid="mesh-ssid", channel=5)
    net.addLink(both, cls=adhoc, intf="sta3-wlan0", ssid="one", channel=1)
    net.addLink(both, cls=adhoc, intf="sta3-wlan1", ssid="two", channel=11)
    net.addLink(sta4, cls=adhoc, ssid="one", channel=1)
    net.addLink(sta5, cls=adhoc, ssid="two", channel=11)

    net.plotGraph(max_x=250, max_y=50)
    net.build()
    ap1.start([])
    ap2.start([])
    both.setIP("10.2.0.3/24", intf="sta3-wlan1")
    print(ap1.intfNames(), both.intfNames(), [intf.IP() for intf in both.wintfs.values()])
    sta1.cmd("ping -c 3", sta2.IP())  # the mesh looks for a path
    print("over the mesh, lost", round(net.ping([sta1, sta2])))
    print(
        "in both cells:", "received" in both.cmd("ping -c 1 10.1.0.4"), "1 received" in both.cmd("ping -c 1 10.2.0.5")
    )
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    topology()
