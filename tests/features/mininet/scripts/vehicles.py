# SPDX-License-Identifier: BSD-3-Clause
"""Cars on a road, without SUMO: 802.11p's way to talk, and a random model within a lane."""

from time import sleep

from mininet.log import setLogLevel
from mn_wifi.link import ITSLink, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference


def topology():
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    for i in range(1, 6):
        net.addCar(f"car{i}", wlans=1, min_v=10, max_v=20)
    net.setPropagationModel(model="logDistance", exp=2.2)
    net.configureNodes()
    for car in net.cars:
        net.addLink(car, cls=ITSLink, intf=f"{car.name}-wlan0", channel="181")
    net.setMobilityModel(time=0, model="RandomDirection", max_x=300, max_y=20, seed=20)
    net.build()
    for i, car in enumerate(net.cars, 1):
        car.setIP(f"192.168.0.{i}/24", intf=f"{car.name}-wlan0")
    where = [car.position for car in net.cars]
    sleep(5)
    moved = [car for car, before in zip(net.cars, where, strict=True) if car.position != before]
    inside = all(0 <= car.position[0] <= 300 and 0 <= car.position[1] <= 20 for car in net.cars)
    print("moved", len(moved), "inside", inside)
    net.ping(net.cars[:2])
    print(net.cars[0].cmd("iw dev car1-wlan0 info").split("type ")[1].split()[0])
    print("again", round(net.ping(net.cars[:2])), net.cars[1].IP())
    net.stop()


setLogLevel("info")
topology()
