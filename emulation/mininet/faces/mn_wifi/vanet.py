# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles."""

from emulation.mininet.absences import VANET
from emulation.mininet.words import absent

__getattr__ = absent("mn_wifi.vanet", VANET)

__all__: list[str] = []
