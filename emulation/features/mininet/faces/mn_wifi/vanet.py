# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles."""

from emulation.features.mininet.absences import VANET
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.vanet", VANET)

__all__: list[str] = []
