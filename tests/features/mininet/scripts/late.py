# SPDX-License-Identifier: BSD-3-Clause
"""Nodes, wires and motion that are added to a running network."""

from time import sleep

from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi()
    sta1 = net.addStation("sta1", position="10,0,0")
    sta2 = net.addStation("sta2", position="20,0,0")
    ap1 = net.addAccessPoint("ap1", ssid="x", channel="1", position="0,0,0", failMode="standalone")
    ap2 = net.addAccessPoint("ap2", ssid="x", channel="6", position="200,0,0", failMode="standalone")
    s1 = net.addSwitch("s1", failMode="standalone")
    net.addLink(ap1, s1)
    net.addLink(ap2, s1)
    net.addLink(sta1, ap1)
    net.start()
    s2 = net.addSwitch("s2", failMode="standalone")
    h1, h2 = net.addHost("h1"), net.addHost("h2", ip="10.0.0.99/8")
    net.addLink(s1, s2)
    made = net.addLink(h1, s2, delay="10ms")
    h2.linkTo(s2)
    print("lost", round(net.ping([sta1, h1, h2])), h1.IP(), h2.IP(), h2.intfNames())
    print("rtt", round(net.pingFull([h1, h2])[0][2][3]))
    net.delLink(made)
    print("cut", round(net.ping([h1, h2])), round(net.ping([sta1, h2])))
    net.delNode(h1)
    print("there", list(net))
    net.startMobility(time=0)
    net.mobility(sta1, "start", time=1, position="10,0,0")
    net.mobility(sta1, "stop", time=11, position="210,0,0")
    net.stopMobility(time=12)
    pings = h2.popen(f"ping -i 0.2 -W 1 -c 70 {sta1.IP()}")
    sleep(6)
    print("moved", [round(x) for x in sta1.position], sta2.position)
    sleep(10)
    print("roamed", sta1.wintfs[0].associatedTo, round(net.ping([sta1, sta2])))
    net.addNAT().configDefault()
    print("outside", h2.cmd("ping -c 1 8.8.8.8").count("1 received"))
    print("meanwhile over 60:", pings.communicate()[0].count(b"bytes from") > 60)
    net.stop()


topology()
