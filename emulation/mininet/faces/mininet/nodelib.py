# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of Mininet's library."""

from emulation.mininet.absences import NODES
from emulation.mininet.roles import Switch
from emulation.mininet.words import absent

LinuxBridge = Switch

__getattr__ = absent("mininet.nodelib", NODES)

__all__ = ["LinuxBridge"]
