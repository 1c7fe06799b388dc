# SPDX-License-Identifier: BSD-3-Clause
"""Which station answers to an address: the table, against a dictionary."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from dcf import Core, tcp
from hypothesis import given
from hypothesis import strategies as st

N, NOBODY = 2, 0xFFFF
OWN = {bytes((2, 0, 0, 0, 0, i)): i for i in range(N)}
# More addresses than slots, so that many collide; also those that begin and end in zeros.
ADDRESSES = [bytes((a, 0, 0, 0, b, c)) for a in (0, 2) for b in range(5) for c in (0, 9)]
steps = st.lists(
    st.tuples(st.sampled_from(["add", "del"]), st.integers(0, N - 1), st.sampled_from(ADDRESSES[:8])), max_size=80
)


@given(steps)
def test_each_address_is_found_as_long_as_it_is_somebodys(script: list[tuple[str, int, bytes]]) -> None:
    air = Core([[0] * N] * N)
    owner, uses = dict(OWN), Counter[bytes]()
    for what, station, address in script:
        may = (station,) if what == "del" else (station, None)
        mine = owner.get(address) in may and (what == "add" or uses[address] > 0)
        change = air.lib.dcf_add_address if what == "add" else air.lib.dcf_del_address
        assert change(air.memory, station, address) == mine
        if mine:
            uses[address] += 1 if what == "add" else -1
            owner[address] = station
            if not uses[address] and address not in OWN:
                del owner[address]
        for known in (*owner, address):
            assert air.lib.dcf_find_address(air.memory, known) == owner.get(known, NOBODY)


def test_what_lies_beyond_a_deleted_address_is_found() -> None:
    for gone, stays in permutations(set(ADDRESSES) - OWN.keys(), 2):
        air = Core([[0] * N] * N)
        for address in (gone, stays):
            assert air.lib.dcf_add_address(air.memory, 0, address)
        assert air.lib.dcf_del_address(air.memory, 0, gone)
        assert air.lib.dcf_find_address(air.memory, stays) == 0, (gone, stays)
        assert air.lib.dcf_find_address(air.memory, gone) == NOBODY


def test_a_station_whose_own_address_is_taken_away_is_off_until_it_is_back_or_sends() -> None:
    """It hears nothing and answers nothing. For a scan, hwsim adds and removes an address that is already there."""
    air, own = Core([[1000] * N] * N), list(OWN)[1]
    add, take = air.lib.dcf_add_address, air.lib.dcf_del_address
    assert add(air.memory, 1, own)
    assert add(air.memory, 1, own) and take(air.memory, 1, own)
    heard = []
    for step in ("on", "off", "on again", "off again", "sends"):
        if step.startswith("off"):
            assert take(air.memory, 1, own)
        if step == "on again":
            assert add(air.memory, 1, own)
        if step == "sends":
            air.send(1, 0, tcp(10), at=air.now)
        air.send(0, 1, tcp(100), at=air.now)
        air.run(air.now + 10**9)
        heard.append((air.end[-1].reason if step != "sends" else "", sum(r.station == 1 for r in air.rx) > 0))
        air.rx.clear()
    assert [reason for reason, _ in heard[:4]] == ["ACKED", "SHORT_LIMIT", "ACKED", "SHORT_LIMIT"]
    assert [any_ for _, any_ in heard] == [True, False, True, False, True]


def test_a_station_that_goes_off_gives_back_what_it_has_to_send() -> None:
    """A transmission continues to its end; nothing follows it, whatever the station was waiting for."""
    for moment in (10, 100, 500, 900, 1_000, 1_200, 2_000):  # us: idle, RTS, CTS, DATA, ACK
        air, own = Core([[1000] * N] * N), next(iter(OWN))
        assert air.lib.dcf_add_address(air.memory, 0, own)
        for _ in range(5):
            air.send(0, 1, tcp(100), at=1_000, rts=True)
        air.run(moment * 1000)
        before, acked = len(air.tx), sum(end.reason == "ACKED" for end in air.end)
        assert air.lib.dcf_del_address(air.memory, 0, own)
        air.run(10**10)
        assert [reason for _, _, reason, _ in air.finished] == ["ACKED"] * acked + ["REFUSED"] * (5 - acked)
        assert not air.frames
        assert all(tx.station == 1 for tx in air.tx[before:])


def test_a_station_has_one_address_of_its_own_however_often_it_is_named() -> None:
    air = Core([[0] * N] * N)
    first, other, guest = (bytes((2, 0, 0, 0, 7, i)) for i in range(3))
    find, name = air.lib.dcf_find_address, air.lib.dcf_set_address
    for _ in range(3):
        assert name(air.memory, 0, first)
    assert not air.lib.dcf_del_address(air.memory, 0, first)  # no one has added it
    assert air.lib.dcf_add_address(air.memory, 0, first)
    assert air.lib.dcf_add_address(air.memory, 0, guest)
    assert name(air.memory, 0, other)
    assert [find(air.memory, a) for a in (first, other, guest)] == [0, 0, 0]
    assert air.lib.dcf_del_address(air.memory, 0, first)
    assert [find(air.memory, a) for a in (first, other, guest)] == [NOBODY, 0, 0]
    assert not name(air.memory, 1, other)
    assert not name(air.memory, 1, b"\xff" * 6)
    assert not name(air.memory, N, first)
    assert name(air.memory, 1, first)
    assert [find(air.memory, a) for a in (first, other)] == [1, 0]
