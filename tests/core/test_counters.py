# SPDX-License-Identifier: BSD-3-Clause
"""A measurement counts what begins within it, and no more time than it lasted."""

from __future__ import annotations

import pytest
from dcf import US, Core, tcp


def sending(**options: int) -> Core:
    """0 is in the middle of a frame of some 12 ms when the second measurement begins."""
    air = Core([[0, 100], [100, 0]], **options)
    air.send(0, 1, tcp(1460), at=US, rate=10)
    air.run(5000 * US)
    assert [t.end for t in air.tx] > [6000 * US]
    return air


@pytest.mark.parametrize("stop", [True, False], ids=["stopped", "still-measuring"])
def test_a_measurement_counts_nothing_of_the_one_before(stop: bool) -> None:
    air = sending()
    if stop:
        air.stop()
    air.lib.dcf_start(air.memory, 5000 * US)
    air.run(6000 * US)
    air.stop()
    for station in range(2):
        counters = air.counters(station)
        assert counters.tx_ns == sum(counters.tx) == sum(counters.airtime_ns) == 0
        assert counters.busy_ns == 1000 * US
    assert counters.nav_ns == 0


@pytest.mark.parametrize("stop", [True, False], ids=["stopped", "still-measuring"])
def test_what_was_sent_before_is_not_received_within(stop: bool) -> None:
    air = sending()
    if stop:
        air.stop()
    air.lib.dcf_start(air.memory, 5000 * US)
    air.rx.clear()
    air.run(10**9)
    air.stop()
    assert [r.id for r in air.rx] == [air.tx[1].id]  # the ACK
    assert sum(map(sum, air.counters(1).rx)) == 0
    assert sum(map(sum, air.counters(0).rx)) == 1


def test_a_flush_takes_back_what_was_counted_ahead() -> None:
    air = Core([[0, 100, 100], [100, 0, 0], [100, 0, 0]])
    air.send(0, 1, tcp(1460), at=US, rate=10, rts=True)
    air.run(1500 * US)
    assert [t.kind for t in air.tx] == ["rts", "cts", "tcp_data"]
    air.lib.dcf_run(air.memory, 1500 * US)
    air.flush()
    air.run(10**9)
    air.stop()
    for station in range(3):
        counters = air.counters(station)
        assert max(counters.tx_ns, counters.nav_ns, counters.busy_ns) <= 1500 * US
        assert counters.busy_ns > 1000 * US
