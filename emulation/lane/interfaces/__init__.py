# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces: what ties a node to a link.

Each kind is a file here that defines a class `Interface`, of `emulation.lane.node.Interface`: `radio` is a
mac80211_hwsim radio.
"""

from __future__ import annotations

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.node import Interface


def find(kind: str) -> type[Interface]:
    """The interface of this kind. Raises ValueError, with the kinds there are, if there is none."""
    found: type[Interface] = plugins.find(__name__, kind).Interface
    return found
