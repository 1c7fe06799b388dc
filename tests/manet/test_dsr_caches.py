# SPDX-License-Identifier: BSD-3-Clause
"""DSR's caches: how long links live, which entries make room, and the two parts of a cache of paths."""

from __future__ import annotations

import pytest
from dsr_frames import LINK, PATH, data, dsr, entries, request
from world import SECOND, Event, World


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
    """Appendix A: 25 s at first, 120 s when used, more after long use, and half after a break."""

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
