# SPDX-License-Identifier: BSD-3-Clause
"""Two stations send to one between them: hidden from each other they collide; side by side they take turns.

Power falls steeply, so that frames of 11 Mb/s arrive well at the middle, and only collisions cost.
"""

import re
import time

from mininet.log import setLogLevel
from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference

# iperf3 gives up if its first datagram is lost, as happens here.
SENDER = """
import socket, sys, time
udp = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(1000):
    udp.sendto(bytes(1400), (sys.argv[1], 9))
    time.sleep(0.004)
"""


def topology():
    # An ARP request is a broadcast: nothing repeats it soon, and the hidden station's frames destroy most of them.
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference, autoStaticArp=True)
    left, middle, right = (net.addStation(f"sta{i}", position=f"{13 * i},0,0") for i in (1, 2, 3))
    net.setPropagationModel(model="logDistance", exp=6)
    net.configureNodes()
    for sta in (left, middle, right):
        net.addLink(sta, cls=adhoc, ssid="hidden", mode="b", channel=11, txpower=14)
    net.build()
    for where in ("hidden", "beside"):
        if where == "beside":
            right.setPosition("13,1,0")
        print(where, "left hears right:", left.get_distance_to(right) <= right.wintfs[0].range)
        before, received, began = sent(left), arrived(middle), time.monotonic()
        for sta in (left, right):
            sta.sendCmd(f"python3 -c '{SENDER}' {middle.IP()}")
        for sta in (left, right):
            sta.waitOutput()
        delivered = 8e-3 * (arrived(middle) - received) / (time.monotonic() - began)
        packets, retries = (now - then for now, then in zip(sent(left), before, strict=True))
        print(round(delivered), "kb/s,", round(100 * retries / packets), "retries in 100 packets")
    net.stop()


def arrived(sta):
    """Bytes."""
    return int(sta.cmd(f"cat /sys/class/net/{sta}-wlan0/statistics/rx_bytes"))


def sent(sta):
    """Packets and retries, to its first peer."""
    said = sta.cmd(f"iw dev {sta}-wlan0 station dump")
    return [int(re.search(rf"tx {what}:\s+(\d+)", said)[1]) for what in ("packets", "retries")]


setLogLevel("info")
topology()
