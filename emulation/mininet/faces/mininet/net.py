# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's networks."""

from emulation.mininet.net import Mininet
from emulation.mininet.words import absent

__getattr__ = absent("mininet.net", {})

__all__ = ["Mininet"]
