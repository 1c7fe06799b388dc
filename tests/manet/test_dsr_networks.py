# SPDX-License-Identifier: BSD-3-Clause
"""DSR in random networks: shortest routes where possible, source routes without loops, packets unchanged and accounted
for, bounded tables, and no damage by any input.

`MANET_LONG=1` fuzzes with millions of packets. For the sanitizers, set `MANET_SANITIZE=1` and put libasan.so into
`LD_PRELOAD`.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from typing import Any

import pytest
from dsr_frames import options
from graphs import Pairs, disc, distances, scatter, stroll
from tshark import complaints, tshark
from world import FIRST_ADDRESS, PRESETS, EntryKind, Event, Kind, Reason, Sent, World, parameters

LONG = bool(os.environ.get("MANET_LONG"))


class Checked(World):
    """Checks that each delivered packet is as `world_send` made it, except its TTL."""

    length = 200

    def _deliver(self, node: int, data: Any, length: int, now: int) -> None:
        ip = bytes(data[:length])
        assert length == self.length and ip[0] == 0x45 and ip[9] == 17
        assert int.from_bytes(ip[2:4], "big") == self.length
        assert int.from_bytes(ip[16:20], "big") == FIRST_ADDRESS + node
        assert sum(int.from_bytes(ip[i : i + 2], "big") for i in range(0, 20, 2)) % 0xFFFF == 0
        assert ip[22:26] == bytes([0, 9, 0, self.length - 20]) and not any(ip[26:])
        super()._deliver(node, data, length, now)


def pair_of(frame: Sent) -> tuple[int, int]:
    source, to = (int.from_bytes(frame.bytes[at : at + 4], "big") - FIRST_ADDRESS for at in (12, 16))
    return source, to


def check_frames(world: World, kept: bool, once: bool = True) -> None:
    """Checks the source route of each frame: no node is on it twice, and it leads from the packet's place to the
    receiver. If salvage keeps the path so far (`kept`), no node gets a packet twice, except copies (`once` false)."""
    visits: Counter[tuple[tuple[int, int], bytes, int | None]] = Counter()
    for frame in world.frames:
        if frame.bytes[9] != 48 or frame.to is None:
            continue
        kinds, route, left, salvaged, payload = options(frame)
        source, to = pair_of(frame)
        if 96 not in kinds:
            assert set(kinds) <= {32, 160} and to == frame.to
            continue
        whole = [*([source] if kept or not salvaged else []), *route, to]
        assert len(set(whole)) == len(whole) <= 17
        assert left <= len(route) and salvaged <= 15
        place = len(whole) - 1 - left
        assert whole[place] == frame.to and whole[place - 1] == frame.source
        if payload and not frame.lost:
            visits[(source, to), frame.bytes[4:6], frame.to] += 1
    if kept and once:
        assert not visits or max(visits.values()) == 1


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fresh_routes_are_shortest_in_a_standing_network(preset: str, seed: int) -> None:
    draw = random.Random(seed)
    count = 25
    pairs = disc(*scatter(count, 6, draw))
    fresh = {"jitter_ms": 0, "cached_replies": 0, "reply_all": 0, "learn_routes": 0, "learn_replies": 0}
    with Checked(count, "dsr", preset, seed=seed, **fresh) as world:
        world.links(pairs)
        for number in range(30):
            a, b = draw.sample(range(count), 2)
            world.send(a, b, ip_id=number, length=200)
            world.run(3)
            assert world.hops(a, b) == distances(pairs, a).get(b, 0)
        world.run(40)
        check_frames(world, preset == "thesis")


@pytest.mark.parametrize("preset", PRESETS)
def test_caches_and_shortening_leave_routes_that_are_there(preset: str) -> None:
    """With jitter, cached replies and snooping: each route in use exists, and is rarely longer than necessary."""
    draw = random.Random(4)
    count = 30
    pairs = disc(*scatter(count, 7, draw))
    with Checked(count, "dsr", preset) as world:
        world.links(pairs)
        world.lossy(0, promiscuous=True)
        sent = 0
        for _ in range(60):
            a = draw.choice([node for pair in sorted(pairs) for node in pair])
            b = draw.choice([node for node, hops in distances(pairs, a).items() if hops])
            for _ in range(3):
                world.send(a, b, ip_id=sent, length=200)
                sent += 1
                world.run(0.5)
        world.run(40)
        assert len(world.delivered) == sent and not world.told(Event.LINK_LOST)
        more = 0
        for node in range(count):
            best = distances(pairs, node)
            for to, entry in world.routes(node).items():
                way = [node, *(hop for hop in entry.path if hop is not None), to]
                assert all((max(a, b), min(a, b)) in pairs for a, b in itertools.pairwise(way))
                assert entry.hops >= best[to]
                more += entry.hops - best[to]
        assert more <= 12


def walk(world: World, count: int, rounds: int, draw: random.Random, a_round: int = 4) -> int:
    """Random packets while all nodes move; then all stand still until nothing waits."""
    points, reach = scatter(count, 6, draw)
    sent = 0
    for _ in range(rounds):
        points = stroll(points, 0.05, draw)
        world.links(disc(points, reach))
        for _ in range(a_round):
            world.send(*draw.sample(range(count), 2), ip_id=sent, length=200)
            sent += 1
        world.run(0.25)
    world.run(100)
    return sent


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_packet_is_delivered_once_or_dropped_for_a_reason(preset: str, seed: int) -> None:
    with Checked(20, "dsr", preset, seed=seed) as world:
        world.lossy(0.01 * (seed - 1), promiscuous=True)
        sent = walk(world, 20, 80, random.Random(seed))
        lost = [r for r in world.told(Event.DROPPED) if r.kind == Kind.DATA]
        assert len(world.delivered) + len(lost) == sent
        assert len({(p.source, p.ip_id) for p in world.delivered}) == len(world.delivered) > sent / 4
        assert {r.reason for r in lost} <= {
            Reason.NO_ROUTE, Reason.LINK_BROKEN, Reason.PURGED, Reason.BUFFER_FULL, Reason.BUFFER_TIMEOUT,
            Reason.QUEUE_FULL, Reason.TTL_EXPIRED,
        }  # fmt: skip
        assert world.told(Event.SALVAGED) and world.told(Event.LINK_LOST)
        check_frames(world, preset == "thesis")
        failures = sum(frame.lost for frame in world.frames)  # as many as were given
        assert sum(world.counters(node).lost for node in range(20)) == failures
        assert len(world.told(Event.LINK_LOST)) == failures


@pytest.mark.parametrize("preset", PRESETS)
def test_without_feedback_packets_are_accounted_for_too(preset: str) -> None:
    with Checked(15, "dsr", preset, feedback=0) as world:
        world.lossy(0, promiscuous=True)
        sent = walk(world, 15, 60, random.Random(5))
        arrived = {(p.source, p.ip_id) for p in world.delivered}
        lost = {(r.source, r.ip_id) for r in world.told(Event.DROPPED) if r.kind == Kind.DATA}
        assert len(arrived | lost) == sent and len(arrived) > sent / 4
        check_frames(world, preset == "thesis", once=False)


@pytest.mark.slow
def test_tables_are_bounded() -> None:
    count = 40
    small = {"buffer": 5, "cache_links": 20, "request_table": 3, "cache_primary": 4, "cache_secondary": 6}
    for preset in ("rfc", "cmu"):
        with Checked(count, "dsr", preset, **small) as world:
            world.lossy(0, promiscuous=True)
            draw = random.Random(3)
            world.links(disc(*scatter(count, 6, draw)))
            for number in range(300):
                world.send(*draw.sample(range(count), 2), ip_id=number, length=200)
                world.run(0.02)
                for node in draw.sample(range(count), 3):
                    entries = world.entries(node)
                    kinds = Counter((e.kind, e.state) for e in entries)
                    assert sum(e.waiting for e in entries) <= 5
                    assert kinds[EntryKind.LINK, ""] <= 20 and kinds[EntryKind.PENDING, "seen"] <= 3
                    assert kinds[EntryKind.SOURCE_ROUTE, "primary"] <= 4
                    assert kinds[EntryKind.SOURCE_ROUTE, "secondary"] <= 6


def test_a_full_queue_breaks_no_route_of_many() -> None:
    with Checked(10, "dsr", "thesis", queue=3) as world:
        draw = random.Random(2)
        world.links(disc(*scatter(10, 6, draw)))
        for number in range(600):
            world.send(*draw.sample(range(10), 2), ip_id=number, length=200)
            world.run(0.001)
        world.run(60)
        assert Reason.QUEUE_FULL in {r.reason for r in world.told(Event.DROPPED)}
        assert not world.told(Event.LINK_LOST) and not world.told(Event.LOST_ROUTE)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_makes_the_same_bytes_on_the_move(preset: str) -> None:
    def run(seed: int) -> list[Sent]:
        with World(15, "dsr", preset, seed=seed) as world:
            world.lossy(0.05, promiscuous=True)
            walk(world, 15, 20, random.Random(1))
            return world.frames

    assert run(1) == run(1) != run(2)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "preset"), [(100, "rfc"), (200, "cmu")])
def test_large_networks(count: int, preset: str) -> None:
    with World(count, "dsr", preset, keep=False) as world:
        world.lossy(0, promiscuous=True)
        sent = walk(world, count, 40, random.Random(count))
        arrived = sum(world.counters(node).delivered for node in range(count))
        lost = sum(sum(world.counters(node).dropped) for node in range(count))
        assert arrived + lost == sent and arrived > sent / 4


# Of cmu's requests any number that is not newer than the newest is a duplicate: a forged one would silence a node.
NEWEST = {"request_newest": 0, "request_ids": 16}
HELD_OFF = {"feedback": 0, "reply_holdoff_ms": 3}


def fields(layers: Any, name: str) -> list[str]:
    """Return all values of a field, at any depth."""
    if isinstance(layers, list):
        return [value for each in layers for value in fields(each, name)]
    if not isinstance(layers, dict):
        return []
    own = layers.get(name, [])
    deeper = [value for key, each in layers.items() if key != name for value in fields(each, name)]
    return [*([own] if isinstance(own, str) else own), *deeper]


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "changed"), [("rfc", {}), ("thesis", {}), ("cmu", {}), ("rfc", {"feedback": 0})])
def test_tshark_reads_all_that_is_sent_as_it_is_meant(preset: str, changed: dict[str, int]) -> None:
    with World(15, "dsr", preset, **changed) as world:
        world.lossy(0.02, promiscuous=True)
        walk(world, 15, 40, random.Random(6), a_round=2)
        frames = [frame for frame in world.frames if frame.bytes[9] == 48]
        layers = tshark(frame.bytes for frame in frames)
        assert len(layers) == len(frames) > 200
        seen: Counter[int] = Counter()
        for frame, each in zip(frames, layers, strict=True):
            assert complaints(each["ip"]) == complaints(each["dsr"]) == []
            kinds, route, left, salvaged, payload = options(frame)
            assert [int(kind) for kind in fields(each["dsr"], "dsr.option.type")] == kinds
            assert ("udp" in each) == bool(payload)
            seen.update(kinds)
            if 96 in kinds:
                assert [int(n) for n in fields(each["dsr"], "dsr.option.srcrt.segsleft")] == [left]
                assert [int(n, 16) for n in fields(each["dsr"], "dsr.option.srcrt.salvage")] == [salvaged]
                listed = fields(each["dsr"], "dsr.option.ack.address")  # so tshark calls those of a source route
                assert listed == [f"10.0.0.{1 + node}" for node in route]
            if kinds[-1] == 2:
                assert fields(each["dsr"], "dsr.option.rrep.address")[-1].startswith("10.0.0.")
            if 3 in kinds:
                assert fields(each["dsr"], "dsr.option.err.type") == ["1"]
        assert {1, 2, 3, 96} <= set(seen)
        assert ({32, 160} <= set(seen)) == bool(changed)


@pytest.mark.parametrize(
    ("preset", "changed"),
    [("rfc", {}), ("thesis", {}), ("cmu", NEWEST), ("rfc", {"feedback": 0}), ("cmu", {**NEWEST, **HELD_OFF})],
)
def test_nothing_that_comes_does_harm(preset: str, changed: dict[str, int]) -> None:
    """Randomly changed frames among real ones; then all is as before, except false entries that caches still hold."""
    count = 12
    draw = random.Random(7)
    points, reach = scatter(count, 5, draw)
    rounds = 1_000_000 if LONG else 10_000
    with World(count, "dsr", preset, keep=False, cache_timeout_ms=20000, **changed) as world:
        world.lossy(0, promiscuous=True)
        for _ in range(100):
            points = stroll(points, 0.02, draw)
            world.links(disc(points, reach))
            for _ in range(5):
                world.send(*draw.sample(range(count), 2))
            world.run(0.05)
            world.fuzz(rounds // 100)
        world.run(200)
        pairs: Pairs = disc(points, reach)
        before, sent = sum(world.counters(node).delivered for node in range(count)), 0
        for a in range(count):
            for b in distances(pairs, a):
                if a != b:
                    world.send(a, b)
                    world.run(2)
                    sent += 1
        arrived = sum(world.counters(node).delivered for node in range(count)) - before
        assert sent - sent // 50 <= arrived <= sent


def test_parameters_may_be_set_at_any_time() -> None:
    """Any value of any parameter, with random packets, and nodes that leave and return."""
    draw = random.Random(11)
    rounds = 400 if LONG else 60
    table = parameters("dsr")
    with World(8, "dsr", keep=False) as world:
        world.lossy(0.05, promiscuous=True)
        points, reach = scatter(8, 4, draw)
        for _ in range(rounds):
            world.links(disc(points, reach))
            for name, row in table.items():
                least, most = row.least, min(row.most, draw.choice((row.least + 1, row.least + 100, row.most)))
                if draw.random() < 0.2:
                    world.set(draw.randrange(8), name, draw.choice((least, most, draw.randint(least, most))))
            for _ in range(20):
                world.send(*draw.sample(range(8), 2), length=draw.randint(28, 1500))
            world.run(draw.random())
            world.fuzz(300)
            if draw.random() < 0.2:
                node = draw.randrange(8)
                world.lib.world_stop(world.world, node)
                world.lib.world_start(world.world, node)
        for node in range(8):
            assert len(world.entries(node)) <= 4096
