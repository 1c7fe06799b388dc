# SPDX-License-Identifier: BSD-3-Clause
"""Topologies."""

from emulation.features.mininet.topo import LinearTopo, MinimalTopo, SingleSwitchReversedTopo, SingleSwitchTopo, Topo
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.topo", {})

__all__ = ["LinearTopo", "MinimalTopo", "SingleSwitchReversedTopo", "SingleSwitchTopo", "Topo"]
