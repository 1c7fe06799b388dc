# SPDX-License-Identifier: BSD-3-Clause
"""OLSR (RFC 3626), in manet.ko: nodes announce their links periodically, so each node knows all routes."""

from functools import partial

from emulation.lane import manet

MODULES, RECORDERS, PUNCTUAL = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL
plan = partial(manet.plan, "olsr")
Routing = manet.Routing
