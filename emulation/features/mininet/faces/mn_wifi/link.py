# SPDX-License-Identifier: BSD-3-Clause
"""Mininet-WiFi's links."""

from emulation.features.mininet.absences import LINKS, HardwareIntf
from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.link import ITSLink, Link, TCLink, WirelessLink, adhoc, mesh, wmediumd
from emulation.features.mininet.words import absent

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
