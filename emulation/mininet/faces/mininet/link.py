# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's links."""

from emulation.mininet.absences import HardwareIntf
from emulation.mininet.link import Link, TCLink
from emulation.mininet.words import absent

OVSLink = TCULink = Link
Intf = TCIntf = OVSIntf = HardwareIntf

__getattr__ = absent("mininet.link", {})

__all__ = ["Intf", "Link", "OVSLink", "TCIntf", "TCLink"]
