# SPDX-License-Identifier: BSD-3-Clause
"""OLSR by hand: timelines to the microsecond, the papers' sets and outages, and the effect of each message."""

import ctypes as c
import itertools

import pytest
from world import MS, SECOND, EntryKind, Event, Kind, Reason, World, address, library, parameters

FRAME = 500_000  # ns, and 4,000 a byte
EMPTY_HELLO = 20 + 8 + 4 + 12 + 4  # IP, UDP, packet, message, HELLO


def on_air(length: int) -> int:
    return FRAME + 4000 * length


def neighbours(world: World, node: int) -> dict[int | None, str]:
    return {entry.to: entry.state for entry in world.entries(node) if entry.kind == EntryKind.NEIGHBOUR}


def relays(world: World, node: int) -> set[int | None]:
    return {to for to, state in neighbours(world, node).items() if state.startswith("mpr")}


def packet(source: int, *messages: bytes, number: int = 1) -> bytes:
    """Return an OLSR packet from this node, in UDP and IP, without a UDP checksum."""
    body = b"".join(messages)
    olsr = (4 + len(body)).to_bytes(2, "big") + number.to_bytes(2, "big") + body
    ports = (698).to_bytes(2, "big")
    udp = ports + ports + (8 + len(olsr)).to_bytes(2, "big") + bytes(2) + olsr
    head = bytearray(b"\x45\x00" + (20 + len(udp)).to_bytes(2, "big") + bytes(4) + b"\x01\x11\x00\x00")
    head += address(source).to_bytes(4, "big") + b"\xff\xff\xff\xff"
    total = sum(int.from_bytes(head[i : i + 2], "big") for i in range(0, 20, 2))
    total = (total & 0xFFFF) + (total >> 16)
    head[10:12] = (0xFFFF - (total & 0xFFFF) - (total >> 16)).to_bytes(2, "big")
    return bytes(head) + udp


def message(kind: int, origin: int, body: bytes, number: int, ttl: int = 255, hops: int = 0) -> bytes:
    head = bytes((kind, 0x86)) + (12 + len(body)).to_bytes(2, "big") + address(origin).to_bytes(4, "big")
    return head + bytes((ttl, hops)) + number.to_bytes(2, "big") + body


def words(*nodes: int) -> bytes:
    return b"".join(address(node).to_bytes(4, "big") for node in nodes)


def test_times_are_coded_as_the_rfc_says() -> None:
    code, time = library().olsr_time_code, library().olsr_time
    code.restype, time.restype = c.c_uint8, c.c_uint64
    for ms, coded in ((6000, 0x86), (2000, 0x05), (15000, 0xE7), (1000, 0x04), (30000, 0xE8), (62, 0x00)):
        assert code(ms) == coded, ms
    for ms in range(70, 600_000, 997):
        assert ms <= time(code(ms)) / MS <= ms * 17 / 16 + 1


def test_two_nodes_meet() -> None:
    """At first only one direction of a HELLO's sender is known; when its HELLO names us, we are neighbours."""
    with World(2, "olsr", "thesis", jitter_ms=0) as world:
        world.string()
        world.run(1.5)
        heard = EMPTY_HELLO + 4 + 4
        assert [(frame.source, len(frame.bytes), frame.time) for frame in world.frames] == [
            (0, EMPTY_HELLO, on_air(EMPTY_HELLO)), (1, EMPTY_HELLO, on_air(EMPTY_HELLO)),
            (0, heard, SECOND + on_air(heard)), (1, heard, SECOND + on_air(heard)),
        ]  # fmt: skip
        assert [frame.bytes[48] for frame in world.frames[2:]] == [1, 1]  # link code: asymmetric, no neighbour
        assert [(r.node, r.to, r.time) for r in world.told(Event.LINK_FOUND)] == [
            (1, 0, SECOND + on_air(heard)), (0, 1, SECOND + on_air(heard)),
        ]  # fmt: skip
        assert world.hops(0, 1) == 1
        world.run(1)
        assert world.frames[-1].bytes[48] == 1 << 2 | 2  # symmetric neighbour, symmetric link


def test_a_silent_neighbour_is_lost_when_its_last_hello_no_longer_holds() -> None:
    with World(2, "olsr", "thesis", jitter_ms=0) as world:
        world.string()
        world.run(4.5)
        world.link(0, 1, up=False)
        last = max(frame.time for frame in world.frames)
        world.run(20)
        assert [(r.node, r.time, r.count) for r in world.told(Event.LINK_LOST)] == [
            (0, last + 6 * SECOND, 0), (1, last + 6 * SECOND, 0),
        ]  # fmt: skip
        assert [r.time for r in world.told(Event.LOST_ROUTE)] == [last + 6 * SECOND] * 2
        assert neighbours(world, 0) == {}
        world.send(0, 1)
        assert world.counters(0).dropped[Reason.NO_ROUTE] == 1


