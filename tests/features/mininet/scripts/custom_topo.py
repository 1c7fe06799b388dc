# SPDX-License-Identifier: BSD-3-Clause
"""A topology as a class, with hosts in one half and stations in the other."""

from functools import partial

from mininet.link import TCLink
from mininet.util import dumpNodeConnections, irange
from mn_wifi.net import Mininet_wifi
from mn_wifi.topo import Topo


class Halves(Topo):
    """n stations at an access point, n hosts at a switch, and a slow wire between."""

    def build(self, n=2, **_):
        ap1, s1 = (
            self.addAccessPoint("ap1", ssid="half", mode="g", channel=11, position="50,50,0"),
            self.addSwitch("s1"),
        )
        self.addLink(ap1, s1, cls=partial(TCLink, delay="3ms"))
        for i in irange(1, n):
            self.addLink(self.addStation(f"sta{i}", position=f"{50 + 5 * i},50,0"), ap1)
            self.addLink(self.addHost(f"h{i}"), s1)


net = Mininet_wifi(topo=Halves(n=3), build=False, autoSetMacs=True, autoStaticArp=True)
net.start()
dumpNodeConnections(net.aps + net.switches)
print([node.IP() for node in net.stations + net.hosts])
print([node.MAC() for node in net.stations + net.hosts])
print("lost", round(net.pingAll()))
out, err, status = net["sta1"].pexec("ip neigh")
print("known", out.count("PERMANENT"), "of 5;", status)
net.stop()
