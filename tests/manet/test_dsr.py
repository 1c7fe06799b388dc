# SPDX-License-Identifier: BSD-3-Clause
"""DSR by hand-written timelines: how routes are found, answered, shortened and waited for."""

from __future__ import annotations

import pytest
from dsr_frames import (
    LINK,
    PENDING,
    air,
    checksum,
    control,
    data,
    dsr,
    entries,
    options,
    originators,
    request,
    searches,
)
from world import MS, Event, Kind, Reason, Sent, World, address


@pytest.mark.parametrize(
    ("preset", "rings"),
    [("rfc", [(0, 1), (30, 255)]), ("thesis", [(0, 1), (30, 2), (90, 4)]), ("cmu", [(0, 1), (30, 16)])],
)
def test_a_route_is_found_in_rings_to_the_microsecond(preset: str, rings: list[tuple[float, int]]) -> None:
    with dsr(5, preset) as world:
        world.string()
        world.send(0, 4, ip_id=7, length=100)
        world.run(1)
        assert searches(world) == rings
        found = round(rings[-1][0] * MS) + air(32, 36, 40, 44) + 4 * air(59)  # 20 + 4, route 4 + 12, reply 3 + 16
        assert [(r.time, r.hops, r.next_hop) for r in world.told(Event.FOUND)] == [(found, 4, 1)]
        (arrived,) = world.delivered
        assert (arrived.time, arrived.ttl) == (found + 4 * air(100 + 4 + 16), 61)
        assert [options(f)[1:4] for f in data(world)] == [([1, 2, 3], left, 0) for left in (3, 2, 1, 0)]
        assert world.hops(0, 4) == 4


@pytest.mark.parametrize(
    ("preset", "times"),
    [
        ("rfc", [0, 30, 530, 1530, 3530, 7530, 15530, 25530]),  # then waiting packets and the search are given up
        ("thesis", [0, 30, 90, 210, 450, 930, 1890, 3810, 7650, 15330, *range(25330, 90000, 10000)]),
        ("cmu", [0, 30, 2000, 2030, 10000, 10030, 20000, 20030]),
    ],
)
def test_requests_back_off(preset: str, times: list[float]) -> None:
    with dsr(2, preset) as world:
        world.send(0, 1)
        world.run(200)
        assert [at for at, _ in searches(world)] == times
        assert [(r.time, r.reason) for r in world.told(Event.DROPPED, 0)] == [(30000 * MS, Reason.BUFFER_TIMEOUT)]
        assert len(world.told(Event.SEARCH_FAILED)) == (preset == "thesis")


def test_what_waits_is_lost_when_the_search_is_given_up() -> None:
    with dsr(2, request_retries=1) as world:
        world.send(0, 1)
        world.run(1)
        assert [(r.time, r.reason) for r in world.told(Event.DROPPED)] == [(530 * MS, Reason.NO_ROUTE)]
        (entry,) = entries(world, 0, PENDING)
        assert (entry.to, entry.state, entry.waiting) == (1, "idle", 0)


def test_the_oldest_makes_room_in_the_send_buffer() -> None:
    with dsr(2, buffer=3) as world:
        for number in range(5):
            world.send(0, 1, ip_id=number)
        (entry,) = entries(world, 0, PENDING)
        assert (entry.to, entry.state, entry.waiting) == (1, "searching", 3)
        world.string()
        world.run(1)
        assert [(r.ip_id, r.reason) for r in world.told(Event.DROPPED, 0) if r.kind == Kind.DATA] == [
            (0, Reason.BUFFER_FULL),
            (1, Reason.BUFFER_FULL),
        ]
        assert [packet.ip_id for packet in world.delivered] == [2, 3, 4]


def test_packets_that_waited_go_apart() -> None:
    with dsr(2, release_gap_ms=30) as world:
        world.string()
        for number in range(3):
            world.send(0, 1, ip_id=number, length=100)
        world.run(1)
        first = world.delivered[0].time
        assert [packet.time - first for packet in world.delivered] == [0, 30 * MS, 60 * MS]


