# SPDX-License-Identifier: BSD-3-Clause
"""DSR when links fail, by hand-written timelines: errors, salvage, waiting packets, and acknowledgments of its own
where the link layer reports nothing."""

from __future__ import annotations

import pytest
from dsr_frames import LINK, PENDING, air, control, data, dsr, entries, options, request, searches
from world import FIRST_ADDRESS, MS, Event, Kind, Reason, Record, World

FORK = [(0, 1), (1, 2), (2, 3), (3, 5), (2, 4), (4, 5)]  # from 2 there are two routes to 5


def fork(preset: str, **changed: int) -> World:
    """Return a world in which 2 knows both routes, a packet has gone from 0 to 5, and the time is 1 s."""
    world = dsr(7, preset, **{"reply_all": 1, "ttl_first": 16, **changed})
    world.links(FORK)
    world.send(0, 5)
    world.run(1)
    assert world.hops(0, 5) == 4
    return world


def lost(world: World, node: int | None = None) -> list[tuple[int, object]]:
    return [(r.ip_id, r.reason) for r in world.told(Event.DROPPED, node) if r.kind == Kind.DATA]


def since(records: list[Record], start: int) -> list[Record]:
    return [record for record in records if record.time >= start]


def way(world: World) -> int:
    """Return the next hops of the packets from 2 to 5."""
    return next(f.to for f in data(world) if f.source == 2) or 0


@pytest.mark.parametrize("preset", ["rfc", "thesis"])
def test_an_error_goes_back_and_ends_the_route(preset: str) -> None:
    with dsr(5, preset) as world:
        world.string()
        world.send(0, 4)
        world.run(1)
        world.link(2, 3, False)
        world.send(0, 4, ip_id=8, length=100)
        world.run(0.5)
        broken = 1000 * MS + 3 * air(100 + 4 + 16)
        assert [(r.time, r.node, r.to) for r in world.told(Event.LINK_LOST)] == [(broken, 2, 3)]
        assert lost(world) == [(8, Reason.LINK_BROKEN)]
        assert [(f.source, f.to, len(f.bytes)) for f in control(world, Kind.RERR)] == [(2, 1, 48), (1, 0, 48)]
        assert [(r.time, r.to) for r in world.told(Event.LOST_ROUTE)] == [(broken + air(48, 48), 4)]
        assert not [e for e in entries(world, 0, LINK) if {e.origin, e.to} == {2, 3}]
        assert not [e for e in entries(world, 1, LINK) if {e.origin, e.to} == {2, 3}]
        world.link(2, 3)
        world.send(0, 4, ip_id=9)
        world.run(1)
        assert world.delivered[-1].ip_id == 9


@pytest.mark.parametrize(("preset", "kept"), [("rfc", []), ("cmu", []), ("thesis", [1])])
def test_a_forwarder_salvages_and_the_next_error_goes_to_whose_route_it_was(preset: str, kept: list[int]) -> None:
    with fork(preset) as world:
        first = way(world)
        other = 7 - first
        world.link(2, first, False)
        start = world.now
        world.send(0, 5, ip_id=8, length=100)
        world.run(0.1)
        ((node, hops, count),) = [(r.node, r.hops, r.count) for r in world.told(Event.SALVAGED)]
        assert (node, hops, count) == (2, 2, 1)
        written = [options(f)[1:4] for f in data(world) if f.source in (2, other) and f.time >= start]
        route = [*kept, 2, other]
        assert written[-2:] == [(route, 1, 1), (route, 0, 1)]
        assert world.delivered[-1].ip_id == 8
        assert {(f.source, f.to) for f in control(world, Kind.RERR)} == {(2, 1), (1, 0)}
        # again, and the route that 2 wrote into the packet is broken too
        world.link(2, first)
        with fork(preset) as again:
            again.link(2, first, False)
            again.link(other, 5, False)
            again.send(0, 5, ip_id=8, length=100)
            again.run(0.1)
            if preset == "cmu":  # waits where it is
                assert [(e.to, e.waiting) for e in entries(again, other, PENDING) if e.waiting] == [(5, 1)]
            else:
                assert lost(again) == [(8, Reason.LINK_BROKEN)]
            told = [f for f in control(again, Kind.RERR) if f.source == other]
            assert [int.from_bytes(f.bytes[16:20], "big") - FIRST_ADDRESS for f in told] == [0 if kept else 2]


@pytest.mark.parametrize("changed", [{"salvage": 0}, {"salvage_most": 0}])
def test_salvage_may_be_off_or_used_up(changed: dict[str, int]) -> None:
    with fork("rfc", **changed) as world:
        world.link(2, way(world), False)
        world.send(0, 5, ip_id=8)
        world.run(0.1)
        assert lost(world) == [(8, Reason.LINK_BROKEN)]
        assert not world.told(Event.SALVAGED)


