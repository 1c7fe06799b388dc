# SPDX-License-Identifier: BSD-3-Clause
"""A switch without a controller: a slice of its hosts by flows, a group, a meter and a mirror."""

from mininet.net import Mininet
from mininet.node import OVSKernelSwitch
from mininet.topo import Topo


class One(Topo):
    def build(self):
        s1 = self.addSwitch("s1", protocols="OpenFlow13")
        for number in range(1, 5):
            self.addLink(self.addHost(f"h{number}"), s1)


net = Mininet(One(), switch=OVSKernelSwitch, controller=None, autoSetMacs=True, autoStaticArp=True)
net.start()
s1, h1, h2, h3, h4 = net.get("s1", "h1", "h2", "h3", "h4")
print("lost", net.pingAll())
s1.dpctl("add-flow", "in_port=1,actions=output:2")
s1.dpctl("add-flow", "in_port=2,actions=output:1")
print("lost", net.pingAll())

s1.dpctl("add-group", "group_id=1,type=all,bucket=output:2,bucket=output:3")
s1.dpctl("mod-flows", "in_port=1,actions=group:1")
s1.dpctl("add-flow", "in_port=3,actions=output:1")
print("lost", net.pingAll())

s1.dpctl("add-meter", "meter=1,kbps,burst,bands=type=drop,rate=1000,burst_size=100")
s1.dpctl("add-flow", "in_port=1,udp,priority=40000,actions=meter:1,output:2")
print("metered", net.iperf([h1, h2], l4Type="UDP", udpBw="5M")[1])

s1.vsctl("-- --id=@p get port s1-eth4 -- --id=@m create mirror name=m select-all=true output-port=@p "
         "-- set bridge s1 mirrors=@m")  # fmt: skip
seen = "cat /sys/class/net/h4-eth0/statistics/rx_packets"
before = int(h4.cmd(seen))
h1.cmd("ping -c 5", h2.IP())
print("mirrored", int(h4.cmd(seen)) - before)

s1.stop()
print("stopped", net.ping([h1, h2]))
s1.start([])
s1.dpctl("add-flow", "actions=normal")
print("started", net.ping([h1, h2]))
print("dpid:" + s1.dpid in s1.cmd("ovs-ofctl -O OpenFlow13 show tcp:127.0.0.1:6654"))
net.stop()
