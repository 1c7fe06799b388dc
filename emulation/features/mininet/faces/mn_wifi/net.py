# SPDX-License-Identifier: BSD-3-Clause
"""Mininet-WiFi's networks."""

from emulation.features.mininet.wifi import Mininet_wifi
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.net", {})

__all__ = ["Mininet_wifi"]