@pytest.mark.parametrize(("every", "answers"), [(0, 1), (1, 2)])
def test_the_target_answers_every_copy_or_the_first(every: int, answers: int) -> None:
    with dsr(4, reply_all=every, ttl_first=8) as world:
        world.links([(0, 1), (0, 2), (1, 3), (2, 3)])
        world.send(0, 3)
        world.run(0.01)
        assert sum(f.source == 3 for f in control(world, Kind.RREP)) == answers


def test_who_knows_the_rest_of_the_way_answers_and_asks_no_further() -> None:
    with dsr(5, ttl_first=1) as world:
        world.string(0, 1, 2, 3)
        world.send(1, 3)
        world.run(1)
        world.link(4, 1)
        before = len(world.frames)
        start = world.now
        world.send(4, 3, ip_id=9, length=100)
        world.run(1)
        assert [r.count for r in world.told(Event.SEARCH, 4)] == [1]
        requests = [f for f in world.frames[before:] if options(f).kinds == [1]]
        replies = [f for f in world.frames[before:] if options(f).kinds == [96, 2]]
        assert [f.source for f in requests] == [4]
        assert [(f.source, f.to) for f in replies] == [(1, 4)]
        assert world.delivered[-1].time == start + air(32, 20 + 4 + 4 + 15) + 3 * air(100 + 4 + 12)


def test_no_cached_way_back_through_who_asks() -> None:
    with dsr(4) as world:
        world.string(1, 0, 2)  # 1 has a route to 2 over 0
        world.send(1, 2)
        world.run(1)
        world.link(0, 2, False)
        world.run(1)
        world.send(0, 2)
        world.run(5)
        assert entries(world, 1, LINK)
        assert not [f for f in control(world, Kind.RREP) if f.source == 1 and f.time > 2_000 * MS]


def test_a_reply_is_held_off_while_a_better_way_is_used() -> None:
    with dsr(4, reply_holdoff_ms=20, ttl_first=8, first_timeout_ms=1000) as world:
        world.string(0, 1, 2)
        world.send(0, 2)
        world.run(1)
        world.link(3, 0)
        world.lossy(0, promiscuous=True)
        world.send(3, 2, length=100)  # 0 would answer, 20 ms and a draw later at the earliest
        world.run(0.015)
        assert not [f for f in control(world, Kind.RREP) if f.source == 0]
        route = [address(1)]
        packet = bytearray(bytes.fromhex("45000030000100004030000000000000000000001100000800000000"))
        packet[12:16], packet[16:20] = address(3).to_bytes(4, "big"), address(2).to_bytes(4, "big")
        packet[24:28] = bytes([96, 6, 0, 1])
        packet = packet[:28] + b"".join(node.to_bytes(4, "big") for node in route) + bytes(16)
        packet[2:4] = len(packet).to_bytes(2, "big")
        packet[10:12] = checksum(packet[:20])
        world.inject(3, 0, bytes(packet), overheard=True)
        world.run(0.1)
        assert not [f for f in control(world, Kind.RREP) if f.source == 0]
        assert [r.reason for r in world.told(Event.DROPPED, 0) if r.kind == Kind.RREP] == [Reason.DUPLICATE]


def test_a_shorter_way_that_is_heard_is_told_and_not_again_for_a_second() -> None:
    with dsr(4, cache_reverse=0) as world:
        world.string()
        world.send(0, 3)
        world.run(1)
        world.link(0, 2)
        world.lossy(0, promiscuous=True)
        for number in range(2):
            world.send(0, 3, ip_id=10 + number, length=100)
        world.run(1)
        gratuitous = [f for f in control(world, Kind.RREP) if f.time > 1_000 * MS]
        assert [(f.source, f.to) for f in gratuitous] == [(2, 0)]
        assert gratuitous[0].time == 1_000 * MS + air(100 + 4 + 12, 20 + 4 + 4 + 3 + 8)
        assert [(r.to, r.next_hop, r.hops) for r in world.told(Event.CHANGED)] == []
        world.send(0, 3, ip_id=12)
        assert [(r.to, r.next_hop, r.hops) for r in world.told(Event.CHANGED, 0)] == [(3, 2, 2)]


