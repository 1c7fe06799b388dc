# SPDX-License-Identifier: BSD-3-Clause
"""Two cells beside each other: on one channel they share the air, on two each has it for itself."""

import sys

from mininet.log import setLogLevel
from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology(other):
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    stas = [net.addStation(f"sta{i}", position=f"{10 * i},0,0") for i in range(1, 5)]
    net.configureNodes()
    for sta, channel in zip(stas, (1, 1, other, other), strict=True):
        net.addLink(sta, cls=adhoc, ssid=f"cell{channel}" if channel != 1 else "cell", mode="b", channel=channel)
    net.build()
    for sta in stas[1::2]:
        sta.cmd("iperf3 -s -D")
    for sta, to in ((stas[0], stas[1]), (stas[2], stas[3])):
        sta.sendCmd(f"iperf3 -c {to.IP()} -u -b 8M -t 3 -f k -w 60k")
    for sta in (stas[0], stas[2]):
        receiver = next(line for line in sta.waitOutput().splitlines() if line.endswith("receiver"))
        print(sta.name, round(float(receiver.split("Kbits/sec")[0].split()[-1])), "kb/s")
    net.stop()


setLogLevel("error")
topology(int(sys.argv[1]))
