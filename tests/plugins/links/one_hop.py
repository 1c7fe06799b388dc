# SPDX-License-Identifier: BSD-3-Clause
"""An 802.11s mesh that does not forward (dot11MeshForwarding false), so that the routing above it has to."""

from __future__ import annotations

from emulation.lane.interfaces import radio
from emulation.lane.links import mesh

SET_MESH_CONFIG = 29  # a command of nl80211
MESH_CONFIG, FORWARDING = 35, 19  # its attributes: the configuration, and one in it


class Link(mesh.Link):
    """Stations on one channel with one mesh ID are neighbours, and nothing more."""

    def join(self, interface: radio.Interface) -> None:
        super().join(interface)
        interface.tune(SET_MESH_CONFIG, (MESH_CONFIG, [(FORWARDING, b"\0")]), what="no forwarding")
