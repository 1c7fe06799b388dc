# SPDX-License-Identifier: BSD-3-Clause
"""Plain Mininet: hosts, switches, wires with a rate and a delay, and a router of the script's own class."""

from mininet.cli import CLI
from mininet.link import Link, TCIntf, TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node, OVSKernelSwitch


class LinuxRouter(Node):
    """A node that passes packets on."""

    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")

    def terminate(self):
        self.cmd("sysctl -w net.ipv4.ip_forward=0")
        super().terminate()


class Addressed(Link):
    """A wire of a script's own class, with what Mininet's base takes, and an address of its second end."""

    def __init__(self, node1, node2, port1=None, port2=None, intfName2=None, ip2=None, **params):
        both = {"cls1": TCIntf, "cls2": TCIntf, "params1": params, "params2": params}
        Link.__init__(self, node1, node2, port1=port1, port2=port2, intfName2=intfName2, **both)
        self.intf2.setIP(ip2)


def topology():
    alone = Node("alone")
    print(alone.cmd("echo a shell"))
    net = Mininet(switch=OVSKernelSwitch, link=TCLink)
    r0 = net.addHost("r0", cls=LinuxRouter, ip="192.168.1.1/24")
    s1, s2 = net.addSwitch("s1"), net.addSwitch("s2")
    h1 = net.addHost("h1", ip="192.168.1.100/24", defaultRoute="via 192.168.1.1")
    h2 = net.addHost("h2", ip="172.16.0.100/12", defaultRoute="via 172.16.0.1")
    net.addLink(s1, r0, intfName2="r0-eth1", params2={"ip": "192.168.1.1/24"})
    net.addLink(s2, r0, cls=Addressed, intfName2="r0-eth2", ip2="172.16.0.1/12", delay="1ms")
    net.addLink(h1, s1, bw=10, delay="5ms")
    net.addLink(h2, s2, params1={"delay": "3ms"})  # of what h2 sends
    h2.cmd("export WHO=h2; sysctl -w net.ipv4.ip_forward=1")  # it is there, and its interfaces are not yet
    net.addController("c0")
    net.start()
    print("before", h2.cmd("cat /proc/sys/net/ipv4/ip_forward; echo $WHO").split())
    print(r0.intfNames(), s1.intfNames(), h1.intfNames())
    print("lost", round(net.pingAll()))
    print("rtt", h1.cmd("ping -c 3 -q 172.16.0.100").split("min/avg/max")[1].split("/")[2].split(".")[0], "ms")
    rate = float(net.iperf((h1, h2), seconds=4)[0].split()[0])
    print("rate below 10:", 8 < rate < 10)
    rate, delay = (line.split() for line in h1.cmd("tc qdisc show dev h1-eth0").splitlines())
    print("queues", rate[1:3], delay[1:3], delay[4])
    net.configLinkStatus("h1", "s1", "down")
    print("down, lost", round(net.ping([h1, r0])))
    net.configLinkStatus("h1", "s1", "up")
    CLI(net)
    net.stop()


setLogLevel("info")
topology()
