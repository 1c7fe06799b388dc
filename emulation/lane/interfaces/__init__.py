# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces, which connect nodes to links.

Each kind is a file in this package that defines a class `Interface`, derived from `emulation.lane.node.Interface`:
`radio` is a mac80211_hwsim radio, `wired` an end of a veth pair.
"""

from __future__ import annotations

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from emulation.lane.node import Interface


def find(kind: str) -> type[Interface]:
    """Return the interface class of this kind. Raises ValueError, naming the kinds that exist, if there is none."""
    found: type[Interface] = plugins.find(__name__, kind).Interface
    return found


def on_air(plan: Mapping[str, Any]) -> bool:
    """Return whether a plan has stations of the air; then its run loads a medium: the air's module, or the plan's."""
    kinds = {interface["kind"] for node in plan["nodes"] for interface in node["interfaces"]}
    return any(find(kind).on_air for kind in kinds)
