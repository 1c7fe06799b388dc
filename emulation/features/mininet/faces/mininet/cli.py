# SPDX-License-Identifier: BSD-3-Clause
"""The prompt."""

from emulation.features.mininet.cli import CLI
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.cli", {})

__all__ = ["CLI"]
