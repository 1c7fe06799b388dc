# SPDX-License-Identifier: BSD-3-Clause
"""Two stations send to one between them: hidden from each other they collide; side by side they take turns."""

import re

from mininet.log import setLogLevel
from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    left, middle, right = (net.addStation(f"sta{i}", position=f"{90 * i},0,0") for i in (1, 2, 3))
    net.setPropagationModel(model="logDistance", exp=3.7)
    net.configureNodes()
    for sta in (left, middle, right):
        net.addLink(sta, cls=adhoc, ssid="hidden", mode="b", channel=11, txpower=14)
    net.build()
    for port in (5001, 5002):
        middle.cmd(f"iperf3 -s -D -p {port}")
    for where in ("hidden", "beside"):
        if where == "beside":
            right.setPosition("90,1,0")
        print(where, "left hears right:", left.get_distance_to(right) <= right.wintfs[0].range)
        before = sent(left)
        for port, sta in ((5001, left), (5002, right)):
            sta.sendCmd(f"iperf3 -c {middle.IP()} -p {port} -u -b 3M -l 1400 -t 4 -w 40k -f k")
        delivered = 0.0
        for sta in (left, right):
            receiver = next(line for line in sta.waitOutput().splitlines() if line.endswith("receiver"))
            delivered += float(receiver.split("Kbits/sec")[0].split()[-1])
        packets, retries = (now - then for now, then in zip(sent(left), before, strict=True))
        print(round(delivered), "kb/s,", round(100 * retries / packets), "retries in 100 packets")
    net.stop()


def sent(sta):
    """Packets and retries, to its first peer."""
    said = sta.cmd(f"iw dev {sta}-wlan0 station dump")
    return [int(re.search(rf"tx {what}:\s+(\d+)", said)[1]) for what in ("packets", "retries")]


setLogLevel("info")
topology()
