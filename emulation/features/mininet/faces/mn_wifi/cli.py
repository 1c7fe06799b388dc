# SPDX-License-Identifier: BSD-3-Clause
"""The prompt."""

from emulation.features.mininet.cli import CLI
from emulation.features.mininet.words import absent

CLI_wifi = CLI

__getattr__ = absent("mn_wifi.cli", {})

__all__ = ["CLI", "CLI_wifi"]
