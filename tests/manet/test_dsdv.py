# SPDX-License-Identifier: BSD-3-Clause
"""DSDV: timelines to the microsecond, each rule alone, and moving networks."""

import os
import random
from typing import Any, NamedTuple

import pytest
from graphs import disc, distances, scatter, stroll
from tshark import complaints, tshark
from world import SECOND, EntryKind, Event, Kind, Reason, Sent, World, address, parameters

FAR = 250
PLAIN: Any = {"jitter_ms": 0, "start_jitter_ms": 0, "update_jitter_ms": 0}
LONG = bool(os.environ.get("MANET_LONG"))


def on_air(entries: int) -> int:
    return 500_000 + 4000 * (20 + 8 + 12 * entries)


class Told(NamedTuple):
    to: int
    hops: int
    sequence: int


def update(frame: Sent) -> list[Told]:
    """Return the content of a frame that is an update."""
    if frame.bytes[9] != 17 or frame.bytes[22:24] != (269).to_bytes(2, "big"):
        return []
    body = [int.from_bytes(frame.bytes[at : at + 4], "big") for at in range(28, len(frame.bytes), 4)]
    return [Told(body[i] - address(0), body[i + 1], body[i + 2]) for i in range(0, len(body), 3)]


def updates(world: World, node: int) -> list[tuple[int, list[Told]]]:
    return [(frame.time, update(frame)) for frame in world.frames if frame.source == node and update(frame)]


def packet(world: World, source: int, *told: Told) -> bytes:
    """Return a real update of this node with other entries."""
    body = b"".join(word.to_bytes(4, "big") for one in told for word in (address(one.to), one.hops, one.sequence))
    head = bytearray(next(frame.bytes[:28] for frame in world.frames if frame.source == source))
    head[2:4], head[24:26] = (28 + len(body)).to_bytes(2, "big"), (8 + len(body)).to_bytes(2, "big")
    head[10:12] = head[26:28] = bytes(2)
    total = sum(int.from_bytes(head[i : i + 2], "big") for i in range(0, 20, 2))
    head[10:12] = (0xFFFF - (total & 0xFFFF) - (total >> 16)).to_bytes(2, "big")
    return bytes(head) + body