def test_routes_have_sixteen_hops_and_no_more() -> None:
    with dsr(18, buffer_timeout_ms=5000) as world:
        world.string()
        world.send(0, 16, ip_id=1)
        world.send(0, 17, ip_id=2)
        world.run(10)
        assert [packet.ip_id for packet in world.delivered] == [1]
        assert world.hops(0, 16) == 16
        assert world.hops(0, 17) == 0
        assert Reason.TOO_LONG in {r.reason for r in world.told(Event.DROPPED, 16)}


def test_a_packet_too_long_with_its_route_is_dropped_and_said() -> None:
    with dsr(3, longest=1500) as world:
        world.string()
        world.send(0, 2, ip_id=1, length=1488)
        world.send(0, 2, ip_id=2, length=1489)
        world.run(1)
        assert [packet.ip_id for packet in world.delivered] == [1]
        assert [(r.ip_id, r.reason) for r in world.told(Event.DROPPED, 0) if r.kind == Kind.DATA] == [
            (2, Reason.TOO_LONG)
        ]


@pytest.mark.parametrize(("preset", "size"), [("rfc", 100), ("thesis", 108), ("cmu", 108)])
def test_a_neighbour_needs_no_options_header(preset: str, size: int) -> None:
    with dsr(2, preset) as world:
        world.string()
        world.send(0, 1, length=100)
        world.run(1)
        assert [len(f.bytes) for f in data(world)] == [size]
        assert len(world.delivered) == 1


def test_requests_of_two_originators_never_clash() -> None:
    with dsr(6) as world:
        for originator, number in ((1, 5), (2, 5), (1, 5), (1, 6), (2, 6)):
            world.inject(originator, 0, request(originator, number, 5))
        world.run(1)
        assert originators(world) == [1, 2, 1, 2]
        assert [r.source for r in world.told(Event.DROPPED, 0) if r.reason == Reason.DUPLICATE] == [1]
        seen = [entry for entry in entries(world, 0, PENDING) if entry.state == "seen"]
        assert [(entry.origin, entry.sequence) for entry in seen] == [(1, 6), (2, 6)]


def test_the_newest_request_only_counts_where_that_is_asked() -> None:
    with dsr(6, "cmu") as world:
        for number in (5, 4, 6, 65535):
            world.inject(1, 0, request(1, number, 5))
        world.run(1)
        assert [int.from_bytes(f.bytes[26:28], "big") for f in control(world, Kind.RREQ)] == [5, 6]


def test_an_originator_that_was_quiet_for_longest_is_forgotten_first() -> None:
    with dsr(6, request_table=2) as world:
        for originator in (1, 2, 1, 3, 1, 2):
            world.inject(originator, 0, request(originator, 5, 5))
            world.run(0.01)
        assert originators(world) == [1, 2, 3, 2]


def test_the_same_seed_makes_the_same_bytes() -> None:
    def run(seed: int) -> list[Sent]:
        with World(6, "dsr", seed=seed) as world:
            world.string()
            world.send(0, 5)
            world.run(1)
            return world.frames

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_a_full_queue_breaks_no_route() -> None:
    with dsr(3, queue=2) as world:
        world.string()
        world.send(0, 2)
        world.run(1)
        for number in range(50):
            world.send(0, 2, ip_id=number)
        world.run(1)
        assert Reason.QUEUE_FULL in {r.reason for r in world.told(Event.DROPPED, 0)}
        assert not world.told(Event.LINK_LOST)
        assert not control(world, Kind.RERR)
        assert world.hops(0, 2) == 2
