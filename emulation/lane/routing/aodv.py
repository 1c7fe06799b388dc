# SPDX-License-Identifier: BSD-3-Clause
"""AODV (RFC 3561), in manet.ko: it searches for routes on demand, and keeps them while they are used."""

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL, farthest = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL, manet.farthest
plan = partial(manet.plan, "aodv")
Routing = manet.Routing
