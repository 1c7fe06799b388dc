# SPDX-License-Identifier: BSD-3-Clause
"""How many times its own retry limits a station takes, look by look."""

from emulation.lane.recorders.adaptive_retries import CALM, MOST, Station, ended


def looks(*seen: tuple[int, int]) -> list[int]:
    """After each look at frames acknowledged and given up, since the look before."""
    station, acked, given_up, found = Station(), 0, 0, []
    for more_acked, more_given_up in seen:
        acked, given_up = acked + more_acked, given_up + more_given_up
        station.times = station.look(acked, given_up)
        found.append(station.times)
    return found


def test_who_is_answered_tries_longer() -> None:
    """Twice as long for each look with a loss, up to a bound; whom nobody answers has its own limits back."""
    assert looks((5, 0), (5, 1), (5, 2), (5, 1), (0, 1), (5, 1)) == [1, 2, MOST, MOST, 1, 2]


def test_calm_halves() -> None:
    """After so many looks without a loss, and again after as many."""
    calm = [(3, 0)] * CALM
    assert looks((5, 1), (5, 1), *calm, *calm)[1::CALM] == [4, 2, 1]
    assert looks((5, 1), *calm[1:], (5, 1)) == [2] * CALM + [4]


def test_what_counts_as_given_up() -> None:
    """Not what found the queue full."""
    end = {"tcp_data": {"ACKED": 4, "RTS_LIMIT": 1, "LONG_LIMIT": 2, "QUEUE_FULL": 9}, "other": {"SHORT_LIMIT": 3}}
    assert ended({"end": end}) == (4, 6)
