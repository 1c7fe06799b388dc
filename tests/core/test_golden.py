# SPDX-License-Identifier: BSD-3-Clause
"""Golden hashes: the core's trace of three scenarios. A change here is a change of the model: say why in the commit."""

import hashlib

import pytest
from dcf import US, Core, dsss, mutual, tcp


def string(n: int, **options: int) -> Core:
    """Neighbours 200 m apart hear each other, those at 400 m are sensed: ns-2's ranges."""
    pairs = {(i, i + hops): power for i in range(n) for hops, power in ((1, 2440), (2, 153)) if i + hops < n}
    delay = [[667 * abs(i - j) for j in range(n)] for i in range(n)]
    return Core(mutual(n, pairs), delay, phy=dsss(), rx=1000, cs=43, seed=7, **options)


def play(air: Core, rts: bool, rate: int = 20) -> str:
    """Each station sends to the next, all through 400 ms; the trace's SHA-256."""
    for step in range(80):
        for i in range(air.n - 1):
            air.send(
                i, i + 1, tcp(1460 if (step + i) % 2 else 0), at=(5_000 * step + 37 * i + 1) * US, rate=rate, rts=rts
            )
    air.run(10**9)
    air.stop()
    return hashlib.sha256(air.raw).hexdigest()


@pytest.mark.parametrize(
    ("rts", "options", "golden"),
    [
        (True, {"eifs": 2}, "ec5e35e0832ca08d053a757c3d8500dd790d6759b8abfb6d5853c4d6d9e53a24"),
        (False, {"eifs": 2}, "d8583a63548f794df6608982317d0894f9e349a6a7bf1ba2780cdbab18391682"),
        (True, {"eifs": 1, "nav_reset": False}, "30e1b0d2dc24d9dc117c75500ab4bb53bf2453aaee5b2449bde17198c5b58dfe"),
    ],
    ids=["rts", "none", "no-nav-reset"],
)
def test_golden_trace(rts: bool, options: dict[str, int], golden: str) -> None:
    assert play(string(5, **options), rts) == golden