def test_a_way_goes_one_hop_on_each_time_it_has_settled() -> None:
    """First heard at 0.66 ms, advertised 12 s later (twice 6 s), to a node that waits 12 s, too; full updates at 15 s,
    30 s, …"""
    with World(4, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(50)
        first, told = on_air(1), 12 * SECOND
        assert updates(world, 0)[:4] == [
            (first, [Told(0, 0, 2)]),
            (told + first + on_air(1), [Told(1, 1, 2)]),
            (15 * SECOND + on_air(2), [Told(0, 0, 4), Told(1, 1, 2)]),
            (2 * told + first + on_air(2) + on_air(1), [Told(2, 2, 2)]),
        ]
        assert [(r.to, r.hops, r.time) for r in world.told(Event.FOUND, 0)] == [
            (1, 1, first), (2, 2, told + first + on_air(2)), (3, 3, 2 * told + first + on_air(2) + on_air(1)),
        ]  # fmt: skip
        assert {to: e.hops for to, e in world.routes(0).items()} == {1: 1, 2: 2, 3: 3}
        assert [r.event for r in world.records if r.node == 0 and r.event == Event.CHANGED] == []


def test_the_settling_time_is_weighted() -> None:
    """The second number comes 15 s after the first, which arrived over the only route: 7/8 of 6 s, and so on."""
    with World(2, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(16)
        (entry,) = (e for e in world.entries(0) if e.kind == EntryKind.ROUTE)
        assert (entry.state, entry.until) == ("settling", 15 * SECOND + on_air(2) + 2 * 5_250_000_000)
        world.run(15)
        (entry,) = (e for e in world.entries(0) if e.kind == EntryKind.ROUTE)
        assert entry.until == 30 * SECOND + on_air(2) + 2 * 4_593_750_000
        late = 2_000_000_000  # a better route comes later: half as far
        world.inject(1, 0, packet(world, 1, Told(3, 8, 10)))
        world.run(2)
        world.inject(1, 0, packet(world, 1, Told(3, 3, 10)))
        world.inject(1, 0, packet(world, 1, Told(3, 3, 12)))
        (entry,) = (e for e in world.entries(0) if e.kind == EntryKind.ROUTE and e.to == 3)
        assert entry.until == world.now + 2 * (6 * SECOND * 7 + late) // 8


def test_newer_is_believed_and_of_equals_the_shorter() -> None:
    with World(4, "dsdv", "thesis", **PLAIN) as world:
        world.links(((0, 1), (0, 2)))
        world.run(1)

        def way(source: int, *told: Told) -> tuple[int | None, int]:
            world.inject(source, 0, packet(world, source, *told))
            route = world.routes(0).get(3)
            return (route.via, route.hops) if route else (None, 0)

        assert way(1, Told(3, 4, 100)) == (1, 5)
        assert way(2, Told(3, 4, 100)) == (1, 5)
        assert way(2, Told(3, 3, 100)) == (2, 4)
        assert way(1, Told(3, 1, 98)) == (2, 4)
        assert way(1, Told(3, 7, 102)) == (1, 8)
        assert way(2, Told(3, FAR, 101)) == (1, 8)  # old news
        assert way(2, Told(3, FAR, 103)) == (None, 0)
        assert way(1, Told(3, 1, 102)) == (None, 0)  # this would be a loop
        assert way(1, Told(3, 1, 104)) == (1, 2)
        assert way(1, Told(3, 248, 106)) == (1, 249)
        assert way(1, Told(3, 249, 108)) == (None, 0)
        assert way(1, Told(3, 5, 0xFFFFFFF0 - 0x7FFFFFF0)) == (1, 6)
        assert [r.extra & 1 for r in world.told(Event.LOST_ROUTE)] == [1, 1]


def test_who_does_not_know_yet_is_told_at_once() -> None:
    """A node announces with an older number that there is no route: the answer must not wait for its settling time."""
    with World(4, "dsdv", "thesis", **PLAIN) as world:
        world.links(((0, 1),))
        world.run(1.5)
        world.inject(1, 0, packet(world, 1, Told(3, 1, 100)))
        world.inject(1, 0, packet(world, 1, Told(3, FAR, 99)))
        world.run(0.1)
        assert updates(world, 0)[-1][1] == [Told(3, 2, 100)]


def test_what_changed_is_told_until_a_full_update_and_more_than_a_third_is_one() -> None:
    with World(20, "dsdv", "thesis", settling_ms=0, **PLAIN) as world:
        world.links(((0, 1),))
        world.run(2)

        def told(*new: Told) -> list[int]:
            world.inject(1, 0, packet(world, 1, *new))
            world.run(1.5)
            return [one.to for one in updates(world, 0)[-1][1]]

        assert told(Told(5, 1, 2)) == [1, 5]
        assert told(Told(6, 1, 2)) == [1, 5, 6]
        assert told(*(Told(to, 1, 2) for to in range(7, 11))) == [0, 1, *range(5, 11)]  # all destinations, and itself
        assert told(Told(11, 1, 2)) == [1, 11]  # 1 sent a full update meanwhile: a later number


def test_a_way_that_is_there_again_is_told_at_once() -> None:
    with World(4, "dsdv", "rfc", **PLAIN) as world:
        world.links(((0, 1),))
        world.run(2)
        for news in (Told(3, 1, 100), Told(3, FAR, 101), Told(3, 1, 102)):
            world.inject(1, 0, packet(world, 1, news))
        world.run(0.5)
        assert updates(world, 0)[-1][1] == [Told(3, 2, 102)]


def test_a_silent_neighbour_is_lost_after_three_updates_and_that_is_told_at_once() -> None:
    with World(4, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(46)
        world.link(2, 3, up=False)
        world.run(46)
        heard = max(time for time, _ in updates(world, 3) if time < 46 * SECOND)
        (lost,) = world.told(Event.LINK_LOST, 2)
        assert (lost.to, lost.time) == (3, heard + 45 * SECOND)
        after = next(told for time, told in updates(world, 2) if time > lost.time)
        (gone,) = (one for one in after if one.to == 3)
        assert gone.hops == FAR and gone.sequence % 2 == 1
        assert sorted(r.node for r in world.told(Event.LOST_ROUTE) if r.to == 3) == [1, 2]
        world.run(15)  # preset thesis: 1 waits for its full update (ns-2 triggers nothing for a later number)
        assert sorted(r.node for r in world.told(Event.LOST_ROUTE) if r.to == 3) == [0, 1, 2]
        world.link(2, 3)
        world.run(60)
        assert world.hops(0, 3) == 3


def test_by_the_paper_bad_news_travels_fast() -> None:
    with World(5, "dsdv", "rfc", **PLAIN) as world:
        world.string()
        world.run(80)
        world.link(3, 4, up=False)
        world.run(60)
        lost = {r.node: r.time for r in world.told(Event.LOST_ROUTE) if r.to == 4}
        assert sorted(lost) == [0, 1, 2, 3] and lost[0] - lost[3] < 3.1 * SECOND  # at most one update a second each


def test_triggered_updates_keep_their_distance() -> None:
    with World(40, "dsdv", "rfc", jitter_ms=0) as world:
        world.links(disc(*scatter(40, 10, random.Random(3))))
        world.run(150)
        for node in range(40):
            sent = updates(world, node)
            partial = [i for i, (_, told) in enumerate(sent) if i and told[0].to != node]
            assert len(partial) > 5
            assert all(sent[i][0] - sent[i - 1][0] > 0.99 * SECOND for i in partial)


def test_a_node_has_the_last_word_on_itself() -> None:
    """A node restarts, while others know it by a later number, or announce that it is gone."""
    with World(2, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(2)
        world.inject(1, 0, packet(world, 1, Told(0, FAR, 1001)))
        world.run(0.1)
        assert updates(world, 0)[-1][1][0] == Told(0, 0, 1004)
        world.inject(1, 0, packet(world, 1, Told(0, FAR, 999)))
        world.run(2)
        assert updates(world, 0)[-1][1][0] == Told(0, 0, 1004)  # this is known already


def test_packets_wait_for_a_way_the_last_five() -> None:
    with World(3, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(1)
        for number in range(8):
            world.send(0, 2, ip_id=number)
        assert [(r.reason, r.ip_id) for r in world.told(Event.DROPPED)] == [(Reason.BUFFER_FULL, i) for i in range(3)]
        assert [(e.to, e.waiting) for e in world.entries(0) if e.kind == EntryKind.PENDING] == [(2, 5)]
        world.run(12)
        assert [p.ip_id for p in world.delivered] == [3, 4, 5, 6, 7]
        assert len(world.told(Event.RELEASED)) == 5
    with World(2, "dsdv", "thesis", buffer=0) as world:
        world.send(0, 1)
        assert world.counters(0).dropped[Reason.NO_ROUTE] == 1


def test_without_feedback_only_the_packet_is_lost() -> None:
    with World(2, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(1)
        world.link(0, 1, up=False)
        world.send(0, 1)
        world.run(1)
        assert world.counters(0).dropped[Reason.LINK_BROKEN] == 1 and world.hops(0, 1) == 1


def test_with_feedback_a_failure_ends_all_ways_by_that_neighbour() -> None:
    with World(4, "dsdv", "thesis", feedback=1, **PLAIN) as world:
        world.string()
        world.run(40)
        world.link(1, 2, up=False)
        for number in range(3):
            world.send(0, 3, ip_id=number)
        world.run(0.2)
        (lost,) = world.told(Event.LINK_LOST)
        assert (lost.node, lost.to, lost.count) == (1, 2, 1)
        assert [(e.to, e.waiting) for e in world.entries(1) if e.kind == EntryKind.PENDING] == [(3, 3)]
        assert world.hops(1, 2) == world.hops(1, 3) == 0
        world.link(1, 2)
        world.run(60)
        assert [(p.ip_id, p.ttl) for p in world.delivered] == [(0, 62), (1, 62), (2, 62)]


def ways(world: World, count: int) -> dict[int, dict[int, int]]:
    """Return the next hop of each node, by destination."""
    found: dict[int, dict[int, int]] = {}
    for node in range(count):
        for to, entry in world.routes(node).items():
            assert entry.via is not None
            found.setdefault(to, {})[node] = entry.via
    return found


def check_no_loop(world: World, count: int) -> None:
    for to, by in ways(world, count).items():
        for start in by:
            seen, at = {start}, start
            while at != to and at in by:
                at = by[at]
                assert at not in seen, (start, to, by)
                seen.add(at)


@pytest.mark.parametrize(("preset", "feedback", "trigger"), [("thesis", 0, 0), ("rfc", 1, 1), ("rfc", 1, 2)])
def test_there_are_no_loops_ever_and_no_packet_is_lost_from_account(preset: str, feedback: int, trigger: int) -> None:
    draw = random.Random(trigger)
    count, sent = 15, 0
    points, reach = scatter(count, 5, draw)
    faster = {"update_interval_ms": 3000, "update_jitter_ms": 700, "settling_ms": 500}
    with World(count, "dsdv", preset, seed=trigger, feedback=feedback, trigger=trigger, **faster) as world:
        for _ in range(150):
            points = stroll(points, 0.04, draw)
            world.links(disc(points, reach))
            for _ in range(3):
                world.send(*draw.sample(range(count), 2), ip_id=sent, length=200)
                sent += 1
            world.run(draw.uniform(0.02, 0.6))
            check_no_loop(world, count)
        world.run(60)
        check_no_loop(world, count)
        pairs = disc(points, reach)
        for node in range(count):  # the same nodes; not always on the shortest path, as newer routes come first
            shortest = distances(pairs, node)
            assert {node, *world.routes(node)} == set(shortest)
            assert all(entry.hops >= shortest[to] for to, entry in world.routes(node).items())
        lost = [r for r in world.told(Event.DROPPED) if r.kind == Kind.DATA]
        waiting = sum(e.waiting for node in range(count) for e in world.entries(node) if e.kind == EntryKind.PENDING)
        assert len(world.delivered) + len(lost) + waiting == sent and len(world.delivered) > sent / 3
        assert max([r.count for r in world.told(Event.BUFFERED)], default=0) <= 6
        check_numbers(world)


def check_numbers(world: World) -> None:
    """An odd number means no route, and nothing else does; a node's announcements of a destination never go back."""
    last: dict[tuple[int, int], int] = {}
    for frame in world.frames:
        for one in update(frame):
            assert (one.hops == FAR) == (one.sequence % 2 == 1)
            assert one.sequence >= last.get((frame.source, one.to), 0)
            last[frame.source, one.to] = one.sequence
    assert last


def test_routes_are_shortest_where_each_later_number_is_told() -> None:
    """DSDV-SQ in a static network. Its cost: every node sends as often as the least interval allows."""
    draw = random.Random(3)
    count = 40
    pairs = disc(*scatter(count, 10, draw))
    with World(count, "dsdv", "rfc", trigger=2) as world:
        world.links(pairs)
        world.run(150)
        for _ in range(3):
            world.run(11)
            for node in range(count):
                assert {to: e.hops for to, e in world.routes(node).items()} == {
                    to: n for to, n in distances(pairs, node).items() if n
                }
        in_a_second = len([frame for frame in world.frames if frame.time > 100 * SECOND]) / 83 / count
        assert 0.9 < in_a_second < 1.1


@pytest.mark.slow
def test_a_table_that_one_packet_does_not_hold_goes_in_two() -> None:
    count = 130
    with World(count, "dsdv", "rfc", settling_ms=200) as world:
        world.links(disc(*scatter(count, 12, random.Random(3))))
        world.run(30)
        assert all(len(world.routes(node)) == count - 1 for node in range(count))
        layers = tshark(frame.bytes for frame in world.frames[-200:])
        assert [found for each in layers for found in complaints(each)] == []
        assert {each["udp"]["udp.dstport"] for each in layers} == {"269"}
        assert max(len(frame.bytes) for frame in world.frames) == 28 + 122 * 12


def test_the_same_seed_gives_the_same_bytes() -> None:
    def run(seed: int) -> list[tuple[int, bytes]]:
        with World(15, "dsdv", seed=seed) as world:
            world.links(disc(*scatter(15, 6, random.Random(5))))
            world.lossy(0.1)
            world.run(60)
            return [(frame.time, frame.bytes) for frame in world.frames]

    assert run(1) == run(1) != run(2)


@pytest.mark.parametrize("length", [1, 11, 13])
def test_what_is_malformed_is_dropped_and_counted(length: int) -> None:
    with World(2, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(1)
        whole = packet(world, 1, Told(1, 0, 50), Told(5, 1, 2))
        cut = bytearray(packet(world, 1, Told(1, 0, 50)))
        cut[24:26] = (8 + length).to_bytes(2, "big")
        world.inject(1, 0, bytes(cut) + whole[40:])
        assert world.counters(0).dropped_control[Reason.MALFORMED] == (length < 13)
        assert [e.sequence for e in world.entries(0) if e.kind == EntryKind.ROUTE] == [2]


@pytest.mark.parametrize("preset", ["rfc", "thesis"])
def test_nothing_that_comes_does_harm(preset: str) -> None:
    count = 12
    draw = random.Random(7)
    rounds = 2_000_000 if LONG else 20_000
    with World(count, "dsdv", preset, feedback=1, keep=False) as world:
        world.links(disc(*scatter(count, 5, draw)))
        world.run(10)
        for _ in range(100):
            for _ in range(5):
                world.send(*draw.sample(range(count), 2))
            world.fuzz(rounds // 100)
        world.run(100)
        for node in range(count):
            assert len(world.entries(node)) < 3 * 512


@pytest.mark.slow
def test_a_flood_of_strangers_is_bounded() -> None:
    """More destinations than there is room for: those without a route make room."""
    with World(3, "dsdv", "thesis", **PLAIN) as world:
        world.string()
        world.run(30)
        for number in range(300):
            strangers = (Told(1000 + 100 * number + i, 3, 2) for i in range(100))
            world.inject(1, 0, packet(world, 1, *strangers))
            gone = (Told(1000 + 100 * number + i, FAR, 3) for i in range(100))
            world.inject(1, 0, packet(world, 1, *gone))
        assert world.hops(0, 2) == 2
        assert len([e for e in world.entries(0) if e.kind == EntryKind.ROUTE]) == 511


def test_what_is_set_is_what_ns2_has() -> None:
    table = {name: p.preset[2] for name, p in parameters("dsdv").items()}
    ns2 = {
        "update_interval_ms": 15000, "settling_ms": 6000, "settling_weight": 256 * 7 // 8, "missed_updates": 3,
        "min_update_interval_ms": 1000, "jitter_ms": 10, "start_jitter_ms": 2000, "buffer": 5, "feedback": 0,
        "trigger": 0,
    }  # fmt: skip
    assert {name: table[name] for name in ns2} == ns2
