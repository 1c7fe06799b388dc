# SPDX-License-Identifier: BSD-3-Clause
"""OLSR (RFC 3626), by manet.ko: each node knows all routes, from what others say regularly of their links."""

from __future__ import annotations

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL
plan = partial(manet.plan, "olsr")
Routing = manet.Routing
