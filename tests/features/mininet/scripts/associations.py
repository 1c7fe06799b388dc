# SPDX-License-Identifier: BSD-3-Clause
"""Which access point a station is on: by range, and with ac_method by the strongest signal or the least load.
One that is out of range is not waited for."""

import sys
from time import monotonic, sleep

from mn_wifi.net import Mininet_wifi


def topology(method):
    net = Mininet_wifi(ac_method=method)
    for i in range(4):
        net.addStation(f"sta{i + 1}", position=f"{(35, 45, 60, 62)[i]},50,0")
    net.addAccessPoint(
        "ap1", ssid="ssid-ap1", mode="g", channel="1", position="30,50,0", range=60, failMode="standalone"
    )
    net.addAccessPoint(
        "ap2", ssid="ssid-ap2", mode="g", channel="6", position="80,50,0", range=60, failMode="standalone"
    )
    ap1, ap2 = net.get("ap1", "ap2")
    net.configureNodes()
    net.addLink(ap1, ap2)
    net.build()
    sleep(5)
    print("ap1", len(ap1.wintfs[0].associatedStations), "ap2", len(ap2.wintfs[0].associatedStations))
    on = net["sta1"].wintfs[0]
    net["sta1"].setPosition("100,50,0")
    sleep(10)
    print("sta1 on", on.associatedTo or "none", on.ssid or "none")
    net["sta1"].setPosition("500,50,0")
    sleep(10)
    print("sta1 on", on.associatedTo or "none", on.ssid or "none")
    began = monotonic()
    on.associate(ap1.wintfs[0])
    print("waited", round(monotonic() - began), "s for", on.associatedTo or "none")
    net.stop()


topology(sys.argv[1] if len(sys.argv) > 1 else None)
