# SPDX-License-Identifier: BSD-3-Clause
"""AODV in random networks: no loop ever, increasing sequence numbers, and every packet accounted for.

`MANET_LONG=1` runs larger networks, and fuzzes with millions of packets. For the sanitizers, set `MANET_SANITIZE=1` and
put libasan.so into `LD_PRELOAD`.
"""

import os
import random
from collections import Counter
from typing import Any

import pytest
from aodv_wire import ACK, RERR, RREP, RREQ, messages, read, rreq
from graphs import disc, distances, scatter, stroll
from tshark import complaints, tshark
from world import Event, Kind, Reason, World

LONG = bool(os.environ.get("MANET_LONG"))


class Watch(list[Any]):
    """Keeps the trace, and checks at each record that next hops form no loop and no sequence number decreases."""

    def __init__(self, count: int) -> None:
        self.via: list[dict[int, int]] = [{} for _ in range(count)]
        self.sequence: dict[tuple[int, int], int] = {}
        self.checked = 0
        self.faults: list[Any] = []  # an exception would not leave the callback

    def append(self, r: Any) -> None:
        super().append(r)
        if r.event == Event.LOST_ROUTE:
            self.via[r.node].pop(r.to, None)
        elif r.event in (Event.FOUND, Event.CHANGED):
            self.via[r.node][r.to] = r.next_hop
            self.follow(r)
        else:
            return
        before = self.sequence.get((r.node, r.to), 0)
        if (r.extra - before) % 2**32 >= 2**31:
            self.faults.append(("sequence", before, r))
        self.sequence[r.node, r.to] = r.extra
        self.checked += 1

    def follow(self, r: Any) -> None:
        node, visited = r.node, set()
        while node is not None and node != r.to:
            if node in visited:
                return self.faults.append(("loop", visited, r))
            visited.add(node)
            node = self.via[node].get(r.to)


