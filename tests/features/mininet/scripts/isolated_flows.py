# SPDX-License-Identifier: BSD-3-Clause
"""Stations that an access point keeps apart reach each other by flows."""

from mininet.node import Controller
from mn_wifi.cli import CLI
from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi(controller=Controller)
    sta1, sta2 = net.addStation("sta1"), net.addStation("sta2")
    ap1 = net.addAccessPoint("ap1", ssid="lab", mode="g", channel="5", client_isolation=True)
    c1 = net.addController("c1")
    net.configureWifiNodes()
    net.addLink(sta1, ap1)
    net.addLink(sta2, ap1)
    net.build()
    c1.start()
    ap1.start([c1])
    for what in ("arp", "icmp"):
        ap1.cmd(f'ovs-ofctl add-flow ap1 "priority=0,{what},in_port=1,actions=output:in_port,normal"')
    print("together, lost", net.pingAll())
    ap1.dpctl("del-flows")
    print("apart, lost", net.pingAll())
    CLI(net)
    net.stop()


if __name__ == "__main__":
    topology()
