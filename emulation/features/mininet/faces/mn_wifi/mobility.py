# SPDX-License-Identifier: BSD-3-Clause
"""Motion."""

from emulation.features.mininet.absences import MOBILITY
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.mobility", MOBILITY)

__all__: list[str] = []
