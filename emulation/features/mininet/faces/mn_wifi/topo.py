# SPDX-License-Identifier: BSD-3-Clause
"""Topologies."""

from emulation.features.mininet.topo import LinearWirelessTopo, MinimalWirelessTopo, SingleAPTopo, Topo
from emulation.features.mininet.words import absent

Topo_WiFi = Topo

__getattr__ = absent("mn_wifi.topo", {})

__all__ = ["LinearWirelessTopo", "MinimalWirelessTopo", "SingleAPTopo", "Topo", "Topo_WiFi"]
