# SPDX-License-Identifier: BSD-3-Clause
"""AODV after lost links, by hand: errors and their receivers, the purge, local repair, HELLOs, unidirectional links."""

import itertools
from typing import Any

import pytest
from aodv_wire import ACK, LENGTHS, RERR, RREP, RREQ, Message, data_for, messages, on_air, rerr, rrep, rreq
from world import MS, SECOND, Event, Kind, Reason, World

DATA = 512
FAR = on_air(DATA)


def settled(world: World, source: int, to: int) -> None:
    """Return a route that is in use."""
    world.send(source, to, ip_id=999, length=DATA)
    world.run(0.7)
    assert to in world.routes(source)
    world.records.clear()
    world.frames.clear()
    world.delivered.clear()


def burst(world: World, source: int, to: int, count: int) -> None:
    for number in range(count):
        world.send(source, to, ip_id=number, length=DATA)


def dropped(world: World, node: int | None = None) -> list[tuple[Any, int]]:
    return [(r.reason, r.ip_id) for r in world.told(Event.DROPPED, node) if r.kind == Kind.DATA]


def test_a_broken_link_purges_its_queue_and_tells_the_source() -> None:
    """AODV-UU without repair: the packet and the queue for that hop are lost. The error goes to the only precursor, hop
    by hop; each receiver drops what is queued for the destination. Only the packet on the air is left, and is not
    forwarded."""
    with World(5, "aodv", "thesis", jitter_ms=0, local_repair=0) as world:
        world.string()
        settled(world, 0, 4)
        start = world.now
        burst(world, 0, 4, 12)
        world.run(0.0001)
        world.link(2, 3, False)  # 2 has nothing yet
        world.run(1)
        lost = start + 3 * FAR  # 0 to 1 to 2, given up
        errors = messages(world, RERR)
        assert {(m.source, m.to, m.ttl, m.flags, *m.nodes) for m in errors} == {(2, 1, 1, 0, 4), (1, 0, 1, 0, 4)}
        assert errors[0].at == lost + on_air(LENGTHS["rerr"])
        (broken,) = world.told(Event.LINK_LOST)
        assert (broken.node, broken.to, broken.time) == (2, 3, lost)
        reasons = dropped(world)
        assert reasons[0] == (Reason.LINK_BROKEN, 0)
        assert len(world.delivered) == 0
        assert {reason for reason, _ in dropped(world, 0)} == {Reason.PURGED}
        assert {reason for reason, _ in dropped(world, 1)} <= {Reason.PURGED, Reason.NO_ROUTE}
        assert sorted(number for _, number in reasons) == list(range(12))


def test_an_error_goes_to_everybody_if_there_are_two_precursors() -> None:
    with World(5, "aodv", "thesis", jitter_ms=0, local_repair=0) as world:
        world.string(0, 2, 3, 4)
        world.string(1, 2)
        settled(world, 0, 4)
        settled(world, 1, 4)
        world.link(3, 4, False)
        burst(world, 0, 4, 1)
        world.run(0.1)
        assert [(m.source, m.to, m.nodes) for m in messages(world, RERR)] == [(3, 2, [4]), (2, None, [4])]
        assert 4 not in world.routes(0) and 4 not in world.routes(1)


def test_ns2_tells_everybody_always() -> None:
    with World(4, "aodv", "cmu", jitter_ms=0) as world:
        world.string()
        settled(world, 0, 3)
        world.link(1, 2, False)
        burst(world, 0, 3, 1)
        world.run(0.1)
        assert [(m.source, m.to) for m in messages(world, RERR)] == [(1, None)]


def test_an_error_counts_only_from_the_next_hop() -> None:
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        world.inject(1, 0, rrep(1, 0, 3, 5, 0, hops=1))
        world.inject(2, 0, rerr(2, 0, (3, 9)))
        assert world.routes(0)[3].via == 1
        world.inject(1, 0, rerr(1, 0, (3, 6), (2, 7)))
        assert sorted(world.routes(0)) == [1, 2]


def test_many_destinations_are_told_in_as_many_messages_as_they_need() -> None:
    """Routes to 300 hosts over node 2, all of which 0 requested: when node 2 is lost, two errors, with 170 and 130
    destinations."""
    with World(3, "aodv", "rfc", jitter_ms=0, local_repair=0) as world:
        world.string()
        for host in range(300):
            world.inject(2, 1, rrep(2, 1, 10 + host, 1, 1, hops=1, life=60_000))
            world.inject(0, 1, rreq(0, 0, host, 10 + host))
        world.run(2)
        world.frames.clear()
        world.link(1, 2, False)
        world.send(1, 10)
        world.run(0.5)
        errors = messages(world, RERR)
        assert [(m.to, m.hops) for m in errors] == [(0, 170), (0, 130)]
        assert {node for m in errors for node in m.nodes} == set(range(10, 310))


