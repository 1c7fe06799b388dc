# SPDX-License-Identifier: BSD-3-Clause
"""Any value that control can give to the core is refused, or leaves a core that still carries traffic to its end."""

from __future__ import annotations

from dcf import NEVER, RATES, US, Config, Core, Errors, Link, Phy, airtime_ns, dsss, library, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from emulation.lane.air import attowatts
from emulation.lane.protocol import RULES
from emulation.specification.propagation import FAINTEST_DBM, HIGHEST_CAPTURE_DB, STRONGEST_DBM

N = 3
u8, u16, u32, u64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))
s32 = st.integers(-(2**31), 2**31 - 1)


def often(*sound: int, wild: st.SearchStrategy[int]) -> st.SearchStrategy[int]:
    """One in ten is wild: half of all configurations of ten values are sound."""
    return st.sampled_from(range(10)).flatmap(lambda n: st.sampled_from(sound) if n else wild)


phys = st.builds(
    Phy, often(1000, 9000, 20_000, 10**6, wild=u32), often(4000, 10_000, 23_999, wild=u32),
    often(0, 1, 31, wild=u32), often(31, 1023, 65535, wild=u32), often(0, 6000, 10**6, wild=u32),
    often(1, 0b10001, 0xFFF, wild=u32),
)  # fmt: skip
configurations = st.fixed_dictionaries(
    {
        "phy": phys, "reception": often(0, 1, wild=u8), "eifs": often(0, 1, 2, wild=u8), "nav_reset": st.booleans(),
        "stages": st.booleans(), "seed": u64, "rx": often(100, 10**18, wild=u64), "cs": often(1, 10, wild=u64),
        "noise": often(1, 1000, wild=u64), "ratio": often(1, 10, 0, wild=st.integers(0, 4_294_967)),
        "snap": often(24, 128, wild=u16), "rules": st.sets(st.sampled_from(RULES)),
    }
)  # fmt: skip
stations = st.tuples(u16, u16, u8, u8, u16, st.booleans()) | st.tuples(
    st.integers(0, N), st.sampled_from([0, 2412, 5180]), u8, u8, st.integers(0, 151), st.booleans()
)
links = st.tuples(st.integers(0, N), st.integers(0, N), often(0, 10, 1000, 10**19, wild=u64), s32,
                  often(0, 667, 31_999, 32_000, wild=u32))  # fmt: skip
tables = st.tuples(often(*RATES, wild=u16), s32, often(1, 250, 100_000, wild=u32), often(0, 1, 256, wild=u32),
                   st.lists(often(0, 1, 2**40 - 1, wild=u64), max_size=4))  # fmt: skip
changes = st.one_of(
    st.tuples(st.just("station"), stations), st.tuples(st.just("link"), links), st.tuples(st.just("errors"), tables),
)  # fmt: skip
frames = st.tuples(
    st.just("frame"),
    st.tuples(st.integers(0, N - 1), st.integers(0, N), st.sampled_from(RATES), st.booleans(),
              st.sampled_from([2412, 5180])),
)  # fmt: skip


@given(configurations, st.lists(st.one_of(changes, frames), max_size=30))
@examples(300)
def test_control_never_stops_the_core(configuration, steps):  # type: ignore[no-untyped-def]
    hears_all = [[1000] * N] * N
    try:
        air = Core(hears_all, **configuration)
    except ValueError as refusal:
        assert str(refusal)
        return
    sent = 0
    for kind, values in steps:
        if kind == "station":
            air.lib.dcf_set_station(air.memory, *values)
        elif kind == "link":
            air.lib.dcf_set_link(air.memory, *values[:2], Link(*values[2:]))
        elif kind == "errors":
            rate, first, step, points, some = values
            errors = Errors(first, step, points)
            errors.lambda_q40[: len(some)] = some
            air.lib.dcf_set_errors(air.memory, rate, errors)
        else:
            station, to, rate, rts, freq = values
            air.send(
                station, to if to < N else b"\xff" * 6, tcp(100), at=air.now + 500 * US, rate=rate, rts=rts, freq=freq
            )
            sent += 1
    air.run(10**15)
    assert len(air.finished) == sent
    assert not air.frames
    assert air.lib.dcf_next(air.memory) == NEVER


def test_the_core_takes_what_a_specification_may_ask_for() -> None:
    strongest, faintest = attowatts(STRONGEST_DBM * 1000), attowatts(FAINTEST_DBM * 1000)
    air = Core([[0] * N] * N, reception=1, noise=faintest, cs=faintest, rx=strongest)
    assert air.lib.dcf_set_link(air.memory, 0, 1, Link(strongest, STRONGEST_DBM * 1000, 0))
    assert not air.lib.dcf_set_link(air.memory, 0, 1, Link(strongest + 1, STRONGEST_DBM * 1000, 0))
    assert round(1000 * 10 ** (HIGHEST_CAPTURE_DB / 10)) < 2**32


def test_a_sifs_is_shorter_than_any_frame_and_two_of_them_let_a_signal_pass() -> None:
    """Otherwise a station owes two answers at once, or owes none and waits; or sends over its own transmission."""
    air = Core([[0] * N] * N)
    lengths, shortest = range(14, 200), 24 * US
    assert shortest == min(airtime_ns(dsss(), rate, n, True) for rate in RATES for n in lengths)
    for sifs, sound in ((3999, False), (4000, True), (shortest - 1, True), (shortest, False), (10**6, False)):
        air.config.phy = dsss(sifs_ns=sifs)
        assert (air.lib.dcf_check(air.config) == 0) == sound


@given(st.integers(0, 2**16 - 1))
def test_only_so_many_stations(stations: int) -> None:
    config = Config(dsss(), stations, 0, 1, True, False, True, False, False, 128, 0, 10_000, 100, 10, 1, 1)
    assert bool(library().dcf_check(config)) == (not 1 <= stations <= 1024)
