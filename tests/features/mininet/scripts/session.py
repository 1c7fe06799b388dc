# SPDX-License-Identifier: BSD-3-Clause
"""Nothing but a prompt: what is typed there comes from standard input."""

from mn_wifi.cli import CLI
from mn_wifi.net import Mininet_wifi

net = Mininet_wifi()
sta1 = net.addStation("sta1", position="10,10,0")
sta2 = net.addStation("sta2", position="20,10,0")
ap1 = net.addAccessPoint("ap1", ssid="lab", position="15,10,0")
net.configureWifiNodes()
net.addLink(sta1, ap1)
net.addLink(sta2, ap1)
net.start()
CLI(net)
print("and on")
net.stop()
