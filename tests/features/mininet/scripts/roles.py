# SPDX-License-Identifier: BSD-3-Clause
"""Radios that become something else: a station as an access point; one that goes on, leaves, and joins others."""

from time import sleep

from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi()
    sta1, sta2, sta3 = (net.addStation(f"sta{i}", position=f"{10 * i},10,0") for i in (1, 2, 3))
    sta1.setMasterMode(intf="sta1-wlan0", ssid="hotspot", channel=1, mode="g")
    ap1 = net.addAccessPoint("ap1", ssid="other", channel=6, position="15,20,0")
    net.configureNodes()
    net.addLink(sta2, sta1)
    net.addLink(sta3, sta1)
    net.build()
    print("master", sta2.wintfs[0].associatedTo, "lost", round(net.ping([sta1, sta2, sta3])))
    on = [sta2.wintfs[0].associatedTo]
    sta2.setAssociation(ap1, intf="sta2-wlan0")
    on.append(sta2.wintfs[0].associatedTo)
    sta2.cmd("iw dev sta2-wlan0 disconnect")
    on.append(sta2.wintfs[0].associatedTo or "none")
    print(*on, sep=" to ")
    for become in ("setAdhocMode", "setMeshMode"):
        for sta in (sta2, sta3):
            getattr(sta, become)(ssid="both", channel=11)
        sleep(1)
        kind = sta2.cmd("iw dev sta2-wlan0 info").split("type ")[1].split("\n")[0].split()[0]
        sta2.cmd("ping -c 2 -W 1", sta3.IP())
        print(kind, "1 received" in sta2.cmd("ping -c 1", sta3.IP()))
    net.stop()


topology()
