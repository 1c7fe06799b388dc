# SPDX-License-Identifier: BSD-3-Clause
"""DSR (RFC 4728), in manet.ko: packets carry their route, which the source searched for on demand, or overheard."""

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL, farthest = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL, manet.farthest
OVERHEARS = True
SNAP = 128 + manet.OVERHEAD  # TCP follows a route of up to 16 hops
plan = partial(manet.plan, "dsr")
Routing = manet.Routing