def moving(preset: str, seed: int, count: int, seconds: int, **changed: int) -> tuple[World, Watch, int]:
    """All nodes move slowly; some flows, which change; every fiftieth frame is lost although the link exists."""
    draw = random.Random(seed)
    points, reach = scatter(count, 7, draw)
    flows = [draw.sample(range(count), 2) for _ in range(count // 4)]
    sent = 0
    with World(count, "aodv", preset, seed=seed, delete_period_ms=600_000, **changed) as world:
        world.records = watch = Watch(count)
        world.lossy(0.02)
        for _ in range(seconds):
            points = stroll(points, 0.04, draw)
            world.links(disc(points, reach))
            flows[draw.randrange(len(flows))] = draw.sample(range(count), 2)
            for _ in range(10):
                for a, b in flows:
                    world.send(a, b, ip_id=sent % 65536)
                    sent += 1
                world.run(0.1)
        world.run(100)
        assert all(not e.waiting for node in range(count) for e in world.entries(node))
    return world, watch, sent


WAYS = [
    ("rfc", {}), ("rfc", {"local_repair": 0}), ("rfc", {"feedback": 0}), ("rfc", {"queue": 3, "buffer": 20}),
    ("thesis", {}), ("thesis", {"local_repair": 0}), ("thesis", {"feedback": 0}), ("cmu", {}), ("cmu", {"feedback": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "changed"), WAYS)
def test_there_is_never_a_loop_and_nothing_is_lost_from_account(preset: str, changed: dict[str, int]) -> None:
    for seed in range(20 if LONG else 1):
        world, watch, sent = moving(preset, seed, 100 if LONG else 25, 60 if LONG else 20, **changed)
        lost = [r for r in watch if r.event == Event.DROPPED and r.kind == Kind.DATA]
        assert watch.faults == []
        assert len(world.delivered) + len(lost) == sent
        assert len(world.delivered) > sent / 3 and watch.checked > 500
        assert Reason.TTL_EXPIRED not in {r.reason for r in lost}
        assert Reason.MALFORMED not in {r.reason for r in watch if r.event == Event.DROPPED}
        most = max((r.extra for r in watch if r.event == Event.BUFFERED), default=0)
        assert most <= changed.get("buffer", 512)
        if changed.get("local_repair") == 0:  # a repair may lead over the node from which the packet came
            assert max(visits(world).values()) == 1


def visits(world: World) -> Counter[tuple[bytes, int | None]]:
    """Return how often each node got each data packet."""
    return Counter((f.bytes[4:6] + f.bytes[12:20], f.to) for f in world.frames if not f.lost and not read(f))


@pytest.mark.parametrize("seed", range(4))
def test_routes_are_shortest_in_a_standing_network(seed: int) -> None:
    """Without jitter and other traffic, the first copy of a request takes the shortest path, as by breadth-first
    search."""
    draw = random.Random(seed)
    count = 40
    pairs = disc(*scatter(count, 6, draw))
    for _ in range(8):
        a, b = draw.sample(range(count), 2)
        hops = distances(pairs, a).get(b)
        with World(count, "aodv", "rfc", jitter_ms=0, gratuitous=1) as world:
            world.links(pairs)
            world.send(a, b)
            world.run(12)
            assert world.hops(a, b) == world.hops(b, a) == (hops or 0)
            assert len(world.delivered) == (hops is not None)


def test_the_same_seed_gives_the_same_bytes() -> None:
    def run(seed: int) -> list[tuple[int, bytes]]:
        draw = random.Random(5)
        with World(15, "aodv", "thesis", seed=seed) as world:
            world.links(disc(*scatter(15, 6, draw)))
            world.lossy(0.1)
            for _ in range(50):
                world.send(*draw.sample(range(15), 2))
                world.run(0.2)
            return [(frame.time, frame.bytes) for frame in world.frames]

    assert run(1) == run(1) != run(2)


def as_list(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


@pytest.mark.slow
def test_tshark_reads_all_that_is_sent() -> None:
    """Every kind of message and flag, from a moving network, has the fields that the core meant."""
    frames = []
    for changed in ({"gratuitous": 1, "rrep_ack": 1}, {"destination_only": 1, "feedback": 0}):
        world, _, _ = moving("rfc", 3, 16, 15, **changed)
        frames += [frame for frame in world.frames if read(frame)]
        kinds = Counter((m.kind, m.to is None) for m in messages(world))
        assert kinds[RREQ, True] and kinds[RREP, False] and kinds[RERR, False] + kinds[RERR, True]
        assert kinds[ACK, False] if "rrep_ack" in changed else kinds[RREP, True]
    layers = tshark(frame.bytes for frame in frames)
    assert len(layers) == len(frames) > 1000
    assert [found for each in layers for found in complaints(each)] == []
    assert {each["frame"]["frame.protocols"] for each in layers} == {"raw:ip:udp:aodv"}
    assert {read(frame).flags for frame in frames if read(frame).kind == RREQ} >= {0x28, 0x20, 0x18, 0x10}  # type: ignore[union-attr]
    for frame, each in zip(frames, layers, strict=True):
        meant, seen = read(frame), each["aodv"]
        assert meant is not None and int(seen["aodv.type"]) == meant.kind and int(each["ip"]["ip.ttl"]) == meant.ttl
        if meant.kind == RREQ:
            assert int(seen["aodv.hopcount"]) == meant.hops and int(seen["aodv.rreq_id"], 0) == meant.words[0]
            assert [int(seen[f"aodv.{name}_seqno"]) for name in ("dest", "orig")] == [meant.words[2], meant.words[4]]
            assert int(seen["aodv.flags"], 0) == meant.flags << 8
            assert [dotted(meant.words[1]), dotted(meant.words[3])] == [seen["aodv.dest_ip"], seen["aodv.orig_ip"]]
        elif meant.kind == RREP:
            assert int(seen["aodv.hopcount"]) == meant.hops and int(seen["aodv.lifetime"]) == meant.words[3]
            assert dotted(meant.words[0]) == seen["aodv.dest_ip"] and int(seen["aodv.dest_seqno"]) == meant.words[1]
        elif meant.kind == RERR:
            assert int(seen["aodv.destcount"]) == meant.hops


def dotted(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


@pytest.mark.parametrize(("preset", "changed"), [("rfc", {}), ("thesis", {"feedback": 0}), ("cmu", {"rrep_ack": 1})])
def test_nothing_that_comes_does_harm(preset: str, changed: dict[str, int]) -> None:
    """Randomly changed frames among real ones; once their content has expired, everything is as before."""
    count = 12
    draw = random.Random(7)
    pairs = disc(*scatter(count, 6, draw))
    rounds = 2_000_000 if LONG else 20_000
    with World(count, "aodv", preset, keep=False, delete_period_ms=15_000, **changed) as world:
        world.links(pairs)
        for _ in range(100):
            for _ in range(5):
                world.send(*draw.sample(range(count), 2))
            world.fuzz(rounds // 100)
        world.run(60)
        for _ in range(20):
            a, b = draw.sample(range(count), 2)
            before = world.counters(b).delivered
            world.send(a, b)
            world.run(20)
            assert world.counters(b).delivered == before + (b in distances(pairs, a))


def test_a_flood_of_strangers_is_bounded_and_passes() -> None:
    """More originators than there is room for: those being searched for stay, and the others are found again."""
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        world.string()
        world.send(0, 3)
        world.run(1)
        for number in range(3000):
            world.inject(1, 0, rreq(1, 100 + number % 900, number, 2000, own=number + 1))
        assert len(world.entries(0)) <= 512
        world.send(0, 3)
        world.run(30)
        assert len(world.delivered) == 2 and len(world.entries(0)) < 10
