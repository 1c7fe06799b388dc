# SPDX-License-Identifier: BSD-3-Clause
"""A station goes from one access point to the other, and a controller of os-ken moves its flows."""

import sys
from time import sleep

from mininet.node import OVSKernelSwitch, RemoteController
from mn_wifi.net import Mininet_wifi

net = Mininet_wifi(controller=RemoteController, switch=OVSKernelSwitch)
sta1 = net.addStation("sta1", position="40,50,0", ip="10.0.0.1/8")
ap1 = net.addAccessPoint("ap1", ssid="lab", channel="1", position="50,50,0", range=60, protocols="OpenFlow13")
ap2 = net.addAccessPoint("ap2", ssid="lab", channel="6", position="150,50,0", range=60, protocols="OpenFlow13")
s1, h1 = net.addSwitch("s1", protocols="OpenFlow13"), net.addHost("h1", ip="10.0.0.2/8")
c0 = net.addController("c0", ip=sys.argv[1], port=6633)
net.setPropagationModel(model="logDistance", exp=4)
for ends in ((ap1, s1), (ap2, s1), (s1, h1)):
    net.addLink(*ends)
net.startMobility(time=0)
net.mobility(sta1, "start", time=1, position="40,50,0")
net.mobility(sta1, "stop", time=11, position="160,50,0")
net.stopMobility(time=12)
net.build()
c0.cmd("osken-manager --ofp-tcp-listen-port 6633 osken_app.py > c0.log 2>&1 &")
net.start()
pings = h1.popen("ping -i 0.1 -W 1 -c 200 10.0.0.1")
sleep(40)
print(pings.communicate()[0].decode().splitlines()[-2])
print("at", sta1.wintfs[0].associatedTo, "lost", net.ping([sta1, h1]))
print(c0.cmd("grep -v app c0.log"))
print(s1.dpctl("dump-flows"))
net.stop()
