# SPDX-License-Identifier: BSD-3-Clause
"""A way outside, private folders, limits of computing, a prompt of the script's own, an error that it catches."""

import contextlib
from pathlib import Path

from mininet.cli import CLI
from mininet.node import CPULimitedHost
from mininet.util import quietRun
from mn_wifi.net import Mininet_wifi

PLACE = ("dev", "sta1-wlan0")
CLIENT = """
import socket
server = socket.create_connection(("127.0.0.1", 12345))
for request in ("set.sta1.setPosition(\\"1,2,0\\")", "get.sta1.position", "get.sta1.nothing", "what"):
    server.sendall(request.encode())
    print(server.recv(1024).decode().split(" ")[0], end="|")
"""


class Prompt(CLI):
    prompt = "mine> "

    def do_greet(self, line):
        """greet NAME: greet somebody."""
        print("hello", line, self.mn.get("h1").IP())


def topology():
    net = Mininet_wifi(host=CPULimitedHost)
    net.init()
    h1 = net.addHost("h1", cpu=0.5, privateDirs=["/var/run", "/var/log", "/var/none/there", ("/mnt", "/tmp/%(name)s")])
    sta1 = net.addStation("sta1", encrypt="wpa2", passwd="12345678", ieee80211w="1", privateDirs=["/run", "/var/log"])
    ap1 = net.addAccessPoint("ap1", ssid="x", channel="1", encrypt="wpa2", passwd="12345678", ieee80211w="2")
    s1 = net.addSwitch("s1")
    h1.linkTo(s1)
    net.addLink(ap1, s1)
    net.addNAT().configDefault()
    net.plotGraph(nax_x=100)
    with contextlib.suppress(Exception):
        net.addStation("sta3", phywlan="wlan0")
    print("there", hasattr(h1, "nothing"))
    net.addController("c1")
    net.start()
    h1.setCPUFrac(0.5)
    print("protected", "MFP:\t\tyes" in sta1.cmd("iw dev sta1-wlan0 station dump"))
    sta1.wintfs[0].associate(ap1.wintfs[0])
    print("controlled", "COMPLETED" in sta1.cmd("wpa_cli -i sta1-wlan0 status"))
    for node in (h1, sta1):
        print(node, "outside lost", node.cmd("ping -c 1 192.0.2.1 | grep -o '[0-9]*% packet loss'").split("%")[0])
    h1.cmd("echo of h1 | tee /var/log/mine /mnt/mine")
    print(
        "private",
        repr(h1.cmd("cat /var/log/mine /mnt/mine")),
        sta1.cmd("ls /var/log").split(),
        Path("/tmp/h1/mine").read_text(),
    )
    s1.detach("s1-eth1")
    print("detached", net.ping([h1, sta1]))
    s1.attach("s1-eth1")
    print("attached", net.ping([h1, sta1]))
    before = sta1.wintfs[0].range
    sta1.cmd("iw dev sta1-wlan0 set txpower fixed 500")
    print("power", sta1.wintfs[0].txpower, sta1.wintfs[0].range < before)
    for words in ["iw dev sta1-wlan0 set txpower fixed 600"], ["iw", *PLACE, "set", "txpower", "fixed", "700"]:
        sta1.pexec(*words)
        print("power", sta1.wintfs[0].txpower, "txpower 7.00" in sta1.cmd("iw dev sta1-wlan0 info"))
    print("own", ap1.IP(), s1.IP(), s1.IP("s1-eth1"))
    net.socketServer()
    quietRun(f"""python3 -c '{CLIENT}' > answers""", shell=True)
    print("answers", Path("answers").read_text().split("|"), sta1.position)
    Prompt(net)
    net.stop()


topology()
