# SPDX-License-Identifier: BSD-3-Clause
"""The prompt."""

from emulation.mininet.cli import CLI
from emulation.mininet.words import absent

__getattr__ = absent("mininet.cli", {})

__all__ = ["CLI"]
