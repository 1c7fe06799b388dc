# SPDX-License-Identifier: BSD-3-Clause
"""Replayed positions."""

from emulation.features.mininet.absences import REPLAYS
from emulation.features.mininet.replaying import ReplayingMobility
from emulation.features.mininet.words import absent

__getattr__ = absent("mn_wifi.replaying", REPLAYS)

__all__ = ["ReplayingMobility"]
