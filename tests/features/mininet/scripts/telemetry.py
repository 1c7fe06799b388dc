# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of stations each second, in files of the run folder."""

import os
from time import sleep

from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.telemetry import telemetry
from mn_wifi.wmediumdConnector import interference

net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
stas = [net.addStation(f"sta{i}", position=f"{20 * i},10,0") for i in (1, 2)]
net.configureNodes()
for sta in stas:
    net.addLink(sta, cls=adhoc, ssid="adhocNet", mode="g", channel=5)
telemetry(nodes=stas, data_type="tx_packets")
net.telemetry(nodes=stas, data_type="position", single=True)
net.telemetry(nodes=stas, data_type="rssi")
net.build()
stas[0].cmd("ping -c 5 -i 0.5", stas[1].IP())
sleep(1)
net.stop()
for file in sorted(os.listdir(".")):
    if file.endswith("telemetry.txt"):
        with open(file) as lines:
            print(file, lines.read().split())
