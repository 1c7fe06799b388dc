# SPDX-License-Identifier: BSD-3-Clause
"""An access point with several networks on one radio; stations join them by name, and by iw."""

from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi(encrypt="wpa2", passwd="12345678")
    stas = [net.addStation(f"sta{i}", ssid=ssid) for i, ssid in enumerate(("x", "y", "z"), 1)]
    ap1 = net.addAccessPoint(
        "ap1", ssid="x", vssids=["y,z"], mode="g", channel="1", position="5,0,0", failMode="standalone"
    )
    h1 = net.addHost("h1")
    net.addLink(ap1, h1)
    net.start()
    for sta in stas:
        ssid = next(line for line in sta.cmd(f"iw dev {sta}-wlan0 link").splitlines() if "SSID" in line).split()[1]
        print("on", ssid, sta.wintfs[0].associatedTo, "lost", round(net.ping([sta, h1])))
    print("beside", round(net.ping([stas[0], stas[2]])), ap1.wintfs[1].ssid, ap1.wintfs[2].mac)
    net.stop()


topology()
