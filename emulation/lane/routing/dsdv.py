# SPDX-License-Identifier: BSD-3-Clause
"""DSDV (Perkins, Bhagwat 1994), by manet.ko: each node tells its neighbours all its routes, and how fresh each is."""

from __future__ import annotations

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL
plan = partial(manet.plan, "dsdv")
Routing = manet.Routing
