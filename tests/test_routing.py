# SPDX-License-Identifier: BSD-3-Clause
"""Routing's pure halves: static routes against their definition in matrices, and what `none` leaves to others."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from emulation.lane import routing
from emulation.lane.routing import Demand, Reach, Unreachable, static

Links = NDArray[np.bool_]


def network(seed: int) -> tuple[Links, list[Demand]]:
    """Symmetric links at random, sparse enough for several hops and some without a path, and flows."""
    draw = random.Random(seed)
    count = draw.choice([2, 3, 5, 12, static.ALL_PAIRS, static.ALL_PAIRS + 1, 40])
    links = np.zeros((count, count), dtype=bool)
    for a in range(count):
        for b in range(a):
            links[a, b] = links[b, a] = draw.random() < 2.5 / count
    ends = [draw.sample(range(count), 2) for _ in range(draw.randint(1, 6))]
    return links, [Demand(a, b, draw.random() < 0.5) for a, b in ends]


def reach_of(links: Links) -> Reach:
    return [np.flatnonzero(row).tolist() for row in links]


def distances(links: Links) -> NDArray[np.int64]:
    """Hop counts between all, by powers of the matrix; -1: no path."""
    count = len(links)
    hops, within = np.full((count, count), -1), np.eye(count, dtype=bool)
    for distance in range(count):
        hops[within & (hops < 0)] = distance
        within = (within.astype(int) @ links.astype(int)) > 0
    return hops


def followed(planned: list[routing.Planned], ips: list[str], at: int, to: int) -> list[int]:
    """The way of a packet, as the routes and neighbours have it."""
    way = [at]
    while way[-1] != to:
        here = planned[way[-1]]
        via = {route["to"]: route["via"] for route in here.node["routes"]}.get(ips[to])
        way.append(ips.index(via) if via else to)
        assert way[-1] in here.neighbours
    return way


@pytest.mark.parametrize("seed", range(60))
def test_static_routes_are_shortest_paths_of_lowest_index(seed: int) -> None:
    links, demands = network(seed)
    hops, ips = distances(links), [f"10.0.0.{i + 1}" for i in range(len(links))]
    planned = static.plan(reach_of(links), ips, demands, unreachable=True)
    ends = {(one.source, one.destination) for one in demands} | {(one.destination, one.source) for one in demands}
    everybody = {(a, b) for a in range(len(ips)) for b in range(len(ips))} if len(ips) <= static.ALL_PAIRS else set()
    for at, to in sorted(ends | everybody):
        if hops[at, to] > 0:
            way = followed(planned, ips, at, to)
            assert len(way) - 1 == hops[at, to]
            for here, there in itertools.pairwise(way):
                assert there == np.flatnonzero(links[here] & (hops[:, to] == hops[here, to] - 1))[0]
    prompt = {(one.destination, one.source) for one in demands if one.prompt}
    for at, part in enumerate(planned):
        to = [ips.index(route["to"]) for route in part.node["routes"]]
        assert to == sorted(to)
        assert [route["metric"] for route in part.node["routes"]] == [hops[at, one] for one in to]
        assert [route["quickack"] for route in part.node["routes"]] == [(at, one) in prompt for one in to]
        beside = [one for one, route in zip(to, part.node["routes"], strict=True) if route["via"] is None]
        assert beside == [b for a, b in sorted(prompt) if a == at and hops[a, b] == 1]
        assert len(set(part.neighbours)) == len(part.neighbours)
        assert set(part.neighbours) <= set(np.flatnonzero(links[at]).tolist())


def test_a_flow_without_a_path_is_refused_by_its_ends() -> None:
    with pytest.raises(Unreachable) as caught:
        static.plan([[1], [0], []], ["a", "b", "c"], [Demand(0, 1, True), Demand(1, 2, True)])
    assert (caught.value.at, caught.value.to) == (1, 2)


def test_none_plans_nothing_and_everybody_knows_all_they_hear() -> None:
    planned = routing.find("none").plan([[1], [0, 2], [1], []], ["a", "b", "c", "d"], [Demand(0, 2, True)])
    assert [(each.node, each.neighbours) for each in planned] == [({}, [1]), ({}, [0, 2]), ({}, [1]), ({}, [])]
