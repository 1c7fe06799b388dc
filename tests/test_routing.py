# SPDX-License-Identifier: BSD-3-Clause
"""The planning of routings: static routes and least-ETX routes against their definition in matrices, the plans of
others, and errors."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from emulation.lane import programs, routing
from emulation.lane.routing import Demand, Reach, Unreachable, babel, batman_adv, etx_frozen, hwmp, static

Links = NDArray[np.bool_]
PROMPT, FIRST = {"quickack": 1}, {"initcwnd": 2}
ONE = [Demand(0, 2, {}, PROMPT)]


def network(seed: int) -> tuple[Links, list[Demand]]:
    """Draw random symmetric links, sparse enough for several hops and some missing paths, and flows."""
    draw = random.Random(seed)
    count = draw.choice([2, 3, 5, 12, static.ALL_PAIRS, static.ALL_PAIRS + 1, 40])
    links = np.zeros((count, count), dtype=bool)
    for a in range(count):
        for b in range(a):
            links[a, b] = links[b, a] = draw.random() < 2.5 / count
    ends = [draw.sample(range(count), 2) for _ in range(draw.randint(1, 6))]
    return links, [Demand(a, b, *draw.choice([({}, {}), ({}, PROMPT), (FIRST, FIRST | PROMPT)])) for a, b in ends]


def reach_of(links: Links) -> Reach:
    return [np.flatnonzero(row).tolist() for row in links]


def distances(links: Links) -> NDArray[np.int64]:
    """Return hop counts between all nodes, by powers of the matrix; -1: no path."""
    count = len(links)
    hops, within = np.full((count, count), -1), np.eye(count, dtype=bool)
    for distance in range(count):
        hops[within & (hops < 0)] = distance
        within = (within.astype(int) @ links.astype(int)) > 0
    return hops


def followed(planned: list[routing.Planned], ips: list[str], at: int, to: int) -> list[int]:
    """Return the path of a packet by routes and neighbours."""
    way = [at]
    while way[-1] != to:
        here = planned[way[-1]]
        via = {route["to"]: route["via"] for route in here.node["routes"]}.get(ips[to])
        way.append(ips.index(via) if via else to)
        assert way[-1] in here.neighbours
    return way


def static_routes_are_shortest(seed: int) -> None:
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
    told = {(one.source, one.destination) for one in demands if one.there}
    told |= {(one.destination, one.source) for one in demands if one.back}
    for at, part in enumerate(planned):
        to = [ips.index(route["to"]) for route in part.node["routes"]]
        assert to == sorted(to)
        assert [route["metric"] for route in part.node["routes"]] == [hops[at, one] for one in to]
        assert [bool(route["tcp"]) for route in part.node["routes"]] == [(at, one) in told for one in to]
        beside = [one for one, route in zip(to, part.node["routes"], strict=True) if route["via"] is None]
        assert beside == [b for a, b in sorted(told) if a == at and hops[a, b] == 1]
        assert len(set(part.neighbours)) == len(part.neighbours)
        assert set(part.neighbours) <= set(np.flatnonzero(links[at]).tolist())


def test_static_routes_are_shortest_paths_of_lowest_index() -> None:
    for seed in range(60):
        static_routes_are_shortest(seed)


def test_a_flow_without_a_path_is_refused_by_its_ends() -> None:
    with pytest.raises(Unreachable) as caught:
        static.plan([[1], [0], []], ["a", "b", "c"], [Demand(0, 1, {}, {}), Demand(1, 2, {}, {})])
    assert (caught.value.at, caught.value.to) == (1, 2)


@pytest.mark.parametrize(("options", "said"), [
    ({"preset": "tesis"}, r"there is no preset 'tesis'; there are: rfc, thesis, cmu"),
    ({"local_repairs": "0"}, r"aodv: there is no parameter 'local_repairs'; there are: preset, queue, .*local_repair,"),
    ({"local_repair": "2"}, r"aodv: local_repair must be a whole number from 0 to 1, not '2'"),
    ({"queue": "many"}, r"aodv: queue must be a whole number from 1 to 1000, not 'many'"),
])  # fmt: skip
def test_what_a_protocol_cannot_be_told_is_refused_before_it_starts(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        routing.find("aodv").plan([[1], [0]], ["10.0.0.1", "10.0.0.2"], [], **options)


def test_none_plans_nothing_and_everybody_knows_all_they_hear() -> None:
    planned = routing.find("none").plan([[1], [0, 2], [1], []], ["a", "b", "c", "d"], ONE)
    assert [(each.node, each.neighbours) for each in planned] == [({}, [1]), ({}, [0, 2]), ({}, [1]), ({}, [])]


STRING: Reach = [[1], [0, 2], [1]]
IPS = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]


def test_who_must_be_known_before_a_run_are_the_ends_of_flows() -> None:
    assert routing.ends(STRING, [*ONE, Demand(2, 0, {}, {}), Demand(1, 0, {}, {})], False) == [[1, 2], [0], [0]]
    assert routing.ends([[1], [0], []], [*ONE, Demand(0, 1, {}, {})], True) == [[1], [0], []]


def test_flows_that_share_a_route_tell_it_what_either_has_to() -> None:
    both = [*ONE, *ONE, Demand(2, 0, FIRST, FIRST | PROMPT), Demand(1, 2, {}, {})]
    assert routing.metrics_of_nodes(IPS, both) == [{IPS[2]: PROMPT | FIRST}, {}, {IPS[0]: PROMPT | FIRST}]


@pytest.mark.parametrize(("kind", "told"), [("babel", PROMPT), ("babel", FIRST), ("none", FIRST)])
def test_a_routing_whose_routes_tell_tcp_nothing_reports_it(kind: str, told: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{kind}.* TCP's .*{next(iter(told))}"):
        routing.find(kind).plan(STRING, IPS, [Demand(0, 2, told, told)])


@pytest.mark.parametrize("kind", [batman_adv, hwmp, etx_frozen, babel])
def test_others_say_at_once_who_can_never_be_reached(kind: Any) -> None:
    with pytest.raises(Unreachable) as caught:
        kind.plan([[1], [0], []], IPS, [Demand(0, 2, {}, {})])
    assert (caught.value.at, caught.value.to) == (0, 2)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (batman_adv, {"algorithm": "V"}, "no algorithm 'V'; there are: BATMAN_IV, BATMAN_V"),
        (batman_adv, {"hop_penalty": "256"}, "hop_penalty must be a whole number from 0 to 255, not '256'"),
        (hwmp, {"retries": "1"}, "hwmp: there is no option 'retries'; there are: active_path_timeout_tu, "),
        (hwmp, {"preq_retries": "-1"}, "preq_retries must be a whole number from 0 to 255, not '-1'"),
        (etx_frozen, {"probes": "0"}, "probes must be a whole number from 1 to 10000, not '0'"),
        (babel, {"rxcost": "x"}, "rxcost must be a whole number from 1 to 65534, not 'x'"),
    ],
)
def test_what_is_wrong_is_said(kind: Any, options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kind.plan(STRING, IPS, ONE, **options)


def test_options_are_numbers_in_the_plan() -> None:
    assert hwmp.plan(STRING, IPS, ONE, preq_retries="3")[0].node["preq_retries"] == 3
    assert etx_frozen.plan(STRING, IPS, ONE)[0].node["probes"] == 100


def test_without_babeld_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "OF_ROOT", "")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(OSError, match="there is no babeld on this machine: install the package babeld"):
        babel.Routing({"kind": "babel"}).start(None)  # type: ignore[arg-type]


def test_etx_is_how_often_a_frame_is_sent_until_it_is_answered() -> None:
    links = etx_frozen.etx([[0, 50, 10], [100, 0, 0], [0, 5, 0]], 100)
    assert links == [{1: 2.0}, {0: 2.0}, {}]  # what comes in one direction only is no link


@pytest.mark.parametrize("seed", range(30))
def test_frozen_routes_are_of_least_etx_then_of_fewest_hops(seed: int) -> None:
    """Against Floyd and Warshall, on exact costs with many ties."""
    draw = random.Random(seed)
    count = draw.choice([2, 5, 12, 25])
    links: list[dict[int, float]] = [{} for _ in range(count)]
    for a in range(count):
        for b in range(a):
            if draw.random() < 3 / count:
                links[a][b] = links[b][a] = draw.choice([1.0, 1.5, 2.0, 4.0])
    best = [[(0.0, 0) if a == b else (links[a].get(b, np.inf), 1) for b in range(count)] for a in range(count)]
    for via, a, b in itertools.product(range(count), repeat=3):
        there, on = best[a][via], best[via][b]
        best[a][b] = min(best[a][b], (there[0] + on[0], there[1] + on[1]))
    routes = etx_frozen.least_etx_routes(links, [])
    for a, b in itertools.product(range(count), repeat=2):
        if a == b or best[a][b][0] == np.inf:
            assert (a, b) not in routes
            continue
        way, cost = [a], 0.0
        while way[-1] != b:
            via, hops = routes[way[-1], b]
            assert hops == best[way[-1]][b][1]
            cost += links[way[-1]][via]
            way.append(via)
        assert (cost, len(way) - 1) == best[a][b]
