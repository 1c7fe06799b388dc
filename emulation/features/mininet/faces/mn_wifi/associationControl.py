# SPDX-License-Identifier: BSD-3-Clause
"""Which access point a station is on."""

from emulation.features.mininet.association import AssociationControl
from emulation.features.mininet.words import absent

associationControl = AssociationControl

__getattr__ = absent("mn_wifi.associationControl", {})

__all__ = ["AssociationControl", "associationControl"]
