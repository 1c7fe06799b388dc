# SPDX-License-Identifier: BSD-3-Clause
"""OLSR in random networks: relays cover, routes are shortest, floods end, packets are accounted for.

`MANET_LONG=1` fuzzes with millions of packets. For the sanitizers, set `MANET_SANITIZE=1` and put libasan.so into
`LD_PRELOAD`.
"""

import os
import random
from collections import Counter
from typing import Any

import pytest
from graphs import Pairs, disc, distances, scatter, stroll
from tshark import complaints, tshark
from world import SECOND, EntryKind, Event, Kind, Reason, World, address

LONG = bool(os.environ.get("MANET_LONG"))


def neighbours_of(pairs: Pairs, node: int) -> set[int]:
    return {a + b - node for a, b in pairs if node in (a, b)}


def relays(world: World, node: int) -> set[int | None]:
    return {e.to for e in world.entries(node) if e.kind == EntryKind.NEIGHBOUR and e.state.startswith("mpr")}


@pytest.mark.parametrize("seed", range(8))
def test_relays_cover_whoever_is_two_hops_away(seed: int) -> None:
    """8.3.1 and 16, by brute force: each strict two-hop neighbour is covered by the requested number of willing
    neighbours, or by all."""
    draw = random.Random(seed)
    count, coverage = draw.randint(5, 30), draw.choice((1, 1, 2, 3))
    pairs = disc(*scatter(count, draw.uniform(3, 12), draw))
    willing = [draw.choice((0, 1, 3, 3, 3, 6, 7)) for _ in range(count)]
    with World(count, "olsr", "thesis", seed=seed, mpr_coverage=coverage) as world:
        for node in range(count):
            world.set(node, "willingness", willing[node])
        world.links(pairs)
        world.run(8)
        for node in range(count):
            near = neighbours_of(pairs, node)
            far = set().union(*(neighbours_of(pairs, a) for a in near)) - near - {node} if near else set()
            chosen = relays(world, node)
            assert chosen <= near
            assert all(willing[a] > 0 for a in chosen if a is not None)
            assert {a for a in near if willing[a] == 7} <= chosen
            for target in far:
                can = {a for a in neighbours_of(pairs, target) & near if willing[a] > 0}
                assert len(can & chosen) >= min(coverage, len(can)), (node, target)
            for one in chosen:  # and none is superfluous (step 5), but those that are always willing
                rest = chosen - {one}
                need = {t: {a for a in neighbours_of(pairs, t) & near if willing[a] > 0} for t in far}
                spare = all(len(can & rest) >= min(coverage, len(can)) for can in need.values())
                assert one is not None and (not spare or willing[one] == 7), (node, one)


def check_routes(world: World, pairs: Pairs, count: int) -> None:
    routes = [world.routes(node) for node in range(count)]
    for node in range(count):
        assert {to: e.hops for to, e in routes[node].items()} == {
            to: n for to, n in distances(pairs, node).items() if n
        }
        for to, entry in routes[node].items():
            assert entry.via is not None  # and each hop is one nearer
            assert entry.hops == 1 + (routes[entry.via][to].hops if entry.via != to else 0)


@pytest.mark.parametrize(("seed", "count"), [(1, 12), (2, 25), (3, 40), (4, 40)])
def test_routes_are_shortest_in_a_standing_network(seed: int, count: int) -> None:
    draw = random.Random(seed)
    pairs = disc(*scatter(count, 8, draw))
    with World(count, "olsr", "thesis", seed=seed) as world:
        world.links(pairs)
        world.run(20)
        check_routes(world, pairs, count)


@pytest.mark.parametrize("redundancy", [0, 1, 2])
def test_a_network_that_moved_and_stands_has_the_shortest_routes_again(redundancy: int) -> None:
    """Every packet is delivered, or dropped for a reason; sequence numbers increase; no node relays a message twice."""
    draw = random.Random(redundancy)
    count = 20
    points, reach = scatter(count, 6, draw)
    with World(count, "olsr", "thesis", seed=9, tc_redundancy=redundancy, feedback=redundancy % 2) as world:
        sent = 0
        for _ in range(80):
            points = stroll(points, 0.05, draw)
            world.links(disc(points, reach))
            for _ in range(10):
                a, b = draw.sample(range(count), 2)
                world.send(a, b, ip_id=sent, length=200)
                sent += 1
            world.run(0.5)
        world.run(40)
        check_routes(world, disc(points, reach), count)
        lost = [r for r in world.told(Event.DROPPED) if r.kind == Kind.DATA]
        assert len(world.delivered) + len(lost) == sent and len(world.delivered) > sent / 4
        assert {r.reason for r in lost} <= {Reason.NO_ROUTE, Reason.LINK_BROKEN, Reason.PURGED, Reason.TTL_EXPIRED}
        check_floods(world)


