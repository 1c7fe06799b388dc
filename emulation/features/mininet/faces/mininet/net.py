# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's networks."""

from emulation.features.mininet.net import Mininet
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.net", {})

__all__ = ["Mininet"]
