# SPDX-License-Identifier: BSD-3-Clause
"""A topology of Mininet's library."""

from typing import Any

from emulation.features.mininet.net import Mininet
from emulation.features.mininet.topo import TreeTopo
from emulation.features.mininet.words import absent


def TreeNet(depth: int = 1, fanout: int = 2, **kwargs: Any) -> Mininet:
    """A network of it."""
    return Mininet(TreeTopo(depth=depth, fanout=fanout), **kwargs)


__getattr__ = absent("mininet.topolib", {})

__all__ = ["Mininet", "TreeNet", "TreeTopo"]
