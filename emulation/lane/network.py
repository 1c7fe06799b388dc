# SPDX-License-Identifier: BSD-3-Clause
"""What routings, recorders and motion may ask of the network that they are in; `emulation.lane.net.Net` is one.

For type checkers only.
"""

from __future__ import annotations

from typing import Any, Protocol

from emulation.lane.air import Air
from emulation.lane.node import Node


class Network(Protocol):
    """A network that has started. `plan` is all of it; `air` is None where all radios hear each other."""

    plan: dict[str, Any]
    nodes: dict[str, Node]
    air: Air | None
    folder: str