def test_ten_errors_a_second() -> None:
    with World(3, "aodv", "rfc", jitter_ms=0) as world:
        world.string()
        for _ in range(20):
            world.inject(0, 1, data_for(2))
        assert world.counters(1).dropped[Reason.NO_ROUTE] == 20
        world.run(0.5)
        assert len(messages(world, RERR)) == 10
        assert world.counters(1).dropped_control[Reason.RATE_LIMITED] == 10


def test_a_node_that_forwards_without_a_route_reports_it() -> None:
    """If the way to the source is known, to that neighbour, else broadcast. The number is the last known one."""
    with World(3, "aodv", "rfc", jitter_ms=0) as world:
        world.string()
        world.inject(0, 1, data_for(2))
        world.inject(0, 1, rreq(0, 0, 1, 1))
        world.inject(2, 1, rrep(2, 1, 2, 40, 1))
        world.inject(0, 1, rerr(0, 1, (2, 41)))
        world.inject(0, 1, data_for(2))
        world.run(0.1)
        assert [(m.to, m.words[1]) for m in messages(world, RERR)] == [(None, 0)]
        assert world.delivered[0].at == 2


def diamond(world: World) -> None:
    """0-1-2-3-4, and 2-5-4: node 2 loses 3 and finds 5."""
    world.string(0, 1, 2, 3, 4)
    settled(world, 0, 4)
    world.string(2, 5, 4)
    world.link(2, 3, False)


@pytest.mark.parametrize("preset", ["rfc", "thesis"])
def test_a_repair_keeps_all_that_was_queued_and_says_nothing(preset: str) -> None:
    """6.12: a request with TTL max(2, half of 2) + 2. Packet and queue wait, then take the other route; no error."""
    with World(6, "aodv", preset, jitter_ms=0, release_ms=0) as world:
        diamond(world)
        start = world.now
        burst(world, 0, 4, 10)
        world.run(1)
        assert [packet.ip_id for packet in world.delivered] == list(range(10))
        (repaired,) = world.told(Event.REPAIRED)
        assert (repaired.node, repaired.to, repaired.next_hop, repaired.hops, repaired.count) == (2, 4, 5, 2, 2)
        (search,) = world.told(Event.SEARCH)
        assert (search.time, search.count) == (start + 3 * FAR, 4)
        assert repaired.time == search.time + 2 * (on_air(LENGTHS["rreq"]) + on_air(LENGTHS["rrep"]))
        assert not messages(world, RERR) and not dropped(world)


def test_a_repair_that_makes_the_way_longer_reports_it() -> None:
    """6.12: an error with the N flag, which no node takes for a loss, reaches the source."""
    with World(7, "aodv", "rfc", jitter_ms=0) as world:
        world.string(0, 1, 2, 3, 4)
        settled(world, 0, 4)
        world.string(2, 5, 6, 4)
        world.link(2, 3, False)
        burst(world, 0, 4, 1)
        world.run(1)
        assert [packet.ip_id for packet in world.delivered] == [0]
        assert [(m.source, m.to, m.flags) for m in messages(world, RERR)] == [(2, 1, 0x80), (1, 0, 0x80)]
        assert 4 in world.routes(0) and 4 in world.routes(1)