def test_what_waits_for_the_lost_neighbour_goes_with_it() -> None:
    with fork("rfc", salvage=0) as world:
        world.link(2, way(world), False)
        for number in range(8, 12):
            world.send(2, 5, ip_id=number, length=100)
        world.run(0.5)
        assert [r.ip_id for r in since(world.told(Event.SALVAGED), MS)] == []
        assert [packet.ip_id for packet in world.delivered[1:]] == [8, 9, 10, 11]  # own ones: like new ones, in order
    with fork("thesis") as world:
        first = way(world)
        for gone in (3, 4):
            world.link(2, gone, False)
        for number in range(8, 12):
            world.send(2, 5, ip_id=number, length=100)
        world.run(0.5)
        assert len(world.told(Event.LINK_LOST, 2)) == 2 and first in (3, 4)
        assert sorted(lost(world, 2)) == [
            (8, Reason.LINK_BROKEN),  # salvaged onto the other route, and lost there
            *((number, Reason.PURGED) for number in range(9, 12)),
        ]


@pytest.mark.parametrize(("preset", "again"), [("rfc", True), ("cmu", True), ("thesis", False)])
def test_own_packets_come_back_to_the_send_buffer_or_are_lost(preset: str, again: bool) -> None:
    with dsr(3, preset) as world:
        world.string(0, 1, 2)
        world.send(0, 2)
        world.run(1)
        world.link(0, 1, False)
        for number in range(8, 11):
            world.send(0, 2, ip_id=number)
        world.run(0.005)
        world.link(0, 1)
        world.run(20)
        assert [packet.ip_id for packet in world.delivered] == [1, *([8, 9, 10] if again else [])]
        assert lost(world) == ([] if again else [(8, Reason.LINK_BROKEN), (9, Reason.PURGED), (10, Reason.PURGED)])


@pytest.mark.parametrize(("each", "told"), [(1, {0, 6}), (0, {0})])
def test_sources_of_what_was_queued_are_told_too(each: int, told: set[int]) -> None:
    with dsr(7, error_each=each, hear_errors=1) as world:
        world.links([(0, 1), (6, 1), (1, 2), (2, 3)])
        for source in (0, 6):
            world.send(source, 3)
            world.run(1)
        world.link(1, 2, False)
        world.send(0, 3, ip_id=8, length=100)
        world.run(0.0002)
        world.send(6, 3, ip_id=9, length=100)
        world.run(0.5)
        assert [r.to for r in world.told(Event.LINK_LOST)] == [2]
        errors = [f for f in control(world, Kind.RERR) if f.source == 1]
        assert {int.from_bytes(f.bytes[16:20], "big") - FIRST_ADDRESS for f in errors} == told
        assert lost(world) == [(8, Reason.LINK_BROKEN), (9, Reason.PURGED)]


def test_a_forwarder_that_buffers_asks_once_and_near_and_gives_up() -> None:
    with dsr(4, "cmu") as world:
        world.string()
        world.send(0, 3)
        world.run(1)
        world.link(2, 3, False)
        world.send(0, 3, ip_id=8, length=100)
        world.run(5)
        broken = 1000 * MS + 3 * air(100 + 4 + 12)
        assert searches(world, 2) == [(broken / MS, 1)]
        assert [(r.time, r.reason) for r in world.told(Event.DROPPED, 2) if r.kind == Kind.DATA] == [
            (broken + 2000 * MS, Reason.NO_ROUTE)
        ]


def test_what_a_forwarder_buffered_continues_as_salvaged() -> None:
    with dsr(5, "cmu") as world:
        world.string(0, 1, 2, 3)
        world.send(0, 3)
        world.run(1)
        world.link(2, 3, False)
        world.link(2, 4)
        world.link(4, 3)
        world.send(4, 3)  # 4 knows the route
        world.run(0.1)
        world.send(0, 3, ip_id=8, length=100)
        world.run(1)
        assert world.delivered[-1].ip_id == 8
        assert [options(f)[1:4] for f in data(world)[-2:]] == [([2, 4], 1, 1), ([2, 4], 0, 1)]


@pytest.mark.parametrize(("how", "saved"), [(0, False), (1, True), (2, False)])
def test_a_reply_may_be_salvaged(how: int, saved: bool) -> None:
    """5 asks for 0. Node 2, which knows two routes to 5, cannot forward the answer over the one that it names."""
    with fork("rfc", salvage_replies=how, cached_replies=0) as world:
        world.link(0, 6)
        start = world.now
        world.send(5, 6)
        world.run(0.0001)
        while not [f for f in world.frames if f.time > start and f.source == 0 and f.to == 1]:
            world.run(0.0002)
        replies = [f for f in control(world, Kind.RREP) if f.time > start]
        world.link(2, options(replies[-1]).route[-1], False)
        world.run(0.02)
        assert bool([r for r in world.told(Event.SALVAGED, 2) if r.kind == Kind.RREP]) == saved


