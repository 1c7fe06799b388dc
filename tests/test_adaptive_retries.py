# SPDX-License-Identifier: BSD-3-Clause
"""The number of retry limits that a station uses up, from state to state."""

from emulation.lane.recorders.adaptive_retries import MULTIPLE, Station, acked_and_given_up


def test_a_station_that_gets_acks_retries_longer() -> None:
    """Even after frames given up. Without any answer the station's own limits return; else they stay."""
    station, acked, given_up, found = Station(), 0, 0, []
    for more_acked, more_given_up in ((0, 0), (5, 0), (0, 0), (0, 1), (0, 0), (5, 1), (5, 0), (0, 2)):
        acked, given_up = acked + more_acked, given_up + more_given_up
        station.multiple = station.update(acked, given_up)
        found.append(station.multiple)
    assert found == [1, MULTIPLE, MULTIPLE, 1, 1, MULTIPLE, MULTIPLE, 1]


def test_given_up_frames_exclude_those_of_a_full_queue() -> None:
    """Not frames that found the queue full."""
    end = {"tcp_data": {"ACKED": 4, "RTS_LIMIT": 1, "LONG_LIMIT": 2, "QUEUE_FULL": 9}, "other": {"SHORT_LIMIT": 3}}
    assert acked_and_given_up({"end": end}) == (4, 6)
