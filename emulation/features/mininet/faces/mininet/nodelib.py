# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of Mininet's library."""

from emulation.features.mininet.absences import NODES
from emulation.features.mininet.roles import Switch
from emulation.features.mininet.words import absent

LinuxBridge = Switch

__getattr__ = absent("mininet.nodelib", NODES)

__all__ = ["LinuxBridge"]
