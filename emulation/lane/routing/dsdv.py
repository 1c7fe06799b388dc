# SPDX-License-Identifier: BSD-3-Clause
"""DSDV (Perkins, Bhagwat 1994), in manet.ko: each node sends its neighbours all its routes, with sequence numbers."""

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL
plan = partial(manet.plan, "dsdv")
Routing = manet.Routing
