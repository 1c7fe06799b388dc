# SPDX-License-Identifier: BSD-3-Clause
"""Small things: Mininet's."""

from emulation.features.mininet.faces.mininet.util import *  # noqa: F403
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.util", {})
