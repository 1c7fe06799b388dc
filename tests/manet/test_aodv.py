# SPDX-License-Identifier: BSD-3-Clause
"""AODV's search for routes, by hand: rings and waits to the microsecond, who answers, sequence numbers, the buffer."""

import pytest
from aodv_wire import LENGTHS, RERR, RREP, RREQ, Message, data_for, messages, on_air, rerr, rrep, rreq
from world import MS, SECOND, Event, Kind, Reason, World

DATA = 512


def searches(world: World, node: int = 0) -> list[tuple[int, int]]:
    """Return the time in ms and the TTL of each request of this node's own."""
    return [(r.time // MS, r.count) for r in world.told(Event.SEARCH, node)]


def test_a_route_is_found_in_the_second_ring() -> None:
    """Four hops: a TTL of 2 does not reach the destination; after 80 ms x (2 + 2) one of 4 does. A frame takes its
    airtime, and nothing else takes time."""
    with World(5, "aodv", "thesis", jitter_ms=0) as world:
        world.string()
        world.send(0, 4, ip_id=7, length=DATA)
        world.run(1)
        there, back = 4 * on_air(LENGTHS["rreq"]), 4 * on_air(LENGTHS["rrep"])
        assert searches(world) == [(0, 2), (320, 4)]
        (found,) = [r for r in world.told(Event.FOUND, 0) if r.to == 4]
        assert (found.time, found.next_hop, found.hops) == (320 * MS + there + back, 1, 4)
        (arrived,) = world.delivered
        assert (arrived.at, arrived.ip_id, arrived.ttl) == (4, 7, 61)
        assert arrived.time == found.time + 4 * on_air(DATA)
        assert [(m.source, m.ttl, m.hops) for m in messages(world, RREQ)] == [
            (0, 2, 0), (1, 1, 1), (0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3)
        ]  # fmt: skip
        assert [(m.source, m.to, m.hops) for m in messages(world, RREP)] == [
            (4, 3, 0), (3, 2, 1), (2, 1, 2), (1, 0, 3)
        ]  # fmt: skip
        assert world.hops(0, 4) == world.hops(4, 0) == 4


@pytest.mark.parametrize(
    ("preset", "rings", "end"),
    [
        ("rfc", [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35)], 10320),
        ("thesis", [(0, 2), (320, 4), (800, 6), (1440, 8), (2240, 35), (5200, 35)], 8160),
        ("cmu", [(0, 5), (300, 7), (720, 30), (2520, 30), (6120, 30), (11520, 30)], 18720),
    ],
)
def test_the_rings_of_a_search_in_vain(preset: str, rings: list[tuple[int, int]], end: int) -> None:
    with World(2, "aodv", preset, jitter_ms=0, buffer_ms=60_000) as world:
        world.send(0, 1)
        world.run(25)
        assert searches(world) == rings
        (failed,) = world.told(Event.SEARCH_FAILED)
        (dropped,) = world.told(Event.DROPPED)
        assert (failed.time, dropped.time, dropped.reason) == (end * MS, end * MS, Reason.NO_ROUTE)


def test_without_rings_the_wait_is_doubled() -> None:
    with World(2, "aodv", "rfc", jitter_ms=0, buffer_ms=60_000, expanding_ring=0) as world:
        world.send(0, 1)
        world.run(30)
        assert searches(world) == [(0, 35), (2800, 35), (8400, 35)]
        assert [r.time // MS for r in world.told(Event.SEARCH_FAILED)] == [19600]


def test_after_a_search_in_vain_the_next_is_put_off() -> None:
    """ns-2's MAX_RREQ_TIMEOUT: packets that arrive during it wait, and their route is searched for afterwards."""
    with World(2, "aodv", "cmu", jitter_ms=0) as world:
        world.send(0, 1)
        world.run(20)
        before = len(searches(world))
        world.send(0, 1)
        world.run(8.7)
        assert len(searches(world)) == before
        world.run(0.1)
        assert searches(world)[before:] == [(28720, 5)]


def test_a_known_distance_is_where_the_next_search_begins() -> None:
    with World(4, "aodv", "thesis", jitter_ms=0) as world:
        world.string()
        world.send(0, 3)
        world.run(10)
        assert world.hops(0, 3) == 3 and 3 not in world.routes(0)
        world.send(0, 3)
        assert searches(world)[-1] == (10_000, 5)


def test_only_the_first_copy_of_a_request_counts() -> None:
    """Two routes of the same length: one reply, and each node forwards each request once."""
    with World(4, "aodv", "thesis", jitter_ms=0) as world:
        world.string(0, 1, 3)
        world.string(0, 2, 3)
        world.send(0, 3)
        world.run(1)
        assert [(m.source, m.to) for m in messages(world, RREP)] == [(3, 1), (1, 0)]
        assert sorted(m.source for m in messages(world, RREQ)) == [0, 1, 2]


def test_requests_of_two_hosts_with_one_number_are_two() -> None:
    """The number is the originator's (inet #293): both requests are answered, and both are forwarded."""
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        world.string(0, 1, 2)
        for origin in (0, 2, 0, 2):
            world.inject(origin, 1, rreq(origin, origin, 77, 3))
            world.inject(origin, 1, rreq(origin, origin, 78, 1))
        world.run(0.5)
        passed_on = [(m.words[0], m.words[3] - m.words[1]) for m in messages(world, RREQ) if m.source == 1]
        assert passed_on == [(77, -3), (77, -1)]
        assert [m.to for m in messages(world, RREP)] == [0, 2]


def test_a_request_is_known_again_for_so_long() -> None:
    with World(2, "aodv", "rfc", jitter_ms=0) as world:
        for _ in range(2):
            for _ in range(3):
                world.inject(0, 1, rreq(0, 0, 5, 9))
            world.run(5.601)
        assert len(messages(world, RREQ)) == 2


def known_to_one(world: World) -> None:
    """A string of 4: node 1 has a route to 3, since it sent there; node 0 has none."""
    world.string()
    world.send(1, 3)
    world.run(0.5)
    world.frames.clear()


def test_who_has_a_route_replies_for_the_destination_and_tells_it() -> None:
    """6.6.2 and 6.6.3: hops, precursors in both directions, and with G a reply to the destination, too."""
    with World(4, "aodv", "rfc", jitter_ms=0, gratuitous=1) as world:
        known_to_one(world)
        world.send(0, 3)
        world.run(0.5)
        assert [m.source for m in messages(world, RREQ)] == [0]
        assert [(m.source, m.to, m.hops) for m in messages(world, RREP)] == [(1, 0, 2), (1, 2, 1), (2, 3, 2)]
        assert [packet.at for packet in world.delivered] == [3, 3]
        routes = world.routes(1)
        assert routes[3].path == (0,) and routes[0].path == (2,)
        assert world.routes(3)[0].hops == 3


@pytest.mark.parametrize(("gratuitous", "replies"), [(0, 1), (2, 1)])
def test_the_destination_is_not_told_of_what_is_not_tcp(gratuitous: int, replies: int) -> None:
    with World(4, "aodv", "rfc", jitter_ms=0, gratuitous=gratuitous) as world:
        known_to_one(world)
        world.send(0, 3)  # UDP
        world.run(0.5)
        assert len(messages(world, RREP)) == replies


def test_with_the_d_flag_only_the_destination_replies() -> None:
    with World(4, "aodv", "rfc", jitter_ms=0, destination_only=1) as world:
        known_to_one(world)
        world.send(0, 3)
        world.run(0.7)
        assert {m.flags for m in messages(world, RREQ)} == {0x18, 0x10}  # U until a node knows a number
        assert [m.source for m in messages(world, RREP)] == [3, 2, 1]


def test_an_older_route_does_not_answer() -> None:
    """Node 1 knows 3 with number 1, its first. A node that asks for 2 gets this number from 3, which takes it for its
    own."""
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        known_to_one(world)
        assert world.routes(1)[3].sequence == 1
        world.inject(0, 1, rreq(0, 0, 9, 3, seq=1, flags=0))
        world.run(0.1)
        assert [m.source for m in messages(world, RREP)] == [1]
        world.inject(0, 1, rreq(0, 0, 10, 3, seq=2, own=2, flags=0))
        world.run(0.1)
        assert [m.source for m in messages(world, RREP)] == [1, 3, 2, 1]
        assert world.routes(1)[3].sequence == 2


def test_a_route_back_to_where_the_request_came_from_is_no_answer() -> None:
    """Node 1 has a route to 2 by 0, and 0 has none: with the reply both would point at each other."""
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        world.inject(0, 1, rrep(0, 1, 2, 5, 1, hops=1))
        assert world.routes(1)[2].via == 0
        world.inject(0, 1, rreq(0, 0, 1, 2))
        world.run(0.1)
        assert not messages(world, RREP) and len(messages(world, RREQ)) == 1


def test_sequence_numbers_never_go_back() -> None:
    """6.2: a route replaces another if it is newer, or as new and shorter; numbers wrap at 2^32."""
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        top = 2**32 - 2

        def learn(via: int, seq: int, hops: int) -> tuple[int | None, int, int]:
            world.inject(via, 0, rrep(via, 0, 3, seq, 0, hops=hops))
            route = world.routes(0)[3]
            return route.via, route.sequence, route.hops

        assert learn(1, top, 3) == (1, top, 4)
        assert learn(2, top, 3) == (1, top, 4)
        assert learn(2, top, 2) == (2, top, 3)
        assert learn(1, top - 1, 1) == (2, top, 3)
        assert learn(1, 1, 5) == (1, 1, 6)  # round
        assert learn(2, top, 1) == (1, 1, 6)
        world.inject(1, 0, rerr(1, 0, (3, top)))  # an error with an old number: one up, not back
        (lost,) = world.told(Event.LOST_ROUTE)
        assert lost.extra == 2
        world.inject(2, 0, rrep(2, 0, 3, 1, 0))
        assert 3 not in world.routes(0)
        world.inject(2, 0, rrep(2, 0, 3, 2, 0, hops=8))
        assert world.routes(0)[3].hops == 9


def test_a_route_lives_from_its_last_use_and_is_forgotten_in_the_end() -> None:
    """Data extends the routes to source, destination and next hops. They expire 3 s after it, and are deleted 15 s
    later."""
    with World(3, "aodv", "rfc", jitter_ms=0, delete_period_ms=4000) as world:
        world.string()
        for _ in range(8):
            world.send(0, 2)
            world.run(1)
        last = 7 * SECOND
        assert sorted(world.routes(1)) == [0, 2]
        ends = {e.to: e.until for e in world.entries(0)}
        assert ends == {1: last + 3 * SECOND, 2: last + 3 * SECOND}
        world.run(1.999)
        assert sorted(world.routes(0)) == [1, 2]
        world.run(0.002)
        assert world.routes(0) == {} and world.hops(0, 2) == 2
        assert all(not e.valid for e in world.entries(0))
        world.run(4)
        assert world.entries(0) == [] and world.hops(0, 2) == 0


def test_what_waited_goes_in_order_five_milliseconds_apart() -> None:
    with World(2, "aodv", "thesis", jitter_ms=0) as world:
        world.string()
        for number in range(4):
            world.send(0, 1, ip_id=number, length=100)
        world.run(1)
        found = on_air(LENGTHS["rreq"]) + on_air(LENGTHS["rrep"])
        assert [(p.ip_id, p.time - found - on_air(100)) for p in world.delivered] == [
            (number, 5 * MS * number) for number in range(4)
        ]
        assert [r.ip_id for r in world.told(Event.RELEASED)] == [0, 1, 2, 3]


def test_the_buffer_holds_so_many_so_long() -> None:
    with World(3, "aodv", "thesis", jitter_ms=0, buffer=3, rreq_retries=20) as world:
        for number in range(5):
            world.send(0, 1 + number % 2, ip_id=number)
        assert [(r.reason, r.ip_id) for r in world.told(Event.DROPPED)] == [
            (Reason.BUFFER_FULL, 0),
            (Reason.BUFFER_FULL, 1),
        ]
        world.run(9.999)
        assert world.counters(0).dropped[Reason.BUFFER_TIMEOUT] == 0
        world.run(0.002)
        assert world.counters(0).dropped[Reason.BUFFER_TIMEOUT] == 3


def test_ten_requests_a_second_and_the_others_wait() -> None:
    with World(30, "aodv", "rfc", jitter_ms=0, ttl_start=7) as world:
        for to in range(1, 16):
            world.send(0, to)
        assert len(searches(world)) == 10
        world.run(0.719)
        assert len(searches(world)) == 10
        world.run(0.282)
        assert [time for time, _ in searches(world)][10:] == [1000] * 10
        times = [r.time for r in world.told(Event.SEARCH)]
        assert all(b - a >= SECOND for a, b in zip(times, times[10:], strict=False))


def test_nobody_speaks_after_a_start_that_must_wait() -> None:
    """6.13: no requests or replies for DELETE_PERIOD; data that the node should forward extends it."""
    with World(3, "aodv", "rfc", jitter_ms=0, delete_period_ms=5000) as world:
        world.string()
        world.run(2)
        world.set(1, "wait_on_reboot", 1)
        world.lib.world_stop(world.world, 1)
        world.lib.world_start(world.world, 1)
        world.send(0, 1)
        world.send(1, 2)
        world.run(1)
        assert {m.source for m in messages(world)} == {0}
        world.inject(0, 1, data_for(2))
        (error,) = messages_after(world, 0.1, RERR)
        assert error.source == 1 and error.nodes == [2]
        world.run(4.8)
        assert {m.source for m in messages(world, RREQ)} == {0}
        world.run(0.3)
        assert {m.source for m in messages(world, RREQ)} == {0, 1}
        world.run(2)
        assert sorted(packet.at for packet in world.delivered) == [1, 2]


def messages_after(world: World, seconds: float, kind: int) -> list[Message]:
    before = len(messages(world, kind))
    world.run(seconds)
    return messages(world, kind)[before:]


def test_a_full_queue_breaks_no_route_and_no_search() -> None:
    with World(3, "aodv", "thesis", queue=5) as world:
        world.string()
        for number in range(3000):
            world.send(0, 2, ip_id=number, length=1400)
            world.run(0.005)
        world.run(1)
        lost = world.told(Event.DROPPED)
        assert {(r.reason, r.kind) for r in lost} == {(Reason.QUEUE_FULL, Kind.DATA)}
        assert len(world.delivered) + len(lost) == 3000
        assert not world.told(Event.LOST_ROUTE) and not world.told(Event.LINK_LOST)
