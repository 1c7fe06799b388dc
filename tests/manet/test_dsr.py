# SPDX-License-Identifier: BSD-3-Clause
"""DSR by hand-written timelines: how routes are found, answered, shortened and waited for. Frames take 500 us and 4 us
a byte; jitter is off unless a test says so."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from world import FIRST_ADDRESS, MS, SECOND, Entry, EntryKind, Event, Kind, Reason, Sent, World, address

US = 1000
PENDING, LINK, PATH = EntryKind.PENDING, EntryKind.LINK, EntryKind.SOURCE_ROUTE


def air(*lengths: int) -> int:
    """Time of frames of so many bytes."""
    return sum(500 * US + 4 * US * length for length in lengths)


class Options(NamedTuple):
    """The options header of a frame, its source route in nodes."""

    kinds: list[int]
    route: list[int]
    left: int
    salvaged: int
    payload: int


def options(frame: Sent) -> Options:
    data = frame.bytes
    at = (data[0] & 15) * 4
    end = at + 4 + int.from_bytes(data[at + 2 : at + 4], "big")
    kinds, route, left, salvaged = [], [], 0, 0
    here = at + 4
    while here < end:
        kinds.append(data[here])
        if data[here] == 96:
            word = int.from_bytes(data[here + 2 : here + 4], "big")
            left, salvaged = word & 63, word >> 6 & 15
            stop = here + 2 + data[here + 1]
            route = [int.from_bytes(data[i : i + 4], "big") - FIRST_ADDRESS for i in range(here + 4, stop, 4)]
        here += 2 + data[here + 1]
    assert here == end
    return Options(kinds, route, left, salvaged, len(data) - end)


def dsr(count: int, preset: str = "rfc", **changed: int) -> World:
    return World(count, "dsr", preset, **{"jitter_ms": 0, **changed})


def searches(world: World, node: int = 0) -> list[tuple[float, int]]:
    """Milliseconds and TTL of each request."""
    return [(r.time / MS, r.count) for r in world.told(Event.SEARCH, node)]


def control(world: World, kind: Any) -> list[Sent]:
    """Frames that carry such an option and no payload."""
    wanted = {Kind.RREQ: 1, Kind.RREP: 2, Kind.RERR: 3}[kind]
    return [f for f in world.frames if f.bytes[9] == 48 and f.bytes[20] == 59 and options(f).kinds[-1] == wanted]


def data(world: World) -> list[Sent]:
    return [f for f in world.frames if f.bytes[9] != 48 or f.bytes[20] != 59]


def entries(world: World, node: int, kind: Any) -> list[Entry]:
    return [entry for entry in world.entries(node) if entry.kind == kind]


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
        ("rfc", [0, 30, 530, 1530, 3530, 7530, 15530, 25530]),  # then what waits is given up, and the search with it
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
        world.string(1, 0, 2)  # 1 knows 2 by way of 0
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


def checksum(header: bytes | bytearray) -> bytes:
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2) if i != 10)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF).to_bytes(2, "big")


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


def request(originator: int, number: int, target: int, *through: int) -> bytes:
    listed = b"".join(address(node).to_bytes(4, "big") for node in through)
    option = bytes([1, 6 + len(listed)]) + number.to_bytes(2, "big") + address(target).to_bytes(4, "big") + listed
    head = bytearray(bytes.fromhex("4500000000010000ff300000") + address(originator).to_bytes(4, "big") + b"\xff" * 4)
    whole = head + bytes([59, 0]) + len(option).to_bytes(2, "big") + option
    whole[2:4] = len(whole).to_bytes(2, "big")
    whole[10:12] = checksum(whole[:20])
    return bytes(whole)


def originators(world: World) -> list[int]:
    """Whose requests were sent on."""
    return [int.from_bytes(f.bytes[12:16], "big") - FIRST_ADDRESS for f in control(world, Kind.RREQ)]


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


def test_links_are_forgotten_in_time() -> None:
    with dsr(3, link_max_life=0, cache_timeout_ms=2000) as world:
        world.string()
        world.send(0, 2)
        world.run(2.0)
        assert entries(world, 0, LINK)
        assert world.hops(0, 2) == 2
        world.run(0.1)
        assert not entries(world, 0, LINK)
        assert [r.to for r in world.told(Event.LOST_ROUTE, 0)] == [2]


def test_links_live_as_long_as_their_ends_are_stable() -> None:
    """Appendix A: 25 s at first, 120 s when used, more when used for long, and half as much after a break."""

    def until(world: World, a: int, b: int) -> float:
        (found,) = [e.until - world.now for e in entries(world, 0, LINK) if (e.origin, e.to) == (a, b)]
        return round(found / SECOND, 1)

    with dsr(6, own_back=0) as world:
        world.links([(0, 1), (1, 2)])
        world.inject(1, 0, request(3, 1, 5, 1))
        assert (until(world, 0, 1), until(world, 1, 3)) == (25, 25)
        world.send(0, 2)
        world.run(10)
        world.send(0, 2)  # each end has 4 * 10 s more by link, of which 1 has two
        assert (until(world, 0, 1), until(world, 1, 2)) == (120, 120)
        world.run(130)
        assert not [e for e in entries(world, 0, LINK) if {e.origin, e.to} == {0, 1}]
        world.inject(1, 0, request(3, 2, 5, 1))
        assert (until(world, 0, 1), until(world, 1, 3)) == (65, 25)
        world.link(0, 1, False)
        world.send(0, 3)
        world.run(1)
        world.inject(1, 0, request(3, 3, 5, 1))
        assert (until(world, 0, 1), until(world, 1, 3)) == (32.5, 119)  # the other one was used, too


def test_of_two_shortest_ways_the_longer_lived_is_taken() -> None:
    with dsr(6) as world:
        world.links([(0, 1), (0, 2), (1, 3), (2, 3)])
        for number, through in ((1, 1), (2, 2)):
            world.inject(through, 0, request(3, number, 5, through))
            world.run(5)
        world.send(0, 3)
        world.run(1)
        assert [f.to for f in data(world)] == [2, 3]


@pytest.mark.parametrize(("replace", "kept"), [(0, [(1, 0), (0, 1)]), (1, [(2, 0), (0, 2)])])
def test_a_full_link_cache_takes_no_more_or_forgets_the_oldest(replace: int, kept: list[tuple[int, int]]) -> None:
    with dsr(6, "thesis", cache_links=2, cache_replace=replace, cache_reverse=1) as world:
        world.inject(1, 0, request(1, 1, 5))
        world.run(0.1)
        world.inject(2, 0, request(2, 1, 5))
        found = {(entry.origin, entry.to) for entry in entries(world, 0, LINK)}
        assert found == set(kept)


def test_paths_that_are_used_come_to_the_first_part() -> None:
    with dsr(4, "cmu") as world:
        world.string()
        world.send(0, 3)
        world.run(1)
        assert [e.state for e in entries(world, 1, PATH) if (e.to, e.path) == (3, (2,))] == ["secondary"]
        world.send(1, 3)
        assert [e.state for e in entries(world, 1, PATH) if (e.to, e.path) == (3, (2,))] == ["primary"]
        assert {(e.state, e.to, e.path) for e in entries(world, 3, PATH)} == {("primary", 0, (2, 1))}


def test_each_part_of_a_path_cache_has_so_many_places() -> None:
    with dsr(40, "cmu", learn_requests=1, cache_secondary=3) as world:
        for originator in range(1, 6):
            world.inject(originator, 0, request(originator, 1, 39))
        world.run(1)
        assert {e.to for e in entries(world, 0, PATH)} == {4, 5, 3}


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
