# SPDX-License-Identifier: BSD-3-Clause
"""Propagation."""

from emulation.mininet.absences import PROPAGATION
from emulation.mininet.words import absent

__getattr__ = absent("mn_wifi.propagationModels", PROPAGATION)

__all__: list[str] = []
