# SPDX-License-Identifier: BSD-3-Clause
"""Mininet-WiFi's links."""

from emulation.mininet.absences import LINKS, HardwareIntf
from emulation.mininet.interface import WIntf
from emulation.mininet.link import ITSLink, Link, TCLink, WirelessLink, adhoc, mesh, wmediumd
from emulation.mininet.words import absent

Wmediumd = wmediumd
TCWirelessLink = wtc = WirelessLink
IntfWireless = WIntf
Intf = HardwareIntf

__getattr__ = absent("mn_wifi.link", LINKS)

__all__ = [
    "ITSLink",
    "Intf",
    "IntfWireless",
    "Link",
    "TCLink",
    "TCWirelessLink",
    "WIntf",
    "WirelessLink",
    "Wmediumd",
    "adhoc",
    "mesh",
    "wmediumd",
]
