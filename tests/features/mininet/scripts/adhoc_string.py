# SPDX-License-Identifier: BSD-3-Clause
"""An ad hoc cell of three: neighbours hear each other, the ends do not; a route over the middle joins them."""

from mininet.log import info, setLogLevel
from mn_wifi.cli import CLI
from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)

    info("*** Creating nodes\n")
    sta1 = net.addStation("sta1", ip="10.0.0.1/8", position="10,10,0", range=100)
    sta2 = net.addStation("sta2", ip="10.0.0.2/8", position="90,10,0", range=100)
    sta3 = net.addStation("sta3", ip="10.0.0.3/8", position="170,10,0", range=100)
    net.setPropagationModel(model="logDistance", exp=4)

    info("*** Configuring wifi nodes\n")
    net.configureWifiNodes()

    info("*** Creating links\n")
    for sta in (sta1, sta2, sta3):
        net.addLink(sta, cls=adhoc, intf=f"{sta.name}-wlan0", ssid="adhocNet", mode="g", channel=5, ht_cap="HT40+")

    info("*** Starting network\n")
    net.build()
    lost = net.pingAll()
    print("lost", round(lost), "percent")

    sta2.cmd("sysctl -w net.ipv4.ip_forward=1")
    sta1.cmd("ip route add 10.0.0.3 via 10.0.0.2")
    sta3.cmd("ip route add 10.0.0.1 via 10.0.0.2")
    print("over the middle:", sta1.cmd("ping -c 1 10.0.0.3").split("ttl=")[1][:2])
    CLI(net)
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    topology()
