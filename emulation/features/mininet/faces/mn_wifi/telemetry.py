# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry."""

from emulation.features.mininet.telemetry import telemetry
from emulation.features.mininet.words import absent

Telemetry = telemetry

__getattr__ = absent("mn_wifi.telemetry", {})

__all__ = ["Telemetry", "telemetry"]
