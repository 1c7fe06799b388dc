# SPDX-License-Identifier: BSD-3-Clause
"""A script asks a controller over HTTP for its switches, and gives it flows."""

import json
from urllib.request import urlopen

from mininet.net import Mininet
from mininet.node import OVSSwitch, Ryu
from mininet.topo import SingleSwitchTopo

URL = "http://127.0.0.1:8080/"

net = Mininet(SingleSwitchTopo(2), switch=OVSSwitch, controller=None, build=False)
net.addController(Ryu("c0", "rest_app.py"))
net.start()
net.waitConnected()
print("at", json.load(urlopen(URL)))
print("lost", net.ping())
with urlopen(URL, data=json.dumps({"dpid": 1, "ports": [1, 2]}).encode()) as answer:
    print("at", answer.status)
print("lost", net.ping())
net.stop()
