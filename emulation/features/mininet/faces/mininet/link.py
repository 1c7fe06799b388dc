# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's links."""

from emulation.features.mininet.absences import HardwareIntf
from emulation.features.mininet.link import Link, TCLink
from emulation.features.mininet.words import absent

OVSLink = TCULink = Link
Intf = TCIntf = OVSIntf = HardwareIntf

__getattr__ = absent("mininet.link", {})

__all__ = ["Intf", "Link", "OVSLink", "TCIntf", "TCLink"]