def test_a_link_in_one_direction_is_none() -> None:
    with World(2, "olsr", "thesis") as world:
        world.link(0, 1, one_way=True)
        world.run(20)
        assert neighbours(world, 1) == {0: "asymmetric"}
        assert not world.routes(0) and not world.routes(1)


def test_who_is_told_that_the_link_is_lost_believes_it() -> None:
    """One direction fails: the deaf side says LOST after 6 s, and the other ends the link at once (7.1.1)."""
    with World(2, "olsr", "thesis", jitter_ms=0) as world:
        world.string()
        world.run(4.5)
        world.link(0, 1, up=False, one_way=True)  # 1 is deaf
        world.run(20)
        deaf, told = (world.told(Event.LINK_LOST, node)[0].time for node in (1, 0))
        assert deaf == 4 * SECOND + on_air(EMPTY_HELLO + 8) + 6 * SECOND
        assert told == 11 * SECOND + on_air(EMPTY_HELLO + 8)  # the next HELLO


STRING_AND_HELPER = ((0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5))  # A to E, and F beside D and E


def test_the_relays_are_those_of_table_3_4() -> None:
    for preset in ("rfc", "thesis"):
        with World(6, "olsr", preset) as world:
            world.links(STRING_AND_HELPER)
            world.run(20)
            sets = {"ABCDEF"[node]: {"ABCDEF"[to] for to in relays(world, node) if to is not None} for node in range(6)}
            assert sets == {"A": {"B"}, "B": {"C"}, "C": {"B", "D"}, "D": {"C"}, "E": {"D"}, "F": {"D"}}


