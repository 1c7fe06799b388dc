# SPDX-License-Identifier: BSD-3-Clause
"""The first process of a kernel with one hwsim radio, in an IBSS: `NUMBER COUNT`. Number 1 sends COUNT datagrams to
number 2, which returns them. Prints how many came back, and ends the kernel."""

import contextlib
import os
import socket
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)))

from emulation.lane import syscalls
from emulation.lane.interfaces import radio
from emulation.lane.netlink import DUMP, Generic, number
from emulation.lane.rtnetlink import Route, hardware_address

SSID, BSSID, FREQ, BASIC = "lab", "02:00:00:00:00:ff", 2412, (10, 20)


def join(own: int) -> None:
    """Make the radio, and join."""
    mac = hardware_address(f"02:00:00:00:00:{own:02x}")
    with Generic() as generic, Route() as route:
        generic.command("MAC80211_HWSIM", radio.NEW_RADIO, [(radio.PERMANENT_ADDRESS, mac)])
        made = next(one for one in generic.command("nl80211", radio.GET_INTERFACE, flags=DUMP) if one[radio.MAC] == mac)
        index = number(made[radio.IFINDEX])
        kind = [(radio.IFINDEX, index), (radio.IFTYPE, radio.IFTYPES["ibss"])]
        generic.command("nl80211", radio.SET_INTERFACE, kind)
        route.set_link(index, up=True)
        route.add_address(index, f"10.0.0.{own}/24")
        cell = [(radio.IFINDEX, index), *radio.channel(FREQ, None), (radio.SSID, SSID.encode()),
                (radio.MAC, hardware_address(BSSID)), (radio.FREQ_FIXED, b""), *radio.beacons(100, BASIC)]  # fmt: skip
        generic.command("nl80211", radio.JOIN_IBSS, cell)


def main(own: int, count: int) -> None:
    syscalls.mount("proc", "/proc")
    join(own)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("", 9))
        if own == 2:
            while True:
                data, sender = end.recvfrom(2000)
                end.sendto(data, sender)
        end.settimeout(0.1)
        came = set[int]()
        while len(came) < count:
            end.sendto(bytes([len(came)]) + bytes(499), ("10.0.0.2", 9))
            with contextlib.suppress(TimeoutError):
                came.add(end.recv(2000)[0])
        print(f"{len(came)} of {count} came back", file=sys.stderr, flush=True)


try:
    main(*map(int, sys.argv[1:]))
except BaseException as error:
    print(f"failed: {error!r}", file=sys.stderr, flush=True)
syscalls.power_off()
