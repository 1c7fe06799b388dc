# SPDX-License-Identifier: BSD-3-Clause
"""An encrypted network: who knows the passphrase is let in, who does not is not. Two nodes have lines of their own, and
one a PIN."""

from time import sleep

from mininet.log import setLogLevel
from mn_wifi.net import Mininet_wifi


def topology():
    net = Mininet_wifi()
    sta1 = net.addStation("sta1", passwd="123456789a", encrypt="wpa2", position="40,50,0")
    sta2 = net.addStation("sta2", passwd="a987654321", encrypt="wpa2", position="60,50,0")
    lines = 'ssid="simplewifi",key_mgmt=WPA-PSK,psk="123456789a"'
    sta3 = net.addStation("sta3", config=lines, wpasup_globals="eapol_version=2", position="50,60,0")
    ap1 = net.addAccessPoint(
        "ap1",
        ssid="simplewifi",
        mode="g",
        channel="1",
        passwd="123456789a",
        encrypt="wpa2",
        failMode="standalone",
        datapath="user",
        position="50,50,0",
    )
    lines = ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP", "wpa_passphrase=123456789a"]
    net.addAccessPoint("ap2", ssid="simplewifi", channel="6", config=lines, encrypt="wpa2", position="50,40,0")
    keys = {"passwd": "123456789a", "encrypt": "wpa2", "wps_state": "2", "failMode": "standalone"}
    ap3 = net.addAccessPoint("ap3", ssid="by pin", channel="11", position="90,50,0", **keys)
    sta4 = net.addStation("sta4", encrypt="wpa2", position="90,60,0")
    net.configureNodes()
    net.addLink(sta4, ap3)
    for sta in (sta1, sta2, sta3):
        net.addLink(sta, ap1)
    net.build()
    ap1.start([])
    for sta in net.stations:
        print(sta.name, "on", sta.wintfs[0].associatedTo or "none")
    print("lost", round(net.ping([sta1, sta3])), "and", round(net.ping([sta1, sta2])))
    print(sta1.cmd("wpa_cli -i sta1-wlan0 status | grep -E '^(key_mgmt|wpa_state)'").split())
    print("roam", sta1.cmd("wpa_cli -i sta1-wlan0 roam", net["ap2"].MAC()))
    sleep(2)
    print("roamed to", sta1.wintfs[0].associatedTo)
    sta3.setAssociation("ap2")
    print("sent to", sta3.wintfs[0].associatedTo)
    ap3.cmd("hostapd_cli -i ap3-wlan1 wps_pin any 12345670")
    sta4.cmd("wpa_cli -i sta4-wlan0 wps_pin 02:00:00:00:06:00 12345670")
    sleep(30)
    print("by pin", sta4.wintfs[0].associatedTo)
    net.stop()


setLogLevel("info")
topology()
