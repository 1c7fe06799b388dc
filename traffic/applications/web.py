# SPDX-License-Identifier: BSD-3-Clause
"""Short transfers as on the web: each over its own connection, with long-tailed sizes, after a think time.

It is `request` with other defaults. Sizes are those of a page's main object in the HTTP model of 3GPP2 (C.R1002, which
ns-3's ThreeGppHttpClient follows too): log-normal, 10,710 bytes on average, sigma 1.37, requests of 350 bytes. Users in
that model read for 30 s; here they read for 1 s, so that a short run has traffic.
"""

from __future__ import annotations

from traffic import arrivals
from traffic.applications import request
from traffic.settings import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Application(request.Application):
    """The source asks, the destination answers."""

    settings: ClassVar = request.Application.settings | {
        "connection": Setting("new", words=("kept", "new")),
        "request_bytes": Setting(350, request.SIZE.size, 4096),
        "sizes": Setting("lognormal", words=arrivals.SIZES),
        "mean_bytes": Setting(10_710.0, 1, 1e9),
        "shape": Setting(1.37, 0.01, 10),
        "most_bytes": Setting(2_000_000, 1, 2**40),
        "thinking": Setting("exponential", words=("fixed", "exponential")),
        "think_s": Setting(1.0, 0, 1e5),
    }
