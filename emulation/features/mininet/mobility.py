# SPDX-License-Identifier: BSD-3-Clause
"""Motion in Mininet-WiFi's API, as waypoints, which the air follows exactly. The same seed gives the same motion.

Scripts describe it before `build`; time 0 is the end of `build`, when the session begins. In a running network, it is
the call of `stopMobility` or `setMobilityModel`. `mobility` gives a station's
positions at its start and stop, and `coord` those in between; it moves straight and evenly between them. A model moves
all stations and cars without a position of their own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import cycle, pairwise
from random import Random
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.access import let_roam
from emulation.features.mininet.kinds import newer
from emulation.features.mininet.node import Node, Position, place
from emulation.features.mininet.refusals import check, note, numeric
from emulation.features.mininet.roads import Roads
from emulation.lane.errors import Misuse
from topologies.area import bounce
from topologies.motion import position_at
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.lab import Lab
    from emulation.features.mininet.net import Mininet

AREA = ("min_x", "max_x", "min_y", "max_y", "min_v", "max_v")
PACED = "motion is continuous, and in the lane's own time"
MODEL = ("time", "model", "seed", "stopTime", *AREA, "min_wt", "max_wt", "velocity_mean", "alpha",
         "variance", "n_groups", "velocity", "constantVelocity", "constantDistance", "ac_method")  # fmt: skip
MODEL_NOTED = {
    **dict.fromkeys(("use_timed_model_mob", "timed_model_mob_tick"), PACED),
    **dict.fromkeys(("aggregation", "aggregation_epoch", "epoch", "g_velocity"), "members keep their place in a group"),
    **dict.fromkeys(("min_z", "max_z"), "motion is in the plane"),
}
# Mininet-WiFi's own: speeds in m/s by model, and pauses of the models that have them.
SPEEDS = {"RandomDirection": (1, 10), "RandomWayPoint": (1, 10), "RandomWalk": (1, 1), "ReferencePoint": (0.1, 1),
          "CRP": (0.1, 1), "TimeVariantCommunity": (0.1, 1)}  # fmt: skip
WAITS_S, PAUSING = (1.0, 5.0), ("RandomDirection", "RandomWayPoint")
Leg = tuple[float, tuple[float, float]]  # time and position
LONGEST_S, MOST_LEGS = 3600.0, 1500  # how far ahead a model is evaluated


class Model:
    """The parameters of a random model for one node: area, speeds, pauses (m, m/s, s)."""

    def __init__(self, said: dict[str, Any], node: Node, random: Random) -> None:
        given = {**said, **node.params}

        def number(name: str, usual: float) -> float:
            return numeric(f"{node.name}: setMobilityModel: {name}", given.get(name, usual))

        def between(what: str, least: float, most: float) -> tuple[float, float]:
            low = number(f"min{what}", min(least, number(f"max{what}", most)))
            return low, number(f"max{what}", max(low, most))

        self.said, self.random = said, random
        self.low = number("min_x", 0), number("min_y", 0)
        self.sides = number("max_x", 100) - self.low[0], number("max_y", 100) - self.low[1]
        if min(self.sides) <= 0:
            raise Misuse(f"{node.name}: setMobilityModel: max_x and max_y must be above min_x and min_y")
        of_walks = said.get("model") == "RandomWalk" or "max_v" not in given  # others go by min_v and max_v
        speed = number("speed", 0) or (number("constantVelocity", 0) if of_walks else 0)
        model = said.get("model")
        least, most = said.get("velocity") or SPEEDS.get(str(model), (1, 2))
        self.slowest, self.fastest = (speed, speed) if speed else between("_v", least, most)
        self.step_m = number("constantDistance", 0)
        if not 0 < self.slowest <= self.fastest:
            raise Misuse(f"{node.name}: setMobilityModel: 0 < min_v <= max_v, not {self.slowest}, {self.fastest}")
        paused = WAITS_S if model in PAUSING else (0.0, 0.0)
        self.shortest, self.longest = between("_wt", *paused)
        if not 0 <= self.shortest <= self.longest:
            raise Misuse(f"{node.name}: setMobilityModel: 0 <= min_wt <= max_wt, not {self.shortest}, {self.longest}")

    def speed(self) -> float:
        return self.random.uniform(self.slowest, self.fastest)

    def pause(self) -> float:
        return self.random.uniform(self.shortest, self.longest)

    def somewhere(self) -> tuple[float, float]:
        return self.sides[0] * self.random.random(), self.sides[1] * self.random.random()

    def turn(self) -> float:
        return self.random.uniform(0, 2 * math.pi)


def walk(model: Model) -> Iterator[Leg]:
    """A new direction and speed each second, or after each `constantDistance`; walls reflect."""
    at, here = 0.0, model.somewhere()
    yield at, here
    while True:
        turn, speed = model.turn(), model.speed()
        step_s = model.step_m / speed if model.step_m else 1.0
        for after, where, _ in bounce(model.sides, here, (speed * math.cos(turn), speed * math.sin(turn)), step_s):
            here = where
            yield at + after, here
        at += step_s


def direction(model: Model) -> Iterator[Leg]:
    """Straight to the wall in a random direction; then a pause."""
    at, here = 0.0, model.somewhere()
    yield at, here
    while True:
        turn, speed = model.turn(), model.speed()
        velocity = speed * math.cos(turn), speed * math.sin(turn)
        after, here, _ = next(bounce(model.sides, here, velocity, math.hypot(*model.sides) / speed))
        at += after
        yield at, here
        if pause := model.pause():
            at += pause
            yield at, here


def waypoint(model: Model) -> Iterator[Leg]:
    """To a uniformly drawn point; then a pause."""
    at, here = 0.0, model.somewhere()
    yield at, here
    while True:
        there = model.somewhere()
        at, here = at + max(math.dist(here, there) / model.speed(), 1e-3), there
        yield at, here
        if pause := model.pause():
            at += pause
            yield at, here


def levy(model: Model) -> Iterator[Leg]:
    """Flights and pauses whose lengths have a heavy tail (P(l) ~ l^-1.6, P(t) ~ t^-0.8), truncated: Rhee, Shin, Hong,
    Lee, Kim and Chong, "On the Levy-walk nature of human mobility", 2011. Walls reflect."""

    def drawn(exponent: float, most: float) -> float:  # of a density x^-(1 + exponent) from 1 to `most`
        u = model.random.random()
        return float((1 - u * (1 - most**-exponent)) ** (-1 / exponent))

    at, here = 0.0, model.somewhere()
    yield at, here
    while True:
        turn, speed, length = model.turn(), model.speed(), drawn(0.6, max(math.hypot(*model.sides) / 2, 2.0))
        velocity = speed * math.cos(turn), speed * math.sin(turn)
        for after, where, _ in bounce(model.sides, here, velocity, length / speed):
            here = where
            yield at + after, here
        at += length / speed + drawn(0.8, 100.0)
        yield at, here


def gauss_markov(model: Model) -> Iterator[Leg]:
    """Speed and direction keep a share alpha of how far they are from their mean; walls reflect. Camp, Boleng and
    Davies 2002, 2.5."""
    said, random = model.said, model.random
    mean, alpha = float(said.get("velocity_mean", 1.0)), float(said.get("alpha", 0.99))
    spread = math.sqrt(max(1 - alpha**2, 0.0)) * float(said.get("variance", 1.0))
    at, here, speed, heading = 0.0, model.somewhere(), mean, model.turn()
    along = heading
    yield at, here
    while True:
        ahead = speed * math.cos(heading), speed * math.sin(heading)
        legs = list(bounce(model.sides, here, ahead, 1.0))
        yield from ((at + after, where) for after, where, _ in legs)
        _, here, (east, north) = legs[-1]
        turned = math.atan2(north, east)  # possibly by a wall
        along, heading = along + turned - heading, turned
        at += 1.0
        speed = max(alpha * speed + (1 - alpha) * mean + spread * random.gauss(0, 1), 0.01)
        heading = alpha * heading + (1 - alpha) * along + spread * random.gauss(0, 1)


def community(model: Model, centre: Model) -> Iterator[Leg]:
    """Each second a new speed, and a new direction: to the centre of the community, which walks, or a random one.
    `aggregation` has the share of directions to the centre in each period, and `epoch` the periods in seconds. After
    Hsu, Spyropoulos, Psounis and Helmy, "Modeling time-variant user mobility in wireless mobile networks", 2007."""
    shares, spans = list(model.said.get("aggregation", (0.5, 0.0))), list(model.said.get("epoch", (100, 100)))
    periods = [share for share, span in zip(shares, spans, strict=False) for _ in range(int(span))]
    if not periods or not all(0 <= share <= 1 for share in periods):
        raise Misuse("setMobilityModel: aggregation: give a share from 0 to 1 for each time in epoch")
    at, here, centre.step_m = 0.0, model.somewhere(), 0.0
    yield at, here
    seconds = (where for at_s, where in walk(centre) if abs(at_s - round(at_s)) < 1e-9)
    for share, there in zip(cycle(periods), seconds, strict=False):
        turn, speed = model.turn(), model.speed()
        if model.random.random() < share:
            turn = math.atan2(there[1] - here[1], there[0] - here[0])
        for after, where, _ in bounce(model.sides, here, (speed * math.cos(turn), speed * math.sin(turn)), 1.0):
            here = where
            yield at + after, here
        at += 1.0


def follow(points: Any) -> Iterator[Leg]:
    """One point a second, and then stay. Raises Misuse without points."""
    if not points:
        raise Misuse("setMobilityModel: CRP: pointlist=[(100, 11, 0), …] has the points that stations follow")
    for at, point in enumerate(points):
        x, y, _ = place("setMobilityModel: pointlist", point)
        yield float(at), (x, y)


MODELS = {
    "RandomWalk": walk, "RandomDirection": direction, "RandomWayPoint": waypoint, "TruncatedLevyWalk": levy,
    "GaussMarkov": gauss_markov,
}  # fmt: skip
# Models whose nodes share a centre, with their own keywords.
OF_GROUPS = {"ReferencePoint": (), "CRP": ("pointlist",), "TimeVariantCommunity": ("aggregation", "epoch")}


class Mobility:
    """The motion of a script."""

    def __init__(self, net: Mininet) -> None:
        self.net = net
        self.model: dict[str, Any] = {}
        self.seed = 1
        self.start: dict[str, Any] = {}
        self.stop_s: float | None = None
        self.stages: dict[str, list[tuple[float, Position | None, str]]] = {}
        self.paths: dict[str, list[Waypoint]] = {}  # of replayed nodes
        self.roads: Roads | None = None

    @property
    def wanted(self) -> bool:
        return bool(self.model or self.stages or self.paths or self.roads)

    def set_model(self, **said: Any) -> None:
        said = newer(said)
        name = said.get("model") or "RandomDirection"
        name = {"RandomWaypoint": "RandomWayPoint"}.get(name, name)
        if name not in (*MODELS, *OF_GROUPS):
            why = f"setMobilityModel: there is no model {name!r} here; there are: {', '.join((*MODELS, *OF_GROUPS))}"
            if self.movers():
                raise Misuse(why)
            return note(f"{why}. All nodes have positions of their own, so none moves")
        check("setMobilityModel", said, (*MODEL, *OF_GROUPS.get(name, ())), MODEL_NOTED, lenient=True)
        self.model = {**said, "model": name}
        if said.get("stopTime"):
            self.stop_s = float(said["stopTime"])
        if method := said.get("ac_method"):
            self.net.setAssociationCtrl(method)
        self.go_on({node.name: self.drawn(node) for node in self.movers()} if self.net.lab else {})

    def set_start(self, **said: Any) -> None:
        self.start = said = newer(said)
        given = {key: value for key, value in said.items() if key not in ("time", "mob_rep", "reverse")}
        if method := given.pop("ac_method", None):
            self.net.setAssociationCtrl(method)
        if "model" in given:  # the older keyword for a model
            self.set_model(**{"time": said.get("time", 0), **given})
        elif given:
            check("startMobility", given, ("time", "mob_rep", "reverse", "model", *AREA), lenient=True)

    def set_stop(self, **said: Any) -> None:
        said = newer(said)
        check("stopMobility", said, ("time", "stopTime"), lenient=True)
        self.stop_s = numeric("stopMobility: time", said.get("time", said.get("stopTime", 0)))
        self.go_on({name: self.scripted(self.net[name]) for name in self.stages} if self.net.lab else {})

    def go_on(self, paths: dict[str, list[Waypoint]]) -> None:
        """In a running network, move nodes from now on. Raises Misuse or OSError."""
        if paths and self.net.lab:
            let_roam(self.net)
            self.net.lab.go(paths)
            self.stages.clear()

    def set_stage(self, node: Node, stage: str, **said: Any) -> None:
        check(f"mobility({node.name})", said, ("time", "position"), lenient=True)
        if stage not in ("start", "stop"):
            raise Misuse(f"mobility({node.name}): {stage!r}: there are 'start' and 'stop'")
        if node.kind not in ("station", "ap"):
            raise Misuse(f"mobility({node.name}): it is a {node.kind}; only stations and access points move")
        where = place(f"mobility({node.name})", said["position"]) if said.get("position") is not None else None
        at = numeric(f"mobility({node.name}): time", said.get("time", 0))
        self.stages.setdefault(node.name, []).append((at, where, stage))

    # Waypoints

    def give(self, lab: Lab) -> None:
        """Set the waypoints of all nodes. Raises Misuse."""
        for name in self.stages:
            lab.waypoints[name] = self.scripted(self.net[name])
        lab.waypoints |= self.paths
        for number, car in enumerate(self.drivers(), 1):
            lab.waypoints[car.name] = self.until(self.roads.drive(car, number), (0.0, 0.0), 0.0)  # type: ignore[union-attr]
        if self.model:
            for node in self.movers():
                lab.waypoints[node.name] = self.drawn(node)
        for name, path in lab.waypoints.items():
            if path:
                lab.nodes[name].spec = lab.nodes[name].spec_at(path[0].position)  # type: ignore[attr-defined]

    def movers(self) -> list[Node]:
        """Return the nodes that a model moves: those without a position of their own."""
        return self.free((*self.net.stations, *(() if self.roads else self.net.cars)))

    def drivers(self) -> list[Node]:
        """Return the cars on roads."""
        return self.free(self.net.cars) if self.roads else []

    def free(self, nodes: Iterable[Node]) -> list[Node]:
        """Return those of these nodes that nothing else moves or places."""
        elsewhere = *self.stages, *self.paths
        return [node for node in nodes if node.noted_position is None and node.name not in elsewhere]

    def scripted(self, node: Node) -> list[Waypoint]:
        stages = sorted(self.stages[node.name], key=lambda stage: (stage[0], stage[2] == "start"))
        coords = [place(f"{node.name}.coord", each) for each in node.coord]
        legs = [*zip(stages[::2], stages[1::2], strict=False)]
        if [kind for _, _, kind in stages] != ["start", "stop"] * len(legs) or any(a[0] >= b[0] for a, b in legs):
            raise Misuse(f"mobility({node.name}): give a 'start', and a 'stop' at a later time, once or several times")
        path: list[Waypoint] = []
        for (at, begin, _), (until, end, _) in legs:
            points = [begin, *(coords if len(legs) == 1 else ()), end]
            path += timed([point for point in points if point is not None], at, until)
        if not path:
            raise Misuse(f"mobility({node.name}): give its positions, as position= or {node.name}.coord")
        first, last, here = stages[0][0], stages[-1][0], node.noted_position
        again = int(self.start.get("mob_rep") or 1)
        there = [here] if here and here != path[0].position else []
        before = [Waypoint(0.0, there[0]), Waypoint(max(first - 1e-3, 1e-3), there[0])] if there and first > 0 else []
        found, span = [*before, *path], max(self.stop_s or last, last)
        back = [Waypoint(first + last - at, where) for at, where in reversed(path)]
        for number in range(1, again):
            lap = back if self.start.get("reverse") and number % 2 else path
            found += [Waypoint(at + number * span, where) for at, where in lap]
        return apart(found)

    def drawn(self, node: Node) -> list[Waypoint]:
        """Return a model's waypoints for a node, from a random stream of the seed and the node."""
        said = self.model
        seed, begin_s = said.get("seed", self.seed), float(said.get("time") or 0)
        name = said["model"]
        if name in OF_GROUPS:
            return self.in_group(node, seed, begin_s)
        model = Model(said, node, Random(f"{seed} {node.name}"))
        return self.until(MODELS[name](model), model.low, begin_s)

    def until(self, legs: Iterator[Leg], low: tuple[float, float], begin_s: float) -> list[Waypoint]:
        end_s = begin_s + LONGEST_S if self.stop_s is None else self.stop_s
        found: list[Waypoint] = []
        for at, (x, y) in legs:
            found.append(Waypoint(begin_s * bool(found) + at, (low[0] + x, low[1] + y, 0.0)))
            if begin_s + at >= end_s or len(found) >= MOST_LEGS:
                break
        if len(found) >= MOST_LEGS and self.stop_s is None:
            note(f"setMobilityModel: each node stops after {MOST_LEGS:,} legs")
        return apart(cut(found, end_s))

    def in_group(self, node: Node, seed: Any, begin_s: float) -> list[Waypoint]:
        """Move groups: by random waypoint, or along points; members keep their place around the centre (rigid RPGM).
        Members of communities come and go."""
        movers = self.movers()
        groups = max(min(int(self.model.get("n_groups", 1)), len(movers)), 1)
        number = movers.index(node) % groups
        centre = Model(self.model, node, Random(f"{seed} group {number}"))
        own = Random(f"{seed} {node.name}")
        if self.model["model"] == "TimeVariantCommunity":
            model = Model(self.model, node, own)
            return self.until(community(model, centre), model.low, begin_s)
        legs, most = waypoint(centre), centre.sides
        if self.model["model"] == "CRP":  # its points may be outside the area
            legs, most, centre.low = follow(self.model.get("pointlist")), (math.inf, math.inf), (0.0, 0.0)
        off = own.uniform(-0.1, 0.1) * centre.sides[0], own.uniform(-0.1, 0.1) * centre.sides[1]

        def shifted() -> Iterator[Leg]:
            for at, where in legs:
                x, y = (min(max(a + o, 0.0), side) for a, o, side in zip(where, off, most, strict=True))
                yield at, (x, y)

        return self.until(shifted(), centre.low, begin_s)


def timed(points: list[Position], first: float, last: float) -> list[Waypoint]:
    """Return waypoints along these points at even speed."""
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    whole, passed = sum(lengths), 0.0
    path = [Waypoint(first, where) for where in points[:1]]
    for length, where in zip(lengths, points[1:], strict=True):
        passed += length
        if length:
            path.append(Waypoint(first + (last - first) * passed / whole, where))
    return path


def cut(path: list[Waypoint], end_s: float) -> list[Waypoint]:
    """Cut waypoints at a time; the node then stops where it is."""
    if path[-1].at_s <= end_s:
        return path
    return [*(each for each in path if each.at_s < end_s), Waypoint(end_s, position_at(path, end_s))]


def apart(path: list[Waypoint]) -> list[Waypoint]:
    """Separate waypoints with equal times: a jump takes a microsecond, or longer, as the air limits the speed."""
    found: list[Waypoint] = []
    for at, where in path:
        if found:
            least = max(1e-6, math.dist(found[-1].position, where) / 900)
            at = max(at, found[-1].at_s + least)
        found.append(Waypoint(round(at, 6), where))
    return found
