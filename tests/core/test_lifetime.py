# SPDX-License-Identifier: BSD-3-Clause
"""A frame stays with the core until its last signal has passed, however it ends; then it is returned, once. The binding
overwrites returned frames, which shows whether the core still reads them."""

from __future__ import annotations

from dcf import NEVER, US, Core, Link, dsss, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

FAR = 31_999  # ns: the longest possible delay
N = 4


def far(**options: int) -> Core:
    """0 sends to 1, beside it; 2, far away, listens to all."""
    hears = [[0, 100, 100], [100, 0, 0], [0, 0, 0]]
    air = Core(hears, [[0, 0, FAR], [0, 0, 0], [0, 0, 0]], short=1, **options)
    assert air.lib.dcf_set_station(air.memory, 2, 2412, 7, 4, 50, True)
    return air


def test_a_change_of_channel_while_the_last_ack_is_due() -> None:
    air = far()
    assert air.lib.dcf_set_address(air.memory, 1, b"\x02\0\0\0\0\x09")  # so that none comes
    air.send(0, 1, tcp(100), at=US)
    air.run(100 * US)
    end = air.tx[0].end
    air.run(end)
    assert air.lib.dcf_set_station(air.memory, 0, 2437, 1, 4, 50, False)
    air.run(end + FAR - 1)
    assert [e.reason for e in air.end] == ["SHORT_LIMIT"]
    assert not air.finished
    air.run(10**9)
    assert [(time, to) for time, to, _ in air.delivered] == [(end + FAR, 2)]
    assert [(time, reason) for time, _, reason, _ in air.finished] == [(end + FAR, "SHORT_LIMIT")]


def test_an_ack_that_is_there_before_the_signal_has_passed_everyone() -> None:
    air = far(phy=dsss(sifs_ns=5 * US, slot_ns=9 * US, basic_rates=0xFFF))
    air.send(0, 1, tcp(100), at=US, rate=540)
    air.run(10**9)
    data, ack = air.tx
    assert air.end[0].time == ack.end < data.end + FAR
    passed = data.end + FAR + 5 * US  # an overheard frame is reported a SIFS late
    assert [(time, to) for time, to, _ in air.delivered] == [(data.end, 1), (passed, 2)]
    assert [(time, reason) for time, _, reason, _ in air.finished] == [(passed, "ACKED")]


def test_who_overhears_is_handed_data_and_what_is_for_all() -> None:
    air = far()
    air.send(0, 1, tcp(100), at=US)
    air.run(10**8)
    air.send(0, 1, bytes(2), at=10**8, farewell=True)
    air.run(2 * 10**8)
    air.send(0, b"\xff" * 6, bytes(2), at=2 * 10**8, farewell=True)
    air.run(10**9)
    assert [to for _, to, _ in air.delivered] == [1, 2, 1, 1, 2]


def test_a_flush_while_a_frame_is_on_its_way() -> None:
    for moment in (60 * US, 100 * US, 10**6):
        air = far()
        air.send(0, 1, tcp(100), at=US)
        air.send(0, b"\xff" * 6, tcp(100), at=US)
        air.run(moment)
        air.flush()
        assert not air.frames
        air.send(0, 1, tcp(100), at=air.now + US)
        air.run(10**10)
        assert len(air.finished) == 3
        assert not air.faults


stations = st.integers(0, N - 1)
steps = st.one_of(
    st.tuples(st.just("send"), stations, st.integers(0, N), st.sampled_from([10, 110, 60, 540]), st.booleans()),
    st.tuples(st.just("tune"), stations, st.sampled_from([2412, 2437])),
    st.tuples(st.just("link"), stations, stations, st.sampled_from([0, 20, 1000]), st.sampled_from([0, 667, FAR])),
    st.tuples(st.sampled_from(["start", "stop", "flush"])),
)
delays = st.lists(st.lists(st.sampled_from([0, 667, 24_001, FAR]), min_size=N, max_size=N), min_size=N, max_size=N)


@given(
    st.lists(st.tuples(st.integers(0, 400 * US), steps), max_size=40), delays, st.integers(0, 1),
    st.sampled_from([5, 10, 16]), st.integers(0, 2**32),
)  # fmt: skip
@examples(200)
def test_each_frame_stays_as_long_as_it_is_heard(script, delay, reception, sifs, seed):  # type: ignore[no-untyped-def]
    phy = dsss(sifs_ns=sifs * US, slot_ns=9 * US, basic_rates=0xFFF, cw_min=3)
    air = Core([[100] * N] * N, delay, phy=phy, reception=reception, seed=seed, short=2, long=1, queue=4)
    sent = 0
    for wait, (what, *values) in script:
        at = air.now + wait
        if what == "send":
            station, to, rate, rts = values
            air.send(station, to if to < N else b"\xff" * 6, tcp(100), at=at, rate=rate, rts=rts)
            sent += 1
            continue
        air.lib.dcf_run(air.memory, at)
        air.now = at
        if what == "tune":
            air.lib.dcf_set_station(air.memory, *values, 1, 1, 4, True)
        elif what == "link":
            air.lib.dcf_set_link(air.memory, *values[:2], Link(values[2], 0, values[3]))
        elif what == "start":
            air.lib.dcf_start(air.memory, at)
        elif what == "stop":
            air.lib.dcf_stop(air.memory, at, 0)
        else:
            air.flush()
    air.lib.dcf_run(air.memory, air.now + 10**12)
    assert air.lib.dcf_next(air.memory) == NEVER
    assert not air.faults, air.faults[0]
    assert len(air.finished) == sent
    assert not air.frames