def test_the_next_request_carries_the_error() -> None:
    with dsr(4) as world:
        world.string()
        world.send(0, 3)
        world.run(1)
        world.link(2, 3, False)
        world.send(0, 3, ip_id=8)
        world.run(0.1)
        world.send(0, 3, ip_id=9)
        world.run(0.2)
        carried = [f for f in world.frames if f.source == 0 and f.time > 1100 * MS and f.to is None]
        assert [options(f).kinds for f in carried] == [[1, 3], [1, 3]]  # the near one, and one that continues
        world.run(3)
        carried = [f for f in world.frames if f.source == 0 and f.time > 1300 * MS and f.to is None]
        assert {tuple(options(f).kinds) for f in carried} == {(1,)}


@pytest.mark.parametrize(("hear", "forgets"), [(0, set()), (1, {1}), (2, {1, 4})])
def test_the_parameter_decides_which_nodes_use_errors(hear: int, forgets: set[int]) -> None:
    with dsr(5, hear_errors=hear) as world:
        world.string(0, 1, 2, 3)
        world.link(4, 1)
        world.lossy(0, promiscuous=True)
        world.send(0, 3)
        world.run(1)
        world.link(2, 3, False)
        world.send(0, 3, ip_id=8)
        world.run(0.1)
        left = {node for node in (0, 1, 4) if [e for e in entries(world, node, LINK) if (e.origin, e.to) == (2, 3)]}
        assert {0, 1, 4} - left == forgets | {0}


# ---- without feedback ----


def asks(world: World) -> list[tuple[int, int]]:
    """Return when which frames requested an acknowledgment, and from whom."""
    return [(f.time, f.source) for f in world.frames if f.bytes[9] == 48 and 160 in options(f).kinds]


def acks(world: World) -> list[tuple[int, int | None]]:
    return [(f.source, f.to) for f in world.frames if f.bytes[9] == 48 and 32 in options(f).kinds]


def test_acknowledgments_are_asked_for_a_quarter_second_apart() -> None:
    with dsr(2, feedback=0, passive_acks=0) as world:
        world.string()
        world.send(0, 1, length=100)
        world.run(1)
        before = len(asks(world))
        start = world.now
        for number in range(11):
            world.send(0, 1, ip_id=10 + number, length=100)
            world.run(0.05)
        size = air(100 + 4 + 4 + 4)  # header, an empty source route, and the request
        assert [at - start - size for at, _ in asks(world)[before:]] == [0, 250 * MS, 500 * MS]
        assert acks(world)[-3:] == [(1, 0)] * 3
        assert len(world.delivered) == 12 and not lost(world)


def test_a_silent_neighbour_is_lost_after_the_retransmissions() -> None:
    with dsr(3, feedback=0, passive_acks=0, maint_retries=2) as world:
        world.string()
        world.send(0, 2, length=100)
        world.run(1)
        assert world.delivered and not world.told(Event.LINK_LOST)
        world.link(1, 2, False)
        start = world.now
        world.send(0, 2, ip_id=8, length=100)
        world.run(2)
        ((at, node),) = [(r.time, r.node) for r in world.told(Event.LINK_LOST)]
        assert node == 1
        rto = 20 * MS  # the least; doubled each time
        assert at == start + air(100 + 4 + 4 + 4 + 4) + rto + 2 * rto + 4 * rto
        assert [(f.source, f.to) for f in world.frames if f.time > start and options(f).kinds == [160]] == [(1, 2)] * 2
        assert lost(world) == [(8, Reason.LINK_BROKEN)]
        assert [(f.source, f.to) for f in control(world, Kind.RERR)] == [(1, 0)]


def test_copies_are_salvaged() -> None:
    with fork("rfc", feedback=0, passive_acks=0) as world:
        first = way(world)
        world.link(2, first, False)
        for number in range(8, 11):
            world.send(0, 5, ip_id=number, length=100)
        world.run(2)
        assert [packet.ip_id for packet in world.delivered[1:]] == [8, 9, 10]
        assert [r.ip_id for r in world.told(Event.SALVAGED, 2)] == [8, 9, 10]
        assert not lost(world)


def test_hearing_it_passed_on_is_an_acknowledgment() -> None:
    with dsr(3, feedback=0, passive_acks=1, maint_rto_ms=100) as world:
        world.string()
        world.send(0, 2, length=100)
        world.run(1)
        world.lossy(0, promiscuous=True)
        world.set(1, "jitter_ms", 1000)  # its own comes later
        world.send(0, 2, ip_id=8, length=100)
        world.run(0.0017)
        (neighbour,) = [e for e in world.entries(0) if e.state == "asked"]
        assert neighbour.to == 1
        world.run(0.001)
        assert not [e for e in world.entries(0) if e.state == "asked"]


def test_a_late_acknowledgment_of_another_number_confirms_nothing() -> None:
    with dsr(2, feedback=0, passive_acks=0) as world:
        world.string()
        world.send(0, 1)
        world.run(1)
        world.link(0, 1, False)
        world.send(0, 1, ip_id=8, length=100)
        world.run(0.001)
        world.inject(1, 0, request(1, 9, 5))  # anything else that comes from there
        world.run(3)
        assert [r.to for r in world.told(Event.LINK_LOST)] == [1]