def check_floods(world: World) -> None:
    """Of each message, one copy from each node; of each origin, ANSNs that never go back; packets are numbered."""
    copies: Counter[tuple[int, bytes]] = Counter()
    ansn: dict[bytes, int] = {}
    numbers: dict[int, int] = {}
    for frame in world.frames:
        if frame.bytes[9] != 17 or frame.bytes[22:24] != (698).to_bytes(2, "big"):
            continue
        assert int.from_bytes(frame.bytes[30:32], "big") == numbers.get(frame.source, 0) + 1
        numbers[frame.source] = numbers.get(frame.source, 0) + 1
        at = 32
        while at < len(frame.bytes):
            size = int.from_bytes(frame.bytes[at + 2 : at + 4], "big")
            one = frame.bytes[at : at + size]
            copies[frame.source, one[4:8] + one[10:12]] += 1
            if one[0] == 2 and one[4:8] == address(frame.source).to_bytes(4, "big"):
                number = int.from_bytes(one[12:14], "big")
                assert number >= ansn.get(one[4:8], 0)
                ansn[one[4:8]] = number
            at += size
    assert copies and max(copies.values()) == 1


def test_a_full_queue_makes_room_for_control_and_breaks_no_route() -> None:
    with World(3, "olsr", "thesis", queue=5, feedback=1) as world:
        world.string()
        world.run(12)
        for number in range(3000):
            world.send(0, 2, ip_id=number, length=1400)
            world.run(0.005)
        world.run(1)
        lost = world.told(Event.DROPPED)
        assert {(r.reason, r.kind) for r in lost} == {(Reason.QUEUE_FULL, Kind.DATA)}
        assert len(world.delivered) + len(lost) == 3000
        assert not world.told(Event.LOST_ROUTE) and not world.told(Event.LINK_LOST)


def test_the_same_seed_gives_the_same_bytes() -> None:
    def run(seed: int) -> list[tuple[int, bytes]]:
        draw = random.Random(5)
        with World(15, "olsr", seed=seed) as world:
            world.links(disc(*scatter(15, 6, draw)))
            world.lossy(0.1)
            world.run(20)
            return [(frame.time, frame.bytes) for frame in world.frames]

    assert run(1) == run(1) != run(2)


def as_list(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


def test_tshark_reads_all_that_is_sent() -> None:
    draw = random.Random(3)
    count = 16
    pairs = disc(*scatter(count, 5, draw))
    with World(count, "olsr", "thesis", willingness=6) as world:
        world.links(pairs)
        world.run(25)
        layers = tshark(frame.bytes for frame in world.frames)
        assert len(layers) == len(world.frames) > 200
        assert [found for each in layers for found in complaints(each)] == []
        assert {each["frame"]["frame.protocols"] for each in layers} == {"raw:ip:udp:olsr"}
        last = {}
        for each in layers:
            for tree in as_list(each["olsr"]["olsr.message_tree"]):
                if tree["olsr.message_type"] == "1":
                    assert (tree["olsr.vtime"], tree["olsr.htime"], tree["olsr.willingness"]) == ("6", "1", "6")
                else:
                    assert (tree["olsr.message_type"], tree["olsr.vtime"]) == ("2", "15")
                    assert int(tree["olsr.ttl"]) + int(tree["olsr.hop_count"]) == 255
                last[tree["olsr.origin_addr"], tree["olsr.message_type"]] = tree
        for node in range(count):
            groups = as_list(last[f"10.0.0.{1 + node}", "1"].get("olsr.link_type_tree", []))
            named = [name for group in groups for name in as_list(group["olsr.neighbor_addr"])]
            assert sorted(named) == sorted(f"10.0.0.{1 + a}" for a in neighbours_of(pairs, node))


@pytest.mark.parametrize("preset", ["rfc", "thesis"])
def test_nothing_that_comes_does_harm(preset: str) -> None:
    """Randomly changed frames among real ones; then all is as before."""
    count = 12
    draw = random.Random(7)
    pairs = disc(*scatter(count, 5, draw))
    rounds = 2_000_000 if LONG else 20_000
    with World(count, "olsr", preset, feedback=1, hysteresis=preset == "thesis", tc_redundancy=1, keep=False) as world:
        world.links(pairs)
        world.run(10)
        for _ in range(100):
            for _ in range(5):
                world.send(*draw.sample(range(count), 2))
            world.fuzz(rounds // 100)
        world.run(4000)  # longer than any validity time that a message can carry
        for node in range(count):
            real = {to: e.hops for to, e in world.routes(node).items() if to < count}
            assert real == {to: n for to, n in distances(pairs, node).items() if n}
        assert world.now > 20 * SECOND


def test_a_flood_of_strangers_is_bounded_and_passes() -> None:
    """More addresses than there is room for: existing ones stay, and others are found again after these have
    expired."""
    from test_olsr import message, packet, words

    with World(3, "olsr", "thesis") as world:
        world.string()
        world.run(12)
        for number in range(2000):
            named = words(*range(1000 + 8 * number, 1008 + 8 * number))
            world.inject(1, 0, packet(1, message(2, 500 + number, bytes(4) + named, number)))
        assert world.hops(0, 2) == 2
        assert len(world.entries(0)) < 8192 + 1024
        world.run(60)
        assert sorted(world.routes(0)) == [1, 2] and len(world.entries(0)) < 20
