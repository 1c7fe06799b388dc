# SPDX-License-Identifier: BSD-3-Clause
"""Topologies."""

from emulation.mininet.topo import LinearTopo, MinimalTopo, SingleSwitchReversedTopo, SingleSwitchTopo, Topo
from emulation.mininet.words import absent

__getattr__ = absent("mininet.topo", {})

__all__ = ["LinearTopo", "MinimalTopo", "SingleSwitchReversedTopo", "SingleSwitchTopo", "Topo"]
