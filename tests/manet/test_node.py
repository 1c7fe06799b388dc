# SPDX-License-Identifier: BSD-3-Clause
"""What all protocols share, under static routes: the queue, its order and its purge, and the radio's reports."""

import pytest
from world import MS, NOT_SENT, STRANGER, US, Event, Reason, World, protocols


def test_packets_go_hop_by_hop_and_live_one_less_each() -> None:
    with World(4, "static") as world:
        world.string()
        for at, to, via in ((0, 3, 1), (1, 3, 2), (2, 3, 3)):
            world.set_route(at, to, via, 3 - at)
        world.send(0, 3, ip_id=7)
        world.run(1)
        (arrived,) = world.delivered
        assert (arrived.at, arrived.source, arrived.ip_id, arrived.ttl) == (3, 0, 7, 62)
        assert world.hops(0, 3) == 3
        assert [frame.to for frame in world.frames] == [1, 2, 3]


def test_what_is_given_up_is_lost_and_nothing_else() -> None:
    with World(2, "static") as world:
        world.set_route(0, 1, 1)
        for number in range(3):
            world.send(0, 1, ip_id=number)
        world.run(0.003)
        world.link(0, 1)
        world.run(1)
        assert [(r.reason, r.ip_id) for r in world.told(Event.DROPPED)] == [(Reason.LINK_BROKEN, 0)]
        assert [packet.ip_id for packet in world.delivered] == [1, 2]


def test_a_full_queue_drops_what_comes_last() -> None:
    with World(2, "static", queue=3) as world:
        world.string()
        world.set_route(0, 1, 1)
        for number in range(6):
            world.send(0, 1, ip_id=number)
        world.run(1)
        assert [packet.ip_id for packet in world.delivered] == [0, 1, 2, 3]  # one is on the air
        assert [(r.reason, r.ip_id) for r in world.told(Event.DROPPED)] == [
            (Reason.QUEUE_FULL, 4),
            (Reason.QUEUE_FULL, 5),
        ]


def test_no_route_is_reported_and_counted() -> None:
    with World(2, "static") as world:
        world.send(0, 1)
        assert world.counters(0).dropped[Reason.NO_ROUTE] == 1


def test_there_are_protocols() -> None:
    assert protocols()[0] == "static"


def test_a_neighbour_that_nobody_knows_any_more_is_no_end() -> None:
    """Also while a frame waits for another attempt; later frames continue."""
    with World(3, "static") as world:
        world.link(0, 1)
        for to in (1, 2):
            world.set_route(0, to, to)
        world.unwilling(refusing=NOT_SENT)
        world.send(0, 1, ip_id=1)
        world.send(0, 1, ip_id=2)
        world.run(0.003)
        world.unwilling(forgetful=True)
        world.run(0.1)
        lost = [(record.reason, record.ip_id) for record in world.told(Event.DROPPED)]
        assert lost == [(Reason.NO_NEIGHBOUR, 1), (Reason.NO_NEIGHBOUR, 2)]
        world.unwilling()
        world.send(0, 1, ip_id=3)
        world.run(0.1)
        assert [packet.ip_id for packet in world.delivered] == [3]


@pytest.mark.parametrize(("answer", "reason"), [(NOT_SENT, Reason.UNSENT), (STRANGER, Reason.LINK_BROKEN)])
def test_a_radio_that_takes_nothing_says_nothing_of_the_link_unless_it_does_not_know_the_station(
    answer: int, reason: int
) -> None:
    """It is asked four times, 1, 2 and 4 ms apart. The air gave nothing up."""
    with World(2, "static") as world:
        world.string()
        world.set_route(0, 1, 1)
        world.unwilling(refusing=answer)
        world.send(0, 1, length=500)
        world.run(1)
        (lost,) = world.told(Event.DROPPED)
        assert (lost.reason, lost.time) == (reason, 4 * (500 * US + 500 * 4 * US) + 7 * MS)
        assert world.counters(0).lost == 0
