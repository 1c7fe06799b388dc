# SPDX-License-Identifier: BSD-3-Clause
"""Motion."""

from emulation.mininet.absences import MOBILITY
from emulation.mininet.words import absent

__getattr__ = absent("mn_wifi.mobility", MOBILITY)

__all__: list[str] = []
