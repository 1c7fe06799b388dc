# SPDX-License-Identifier: BSD-3-Clause
"""Mininet-WiFi's networks."""

from emulation.mininet.wifi import Mininet_wifi
from emulation.mininet.words import absent

__getattr__ = absent("mn_wifi.net", {})

__all__ = ["Mininet_wifi"]