def failed_repair(preset: str, **changed: int) -> tuple[list[Any], list[Any]]:
    with World(5, "aodv", preset, jitter_ms=0, **changed) as world:
        world.string()
        settled(world, 0, 4)
        world.link(2, 3, False)
        start = world.now
        burst(world, 0, 4, 1)
        world.run(9)
        asked = [((r.time - start) // MS, r.count) for r in world.told(Event.SEARCH, 2)]
        told = [((m.at - start) // MS, m.source, m.to) for m in messages(world, RERR)]
        assert dropped(world) == [(Reason.NO_ROUTE, 0)]
    return asked, told


def test_a_repair_that_fails_is_told_then() -> None:
    """RFC: one request, and the time of its ring; AODV-UU continues up to the whole network."""
    asked, told = failed_repair("rfc")
    assert asked == [(7, 4)]
    assert told == [(488, 2, 1), (488, 1, 0)]
    asked, told = failed_repair("thesis")
    assert asked == [(7, 4), (327, 6), (967, 8), (1767, 35), (4727, 35)]
    assert told == [(7688, 2, 1)]  # node 1's own route has expired meanwhile


def test_no_repair_of_what_is_too_far() -> None:
    with World(5, "aodv", "rfc", jitter_ms=0, max_repair_ttl=1) as world:
        world.string()
        settled(world, 0, 4)
        world.link(2, 3, False)
        burst(world, 0, 4, 1)
        world.run(0.1)
        assert not world.told(Event.SEARCH, 2)
        assert [(m.source, m.to) for m in messages(world, RERR)] == [(2, 1), (1, 0)]


def test_what_nothing_asks_for_is_told_when_its_repair_is_no_longer_worth_it() -> None:
    """Two destinations behind one link, and data only for one: the precursors of the other get an error after 3 s."""
    with World(6, "aodv", "rfc", jitter_ms=0) as world:
        world.string(0, 1, 2, 3, 4)
        world.string(3, 5)
        settled(world, 0, 4)
        settled(world, 0, 5)
        world.link(2, 3, False)
        start = world.now
        burst(world, 0, 4, 1)
        world.run(4)
        told = [((m.at - start) // MS, m.source, tuple(m.nodes)) for m in messages(world, RERR)]
        assert told == [(488, 2, (4,)), (488, 1, (4,)), (3008, 2, (5,)), (3008, 1, (5,))]


def test_ns2_repairs_only_the_nearer_half_and_one_packet_at_a_time() -> None:
    with World(6, "aodv", "cmu", jitter_ms=0) as world:
        world.string(0, 1, 2, 3)
        settled(world, 0, 3)
        world.string(2, 4, 3)
        world.link(2, 3, False)
        burst(world, 0, 3, 4)
        world.run(1)
        assert [r.node for r in world.told(Event.REPAIRED)] == [2]  # two hops from the source, one to go
        assert sorted(packet.ip_id for packet in world.delivered) == [0, 1, 2, 3]
    with World(6, "aodv", "cmu", jitter_ms=0) as world:
        world.string(0, 1, 2, 3)
        settled(world, 0, 3)
        world.string(1, 4, 3)
        world.link(1, 2, False)
        burst(world, 0, 3, 4)
        world.run(0.1)
        assert not world.told(Event.REPAIRED)
        assert dropped(world, 1)[0] == (Reason.LINK_BROKEN, 0)


@pytest.mark.parametrize(("preset", "kept"), [("rfc", True), ("thesis", False), ("cmu", False)])
def test_the_source_keeps_its_own_or_loses_them(preset: str, kept: bool) -> None:
    """Without repair: AODV-UU and ns-2 lose packet and queue at the source, too."""
    with World(4, "aodv", preset, jitter_ms=0, local_repair=0) as world:
        world.string(0, 1, 2)
        settled(world, 0, 2)
        world.string(0, 3, 2)
        world.link(0, 1, False)
        burst(world, 0, 2, 5)
        world.run(3)
        assert [packet.ip_id for packet in world.delivered] == (list(range(5)) if kept else [])
        assert dropped(world) == ([] if kept else [(Reason.LINK_BROKEN, 0)] + [(Reason.PURGED, n) for n in range(1, 5)])


def test_what_comes_back_goes_by_the_route_that_came_meanwhile() -> None:
    with World(4, "aodv", "rfc", jitter_ms=0) as world:
        world.string(0, 1, 2, 3)
        settled(world, 3, 2)
        settled(world, 0, 2)
        world.link(0, 3)
        world.link(0, 1, False)
        burst(world, 0, 2, 1)
        world.run(0.001)
        world.inject(3, 0, rrep(3, 0, 2, 9, 0, hops=1))
        world.run(0.1)
        assert [r.next_hop for r in world.told(Event.SALVAGED)] == [3]
        assert [packet.ip_id for packet in world.delivered] == [0]


def hellos(world: World, node: int) -> list[Message]:
    return [m for m in messages(world, RREP) if m.to is None and m.source == node]


def test_hellos_go_while_data_does_and_not_with_feedback() -> None:
    with World(3, "aodv", "rfc", jitter_ms=0, feedback=0) as world:
        world.string(0, 1)
        world.run(3)
        assert not messages(world)
        for _ in range(4):
            world.send(0, 1)
            world.run(1)
        world.run(10)
        assert not hellos(world, 2)
        times = [m.at // MS for m in hellos(world, 1)]
        assert times[0] == 3004 and all(b - a == 1000 for a, b in itertools.pairwise(times))
        assert times[-1] == 8004  # the last within 3 s of data
        (one, *_) = hellos(world, 1)
        assert (one.ttl, one.hops, one.words[3]) == (1, 0, 2000)
    with World(2, "aodv", "thesis", jitter_ms=0) as world:
        world.string()
        world.send(0, 1)
        world.run(5)
        assert not hellos(world, 0) and not hellos(world, 1)


def test_a_broadcast_stands_for_a_hello() -> None:
    """6.9, AODV-UU: no HELLO within a second of another broadcast; ns-2 always sends them."""
    for preset, expected in (("thesis", [0, 1400, 2400]), ("cmu", [0, 1000, 2000])):
        with World(2, "aodv", preset, jitter_ms=0, feedback=0, hello_jitter_ms=0, expanding_ring=0) as world:
            world.run(0.4)
            world.send(0, 1)
            world.run(2.4)
            assert [m.at // MS for m in hellos(world, 0)][:3] == expected


def test_silence_breaks_a_link_without_feedback() -> None:
    """Two lost HELLOs and, in AODV-UU, 50 ms: then as if the link layer had reported it."""
    with World(3, "aodv", "thesis", jitter_ms=0, feedback=0, local_repair=0) as world:
        world.string()
        settled(world, 0, 2)
        world.run(0.4)
        world.link(1, 2, False)
        at = world.now
        for number in range(30):
            world.send(0, 2, ip_id=number)
            world.run(0.1)
        (broken,) = world.told(Event.LINK_LOST, 1)
        assert broken.to == 2 and 1_950 * MS < broken.time - at <= 2_050 * MS
        assert [(m.source, m.to, m.nodes) for m in messages(world, RERR)][:1] == [(1, 0, [2])]
        assert {reason for reason, _ in dropped(world)} == {Reason.LINK_BROKEN}  # before, one by one: unknown


def test_a_link_is_believed_after_so_many_hellos() -> None:
    with World(2, "aodv", "thesis", jitter_ms=0, feedback=0, hellos_needed=3) as world:
        world.string()
        world.run(1.5)
        assert not world.routes(0)
        world.run(1)
        assert sorted(world.routes(0)) == [1]


@pytest.mark.parametrize("how", [{"feedback": 1}, {"feedback": 0, "rrep_ack": 1}])
def test_a_link_of_one_direction_is_found_out_and_avoided(how: dict[str, int]) -> None:
    """2 hears 0, but 0 does not hear 2, so its reply is lost. It ignores requests from there for 5.6 s, and replies
    over 1 (6.8), whether the link layer reports the loss or no RREP-ACK arrives."""
    with World(3, "aodv", "rfc", jitter_ms=0, ttl_start=3, **how) as world:
        world.string()
        world.link(0, 2, one_way=True)
        world.send(0, 2)
        world.run(1)
        assert world.routes(0)[2].via == 1 and len(world.delivered) == 1
        assert {e.to for e in world.entries(2) if e.state == "blacklisted"} == {0}
        lost = next(frame.time for frame in world.frames if frame.source == 2 and frame.to == 0 and frame.lost)
        end = 5600 * MS + (0 if how["feedback"] else 50 * MS - on_air(LENGTHS["rrep"]))
        world.run((lost + end - world.now) / SECOND - 0.0001)
        world.inject(0, 2, rreq(0, 0, 500, 9, own=500))
        assert world.counters(2).dropped_control[Reason.NOT_OURS] >= 1
        before = len(messages(world, RREQ))
        world.run(0.0002)
        world.inject(0, 2, rreq(0, 0, 501, 9, own=501))
        world.run(0.01)
        assert len(messages(world, RREQ)) > before


def test_a_reply_is_acknowledged_if_it_asks_for_it() -> None:
    with World(3, "aodv", "rfc", jitter_ms=0, rrep_ack=1, feedback=0) as world:
        world.string()
        world.send(0, 2)
        world.run(1)
        assert [(m.source, m.to, m.ttl) for m in messages(world, ACK)] == [(1, 2, 1), (0, 1, 1)]
        assert {m.flags for m in messages(world, RREP) if m.to is not None} == {0x40}
        assert not [e for i in range(3) for e in world.entries(i) if e.state == "blacklisted"]


def test_a_control_packet_that_is_lost_is_no_loss_of_the_link_to_aodv_uu() -> None:
    for preset, lost in (("thesis", 0), ("rfc", 1)):
        with World(2, "aodv", preset, jitter_ms=0) as world:
            world.link(0, 1, one_way=True)
            world.send(0, 1)
            world.run(0.1)
            assert len(world.told(Event.LINK_LOST)) == lost
