# SPDX-License-Identifier: BSD-3-Clause
"""Propagation."""

from emulation.features.mininet.absences import PROPAGATION
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.propagationModels", PROPAGATION)

__all__: list[str] = []
