# SPDX-License-Identifier: BSD-3-Clause
"""Replayed positions."""

from emulation.mininet.absences import REPLAYS
from emulation.mininet.replaying import ReplayingMobility
from emulation.mininet.words import absent

__getattr__ = absent("mn_wifi.replaying", REPLAYS)

__all__ = ["ReplayingMobility"]
