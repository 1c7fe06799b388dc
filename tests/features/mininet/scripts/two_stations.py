# SPDX-License-Identifier: BSD-3-Clause
"""Two stations at an access point: it begins with what every lab begins with."""

from mininet.log import info, setLogLevel
from mininet.node import Controller
from mn_wifi.cli import CLI
from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi(controller=Controller)

    info("*** Creating nodes\n")
    sta1 = net.addStation("sta1", mac="00:00:00:00:00:02", ip="10.0.0.2/8", position="30,60,0")
    sta2 = net.addStation("sta2", mac="00:00:00:00:00:03", ip="10.0.0.3/8", position="70,60,0")
    ap1 = net.addAccessPoint("ap1", ssid="lab", mode="g", channel="6", failMode="standalone", position="50,50,0")
    c1 = net.addController("c1")

    net.setPropagationModel(model="logDistance", exp=3.5)
    net.configureNodes()
    net.addLink(sta1, ap1)
    net.addLink(sta2, ap1)

    net.build()
    c1.start()
    ap1.start([c1])

    print(sta1.wintfs[0].associatedTo, sta1.cmd("iw dev sta1-wlan0 link").splitlines()[0])
    print(sta1.params["ip"], sta1.IP(), sta1.MAC(), ap1.MAC(), ap1.intfNames())
    net.pingAll()
    net.iperf((sta1, sta2), seconds=2)
    CLI(net)
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    topology()
