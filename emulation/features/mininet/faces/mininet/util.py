# SPDX-License-Identifier: BSD-3-Clause
"""Small things."""

from emulation.features.mininet.util import (
    buildTopo,
    custom,
    decode,
    dumpNetConnections,
    dumpNodeConnections,
    dumpNodes,
    dumpPorts,
    ensureRoot,
    errRun,
    ipAdd,
    irange,
    macColonHex,
    pmonitor,
    quietRun,
    splitArgs,
    waitListening,
)
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.util", {})

__all__ = [
    "buildTopo",
    "custom",
    "decode",
    "dumpNetConnections",
    "dumpNodeConnections",
    "dumpNodes",
    "dumpPorts",
    "ensureRoot",
    "errRun",
    "ipAdd",
    "irange",
    "macColonHex",
    "pmonitor",
    "quietRun",
    "splitArgs",
    "waitListening",
]
