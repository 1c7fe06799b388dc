# SPDX-License-Identifier: BSD-3-Clause
"""The state of a station from dcf_look() agrees with the later trace; looking changes nothing."""

from __future__ import annotations

import ctypes as c

from dcf import US, Core, library, mutual, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from test_invariants import arranged, made, networks

from emulation.lane.protocol import DOINGS

SLOT, DIFS, NO_BACKOFF = 20 * US, 50 * US, 0xFFFF
RTS, CTS = 352 * US, 304 * US  # at 1 Mb/s, of the 2 Mb/s frame's basic rate
LINE = mutual(3, {(0, 1): 1000, (1, 2): 1000, (0, 2): 20})  # 0 and 2 sense each other, and receive nothing


class Look(c.Structure):
    _fields_ = [("nav_end_ns", c.c_uint64), ("until_ns", c.c_uint64), ("queued", c.c_uint16), ("cw", c.c_uint16),
                ("backoff", c.c_uint16), ("doing", c.c_uint8), ("reserved", c.c_uint8)]  # fmt: skip


def look_at(air: Core, station: int) -> Look:
    found = Look()
    library().dcf_look.argtypes = [c.c_void_p, c.c_uint16, c.POINTER(Look)]
    air.lib.dcf_look(air.memory, station, found)
    return found


def doing(look: Look) -> str:
    return DOINGS[look.doing]


def test_an_exchange_step_by_step() -> None:
    """0 sends to 1 with an RTS; 2 defers to what it senses, then to the NAV of the CTS."""
    air = Core(LINE)
    air.send(0, 1, tcp(1460), at=100 * US, rts=True)
    air.run(100 * US + RTS // 2)
    assert [doing(look_at(air, i)) for i in range(3)] == ["send", "receive", "idle"]
    assert look_at(air, 0).until_ns == 100 * US + RTS and look_at(air, 0).queued == 1
    air.run(100 * US + RTS)
    assert [doing(look_at(air, i)) for i in range(3)] == ["wait_cts", "sifs", "idle"]
    assert look_at(air, 1).until_ns == 100 * US + RTS + 10 * US
    air.run(100 * US + RTS + 10 * US + CTS // 2)
    assert [doing(look_at(air, i)) for i in range(3)] == ["receive", "send", "receive"]
    air.run(100 * US + RTS + 10 * US + CTS)
    assert [doing(look_at(air, i)) for i in range(3)] == ["sifs", "idle", "idle"]
    (data,) = (int.from_bytes(tx.bytes[2:4], "little") * US for tx in air.tx if tx.kind == "cts")
    assert look_at(air, 2).nav_end_ns == air.now + data
    air.send(2, 1, tcp(0), at=air.now + 50 * US)
    air.run(air.now + 100 * US)
    assert doing(look_at(air, 2)) == "defer" and look_at(air, 2).queued == 1 and 0 <= look_at(air, 2).backoff <= 31
    air.run(10**9)
    assert [(doing(look_at(air, i)), look_at(air, i).queued, look_at(air, i).nav_end_ns) for i in range(3)] == [
        ("idle", 0, 0)
    ] * 3


def test_slots_pass_one_by_one() -> None:
    air = Core(LINE)
    for _ in range(2):  # the second has a backoff to wait for
        air.send(0, 1, tcp(100), at=100 * US)
    while doing(look_at(air, 0)) != "backoff":
        air.run(air.now + US)
    begun, slots = air.now, look_at(air, 0).backoff
    at = begun + slots * SLOT
    assert slots > 1 and look_at(air, 0).until_ns == at
    for passed in range(slots):
        air.run(begun + passed * SLOT + SLOT - 1)
        assert look_at(air, 0).backoff == slots - passed
        air.run(begun + passed * SLOT + SLOT)
    assert doing(look_at(air, 0)) == "send" and air.tx[-1].start == at


@given(networks, st.integers(0, 2**32), st.booleans(), st.lists(st.integers(0, 60_000), min_size=1, max_size=30))
@examples(100)
def test_it_is_what_the_trace_has_and_changes_nothing(network, seed, edca, times):  # type: ignore[no-untyped-def]
    powers, delays, traffic = network
    air = made(powers, delays, edca, seed=seed)
    looked, given_over = [], arranged(traffic, edca)
    for at_us in sorted(times):
        while given_over and given_over[0][3] <= at_us:
            station, to, payload, then_us, rts, rate, priority = given_over.pop(0)
            ra = b"\xff" * 6 if to in (len(powers), station) else to
            air.send(station, ra, tcp(payload), at=then_us * US, rate=rate, rts=rts, priority=priority)
        air.run(at_us * US + 1)  # a time at which none of these begins
        before = air.memory.raw
        looked += [(air.now, station, look_at(air, station)) for station in range(len(powers))]
        assert air.memory.raw == before
    air.run(60 * 10**9)
    for at, station, look in looked:
        sending = [t for t in air.tx if t.station == station and t.start <= at < t.end]
        assert (doing(look) == "send") == bool(sending)
        if sending:
            assert look.until_ns == sending[0].end
        if doing(look) == "backoff" and look.until_ns:
            assert (
                look.until_ns > at and look.backoff == -(-(look.until_ns - at) // SLOT) - edca
            )  # counted as it begins
        if doing(look) in ("defer", "backoff", "wait_cts", "wait_ack") and look.until_ns:
            assert look.until_ns > at
        assert look.backoff == NO_BACKOFF or look.backoff <= look.cw
