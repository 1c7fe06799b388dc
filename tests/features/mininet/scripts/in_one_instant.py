# SPDX-License-Identifier: BSD-3-Clause
"""Equal programs say hello at each full second; and batman-adv, of whose ticks all stations have the same."""

import sys
from pathlib import Path
from time import sleep

from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi

HELLO = """
import socket, sys, time
me, heard = sys.argv[1], {}
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.bind(("", 5000))
for _ in range(20):
    until = time.monotonic() // 1 + 1
    while (left := until - time.monotonic()) > 0:
        s.settimeout(left)
        try:
            said = s.recv(100).decode()
        except TimeoutError:
            break
        heard[said] = heard.get(said, 0) + (said != me)
    s.sendto(me.encode(), ("10.255.255.255", 5000))
print(me, "heard", sum(heard.values()))
"""


def network(spacing):
    net = Mininet_wifi()
    stations = [net.addStation(f"sta{number}", position=f"{spacing * number},0,0") for number in (1, 2, 3)]
    net.configureNodes()
    for station in stations:
        net.addLink(station, cls=adhoc, ssid="one", mode="g", channel=1)
    net.build()
    return net, stations


def hello():
    net, stations = network(30)
    Path("hello.py").write_text(HELLO)
    programs = [station.popen([sys.executable, "hello.py", station.name]) for station in stations]
    for program in programs:
        print(program.communicate()[0].decode(), end="")
    net.stop()


def batman():
    net, stations = network(70)
    for number, station in enumerate(stations):
        wlan = station.wintf()
        station.cmd(f"ip link set {wlan} mtu 1532; ip link add bat0 type batadv; ip link set {wlan} master bat0")
        station.cmd(f"ip link set bat0 up; ip addr add 10.9.0.{number}/24 dev bat0")
    sleep(60)
    print("over two hops:", stations[0].cmd("ping -c 5 10.9.0.2 | grep -o '[0-9]* received'"))
    net.stop()


hello()
batman()
