# SPDX-License-Identifier: BSD-3-Clause
"""An 802.11s mesh that passes nothing on (dot11MeshForwarding false), so that the routing above it has to."""

from __future__ import annotations

from emulation.lane.interfaces import radio
from emulation.lane.links import mesh

SET_MESH_CONFIG = 29  # of nl80211's commands
MESH_CONFIG, FORWARDING = 35, 19  # of its attributes, and of those in that one


class Link(mesh.Link):
    """All on one channel with one mesh ID are each other's neighbours, and no more."""

    def join(self, interface: radio.Interface) -> None:
        super().join(interface)
        interface.tune(SET_MESH_CONFIG, (MESH_CONFIG, [(FORWARDING, b"\0")]), what="no forwarding")
