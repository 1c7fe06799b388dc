# SPDX-License-Identifier: BSD-3-Clause
"""Stations of mode g and of mode b at an access point of mode g, and one of mode g at one of mode b."""

from mn_wifi.net import Mininet_wifi
from mn_wifi.node import OVSBridgeAP

WPA2 = {"encrypt": "wpa2", "passwd": "123456789a"}


def topology():
    net = Mininet_wifi(accessPoint=OVSBridgeAP)
    ap1 = net.addAccessPoint("ap1", ssid="new", mode="g", channel="1", position="50,50,0")
    ap2 = net.addAccessPoint("ap2", ssid="old", mode="b", channel="6", position="70,50,0", **WPA2)
    sta1 = net.addStation("sta1", mode="g", position="45,50,0")
    sta2 = net.addStation("sta2", mode="b", position="55,50,0")
    sta3 = net.addStation("sta3", position="75,50,0", **WPA2)
    net.configureNodes()
    for ends in ((ap1, ap2), (sta1, ap1), (sta2, ap1), (sta3, ap2)):
        net.addLink(*ends)
    net.build()

    print("lost", net.pingAll())
    for ap, sta in ((ap1, sta1), (ap1, sta2), (ap2, sta3)):
        print(sta, "has", asked(ap, f"sta {sta.wintfs[0].MAC()}", "supported_rates"))
    for ap in (ap1, ap2):
        print(ap, "has", asked(ap, "status", "num_sta_non_erp"), "without ERP")
    net.stop()


def asked(ap, words, name):
    """What hostapd says of it."""
    said = ap.cmd(f"hostapd_cli -p /run/hostapd -i {ap}-wlan1 {words}").splitlines()
    return next(line.partition("=")[2] for line in said if line.startswith(name))


if __name__ == "__main__":
    topology()
