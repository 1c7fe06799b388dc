# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's log."""

from emulation.features.mininet.log import critical, debug, error, info, lg, output, setLogLevel, warn, warning
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.log", {})

__all__ = ["critical", "debug", "error", "info", "lg", "output", "setLogLevel", "warn", "warning"]