def outages(**changed: int) -> tuple[list[tuple[int, int]], World]:
    """Return when no packets from A reach E, in full seconds; the link of D and E breaks at 35 s, and F hears both."""
    with World(6, "olsr", "thesis", jitter_ms=0, **changed) as world:
        world.links(STRING_AND_HELPER)
        world.run(29.99)
        for number in range(600):
            if number == 100:
                world.link(3, 4, up=False)
            world.send(0, 4, ip_id=number, length=100)
            world.run(0.05)
        times = [packet.time for packet in world.delivered]
        gaps = [(a, b) for a, b in itertools.pairwise(times) if b - a > 0.15 * SECOND]
        return [(round((a + 35 * MS) / SECOND), b // SECOND) for a, b in gaps], world


def test_a_broken_link_costs_the_hold_time_and_the_next_tc() -> None:
    """D loses E at 40 s, and routes over F at once. At 41 s its HELLO reaches C, which now needs a TC that names the
    neighbours of E. E chooses F at 41 s, and F's TC is due at 45 s."""
    without, world = outages()
    assert without == [(35, 40), (41, 45)]
    hello = on_air(EMPTY_HELLO + 4 + 8 + 4)  # two neighbours: one it has chosen, one not
    assert [r.time for r in world.told(Event.LINK_LOST, 3)] == [34 * SECOND + hello + 6 * SECOND]
    routes = (Event.FOUND, Event.CHANGED, Event.LOST_ROUTE)
    at_c = [(r.event, r.hops) for r in world.records if (r.node, r.to) == (2, 4) and r.event in routes]
    assert at_c[-2:] == [(Event.LOST_ROUTE, 0), (Event.FOUND, 3)]


def test_tcs_that_come_sooner_shorten_it() -> None:
    """C34: 3 s, and immediate TCs."""
    assert outages(tc_interval_ms=3000)[0] == [(35, 40), (41, 42)]
    assert outages(immediate_tc=2)[0] == [(35, 41)]  # D says at 40 s that it has lost E


def test_with_feedback_the_first_failure_ends_the_link() -> None:
    without, world = outages(feedback=1)
    (lost,) = world.told(Event.LINK_LOST, 3)[:1]
    assert lost.to == 4 and lost.count == 1 and lost.time < 35.1 * SECOND
    assert [(r.node, r.next_hop) for r in world.told(Event.SALVAGED)] == [(3, 5)]  # the packet itself, by F
    assert [r for r in world.told(Event.DROPPED, 3) if r.reason != Reason.GONE] == []
    assert min(without)[0] == 35


def test_without_feedback_only_the_packet_is_lost() -> None:
    with World(2, "olsr", "thesis") as world:
        world.string()
        world.run(5)
        world.link(0, 1, up=False)
        world.send(0, 1)
        world.run(0.1)
        assert world.counters(0).dropped[Reason.LINK_BROKEN] == 1
        assert world.hops(0, 1) == 1


def test_what_a_broken_link_leaves_in_the_queue_goes_another_way_or_is_purged() -> None:
    with World(4, "olsr", "thesis", feedback=1) as world:
        world.string()
        world.run(20)
        world.link(0, 1, up=False)
        for number in range(5):
            world.send(0, 3, ip_id=number)
        world.run(0.1)
        assert [(r.ip_id, r.reason) for r in world.told(Event.DROPPED, 0)] == [
            (0, Reason.LINK_BROKEN), *((number, Reason.PURGED) for number in range(1, 5))
        ]  # fmt: skip


def test_control_makes_room_by_what_came_last() -> None:
    with World(2, "olsr", "thesis", jitter_ms=0, queue=3) as world:
        world.string()
        world.run(5.999)
        for number in range(4):
            world.send(0, 1, ip_id=number, length=1400)  # one is in the air, three wait; a HELLO is due
        world.run(0.5)
        assert [(r.ip_id, r.reason) for r in world.told(Event.DROPPED)] == [(3, Reason.QUEUE_FULL)]
        assert [p.ip_id for p in world.delivered] == [0, 1, 2]


def test_with_a_link_goes_what_was_heard_over_it() -> None:
    with World(3, "olsr", "thesis", feedback=1) as world:
        world.string()
        world.run(5)
        world.link(0, 1, up=False)
        world.send(0, 1)
        world.run(0.1)
        assert [e for e in world.entries(0) if e.state == "two hops"] == []


def test_a_failed_link_comes_back_with_the_next_hellos() -> None:
    with World(2, "olsr", "thesis", feedback=1) as world:
        world.string()
        world.run(5)
        world.link(0, 1, up=False)
        world.send(0, 1)
        world.run(0.01)
        world.link(0, 1)
        assert world.hops(0, 1) == 0
        world.run(3)
        assert world.hops(0, 1) == 1


def test_nobody_relays_through_the_unwilling() -> None:
    with World(4, "olsr", "thesis", start=False) as world:
        world.links(((0, 1), (0, 2), (1, 3), (2, 3)))
        world.set(1, "willingness", 0)
        for node in range(4):
            world.lib.world_start(world.world, node)
        world.run(20)
        assert relays(world, 0) == {2} and relays(world, 3) == {2}
        assert world.routes(0)[3].via == 2
        world.set(2, "willingness", 0)
        world.run(5)
        assert relays(world, 0) == set() and 3 not in world.routes(0)


def test_the_most_willing_is_preferred() -> None:
    for better in (1, 2):
        with World(4, "olsr", "thesis") as world:
            world.links(((0, 1), (0, 2), (1, 3), (2, 3)))
            world.set(better, "willingness", 6)
            world.run(20)
            assert relays(world, 0) == {better} and world.routes(0)[3].via == better


@pytest.mark.parametrize(("redundancy", "named"), [(0, {0, 2}), (1, {0, 2}), (2, {0, 2, 4})])
def test_tcs_name_those_that_they_should(redundancy: int, named: set[int]) -> None:
    """1 is between 0 and 2; 4 is beside 1 and 2, and chooses only 2, as no other node hears 0."""
    with World(5, "olsr", "thesis", tc_redundancy=redundancy) as world:
        world.links(((0, 1), (1, 2), (2, 3), (1, 4), (2, 4), (0, 4)))
        world.run(30)
        told = {e.to for e in world.entries(3) if e.kind == EntryKind.LINK and e.state == "topology" and e.origin == 1}
        if redundancy == 2:
            assert told == named
        else:
            assert told <= named | {4}


def test_a_node_no_longer_chosen_announces_it_while_its_tcs_are_valid() -> None:
    with World(4, "olsr", "thesis", jitter_ms=0) as world:
        world.string()
        world.run(22)
        before = world.counters(1).sent[Kind.TC]
        world.links(((0, 1), (2, 3)))
        world.run(60)
        tcs = [f for f in world.frames if f.source == 1 and f.bytes[32] == 2]
        own = [f for f in tcs if f.bytes[36:40] == words(1)]
        empty = [f for f in own if len(f.bytes) == 20 + 8 + 4 + 12 + 4]
        assert before and len(empty) == 2 and own[-2:] == empty  # 15 s after the last, at one in 5 s
        numbers = [int.from_bytes(f.bytes[44:46], "big") for f in own]
        assert numbers == sorted(numbers) and numbers[-1] == numbers[-2] == numbers[-3] + 1


def test_a_tc_that_is_late_is_ignored_and_a_later_one_replaces_it() -> None:
    with World(4, "olsr", "thesis", jitter_ms=0) as world:
        world.string(0, 1)
        world.run(5)

        def tc(number: int, ansn: int, *named: int) -> set[int | None]:
            world.inject(1, 0, packet(1, message(2, 2, ansn.to_bytes(2, "big") + bytes(2) + words(*named), number)))
            return {e.to for e in world.entries(0) if e.kind == EntryKind.LINK and e.state == "topology"}

        assert tc(1, 0xFFFF, 3) == {3}
        assert tc(2, 0xFFFE, 0) == {3}  # late
        assert tc(2, 1, 0) == {3}  # a duplicate: not read again
        assert tc(3, 1, 1, 3) == {1, 3}  # numbers go round
        assert tc(4, 2) == set()
        assert tc(5, 3, 3) == {3}
        world.run(5.99)
        assert {e.to for e in world.entries(0) if e.state == "topology"} == {3}
        world.run(0.02)
        assert {e.to for e in world.entries(0) if e.state == "topology"} == set()  # it said 6 s


def test_a_relay_sends_on_once_what_comes_first_from_who_chose_it() -> None:
    with World(3, "olsr", "thesis", jitter_ms=0) as world:
        world.string()
        world.run(6.5)
        world.frames.clear()
        mid = message(3, 7, words(40), 9, ttl=3, hops=4)
        hna = message(4, 7, words(50, 51), 10, ttl=2)
        unknown = message(77, 7, b"what it is", 11, ttl=1)
        for _ in range(3):
            world.inject(0, 1, packet(0, mid, hna, unknown))
        world.run(0.01)
        (sent,) = world.frames
        assert sent.source == 1 and sent.to is None
        first, second = sent.bytes[32:48], sent.bytes[48:68]
        assert first == mid[:8] + bytes((2, 5)) + mid[10:]
        assert second == hna[:8] + bytes((1, 1)) + hna[10:]
        assert len(sent.bytes) == 68  # and not what may live no longer
        world.inject(0, 2, packet(1, message(4, 7, words(50, 51), 12)))
        world.run(0.01)
        assert len(world.frames) == 1  # 2 is chosen by nobody


def test_a_node_is_reached_by_its_other_addresses() -> None:
    with World(3, "olsr", "thesis") as world:
        world.string()
        world.run(12)
        assert world.hops(0, 900) == 0
        world.inject(1, 0, packet(1, message(3, 2, words(900), 999)))
        assert world.hops(0, 900) == 2
        world.run(5.9)
        assert world.hops(0, 900) == 2
        world.run(0.2)
        assert world.hops(0, 900) == 0


def test_with_hysteresis_a_link_must_be_good_before_it_is_used() -> None:
    """0.5, 0.75, 0.875: the third HELLO. Each lost one halves it: 0.47 …; below 0.3 the link is lost."""
    with World(2, "olsr", "thesis", jitter_ms=0, hysteresis=1) as world:
        world.string()
        world.run(1.5)
        assert neighbours(world, 0) == {1: "asymmetric"} and len(world.frames[-1].bytes) == EMPTY_HELLO  # not announced
        world.run(10)
        found = world.told(Event.LINK_FOUND, 0)[0].time
        assert 3 * SECOND < found < 4 * SECOND  # good at the third HELLO, then heard to be
        world.link(0, 1, up=False)
        world.run(9)
        lost = world.told(Event.LINK_LOST, 0)[0].time
        assert 13 * SECOND < lost < 15 * SECOND  # two HELLOs missed: sooner than 6 s
        world.link(0, 1)  # at 20.5 s; it is not called lost any more, but has to be good again
        world.run(5)
        assert 23 * SECOND < world.told(Event.LINK_FOUND, 0)[1].time < 25 * SECOND


@pytest.mark.parametrize("cut", [1, 3, 4, 11, 13, 19])
def test_what_is_malformed_is_dropped_and_counted(cut: int) -> None:
    whole = message(1, 1, b"\0\0\x05\x03" + b"\x01\0\0\x08" + words(0), 1, ttl=1)
    with World(2, "olsr", "thesis") as world:
        world.inject(1, 0, packet(1, whole[:-cut]))
        assert world.counters(0).dropped_control[Reason.MALFORMED] == 1
        assert neighbours(world, 0) == {} and world.counters(0).got[Kind.HELLO] == 0


def test_what_is_set_is_what_the_seeds_say() -> None:
    """Tables 3.3 and A.3."""
    table = {name: tuple(p.preset) for name, p in parameters("olsr").items()}
    thesis = {
        "hello_interval_ms": 1000, "tc_interval_ms": 5000, "willingness": 3, "jitter_ms": 250, "hysteresis": 0,
        "mpr_coverage": 1, "neighbour_hold_ms": 6000, "topology_hold_ms": 15000, "duplicate_hold_ms": 30000,
        "tc_redundancy": 0, "feedback": 0, "immediate_tc": 0,
    }  # fmt: skip
    assert {name: table[name][1] for name in thesis} == thesis
    assert table["hello_interval_ms"][0] == 2000
