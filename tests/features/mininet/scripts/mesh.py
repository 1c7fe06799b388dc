# SPDX-License-Identifier: BSD-3-Clause
"""An 802.11s mesh of four in a string: the kernel peers and routes by itself."""

from mininet.log import info, setLogLevel
from mn_wifi.link import mesh, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    stas = [net.addStation(f"sta{i}", position=f"{80 * i},0,0", range=100) for i in range(1, 5)]
    net.setPropagationModel(model="logDistance", exp=4)
    net.configureNodes()
    for sta in stas:
        net.addLink(sta, cls=mesh, ssid="meshNet", intf=f"{sta}-wlan0", channel=5)
    net.build()
    stas[0].cmd("ping -c 3", stas[3].IP())  # HWMP looks for a path
    info(stas[0].cmd("iw dev sta1-wlan0 station dump | grep plink"))
    print("lost", round(net.ping([stas[0], stas[3]])), "percent")
    print("next hop", stas[0].cmd(f"iw dev sta1-mp0 mpath dump | grep {stas[3].MAC()}").split()[1])
    print("sta2 is", stas[1].MAC())
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    topology()
