# SPDX-License-Identifier: BSD-3-Clause
"""Power and delay from one station at another, at any time of a run. They come from the plan, for moving stations from
waypoints and distance, and from later changes (docs/medium.md, Motion).

This is a second implementation of the air's, for the taps, vectorised over links. Positions are computed in the same
integers as the air's, so both see a station on the same side of a boundary in each microsecond.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from analysis.taps.fading import Fading
from analysis.traces.columns import around
from analysis.traces.trace import NEVER, Array

EIGHTHS = 8  # of a millimetre: the unit of positions
VELOCITY_BITS = 32  # velocities are in 2^-32 of this unit per microsecond
LIGHT_Q16 = 65_536e6 / EIGHTHS / 299_792_458  # light's travel time over an eighth, in 2^-16 ns
ALWAYS = 0  # ns: before any run

Waypoints = tuple[int, int, int, Sequence[Sequence[int]]]  # station, since when, origin of its times, stops (us, mm)


def attowatts(mdbm: Any) -> Array:
    """Convert thousandths of a dBm to whole attowatts; None (nothing arrives) becomes 0."""
    given = np.array([np.nan if each is None else each for each in np.ravel(np.array(mdbm, object))], float)
    return np.where(np.isnan(given), 0.0, np.rint(10 ** (given / 10_000 + 15))).reshape(np.shape(mdbm))


@dataclass(frozen=True)
class Table:
    """Power and delay over distance, valid in a span of time: `power_aw` and `delay_q16` (2^-16 ns) at squared
    distances (eighths). Each sender has its reach, and its gain relative to the strongest sender."""

    since_ns: int
    until_ns: int
    squares: Array
    power_aw: Array
    delay_q16: Array
    reach: Array
    gain: Array

    @classmethod
    def of_plan(cls, planned: Mapping[str, Any], since_ns: int, until_ns: int) -> "Table":
        """Read the `table` of a plan's `motion` (docs/interfaces.md, section 1)."""
        bins, power = 1 << planned["bin_bits"], attowatts(planned["power_mdbm"])
        octave, part = np.divmod(np.arange(power.size), bins)
        squares = 2.0 ** (planned["first"] + octave) * (1 + part / bins)
        reach = np.array(planned["reach_mm2"], np.int64) * EIGHTHS**2
        gain = 10 ** (-np.array(planned["weaker_mdb"]) / 10_000)
        return cls(since_ns, until_ns, squares, power, np.rint(np.sqrt(squares) * LIGHT_Q16), reach, gain)

    def __call__(self, sender: Array, square: Array) -> tuple[Array, Array]:
        """Return power (aW) and delay (ns) of signals from these senders over these squared distances."""
        power = np.interp(square, self.squares, self.power_aw) * self.gain[sender]
        delay = np.floor(np.interp(square, self.squares, self.delay_q16)).astype(np.int64) + (1 << 15) >> 16
        return np.where(square <= self.reach[sender], power, 0), delay


@dataclass(frozen=True)
class Legs:
    """Legs of waypoint lists: station; start (ns), valid until the station's next leg; time origin of the list, and
    start of the leg relative to it (us); position there (eighths); velocity; whether the list has more than one
    stop."""

    station: Array
    since_ns: Array
    began_ns: Array
    at_us: Array
    place: Array
    velocity: Array
    moves: Array

    @classmethod
    def of(cls, ways: Iterable[Waypoints]) -> "Legs":
        """Make the legs of waypoint lists in their order of validity: a later list ends its station's earlier one."""
        rows: dict[int, list[list[int]]] = defaultdict(list)
        for station, since_ns, began_ns, stops in ways:
            rows[station] = [row for row in rows[station] if row[1] < since_ns]
            for number, (stop, following) in enumerate(zip(stops, [*stops[1:], stops[-1]], strict=True)):
                (at, *place), (then, *there) = stop, following
                speeds = [
                    _towards_zero((b - a) * (EIGHTHS << VELOCITY_BITS), then - at or 1)
                    for a, b in zip(place, there, strict=True)
                ]
                since = max(since_ns, began_ns + at * 1000) if number else since_ns
                row = [station, since, began_ns, at, *(EIGHTHS * mm for mm in place), *speeds, len(stops) > 1]
                rows[station].append(row)
        columns = np.array(list(chain(*rows.values())), np.int64).reshape(-1, 11).T
        station, since, began, at_us = columns[:4]
        return cls(station, since, began, at_us, columns[4:7].T, columns[7:10].T, columns[10] != 0)

    def at(self, station: Array, when: Array) -> tuple[Array, Array]:
        """Return the leg (-1: none yet) and the position (eighths) of stations at these times (ns)."""
        if not self.station.size:
            return np.full(when.size, -1), np.zeros((when.size, 3), np.int64)
        leg, _ = around(np.arange(self.station.size), self.station, self.since_ns, station, when + 1)
        us = (when - self.began_ns[leg]).clip(min=0) // 1000 - self.at_us[leg]
        passed, velocity = us.clip(min=0)[:, None], self.velocity[leg]
        whole, rest = velocity >> VELOCITY_BITS, velocity & (1 << VELOCITY_BITS) - 1
        part = rest.astype(np.uint64) * passed.astype(np.uint64) >> np.uint64(VELOCITY_BITS)
        return leg, self.place[leg] + whole * passed + part.astype(np.int64)


def _towards_zero(a: int, b: int) -> int:
    """Return a / b as in C, rounded towards zero."""
    return a // b if a >= 0 else -(-a // b)


class Links:
    """All links between stations, which are numbered from 0. `power_aw` and `delay_ns` are [sender][receiver]."""

    def __init__(self, power_aw: Array, delay_ns: Array, fading: Fading | None = None) -> None:
        self.stations, self.fading = len(power_aw), fading
        self.pair = np.arange(self.stations**2)  # pairs, then the columns since when, power and delay
        self.since_ns = np.full(self.pair.size, ALWAYS)
        self.power_aw, self.delay_ns = np.ravel(power_aw).astype(float), np.ravel(delay_ns).astype(np.int64)
        self.tables: list[Table] = []
        self.legs = Legs.of([])

    @classmethod
    def of_run(
        cls, plan: Mapping[str, Any], names: Sequence[str], start_ns: int, changes: Sequence[Mapping[str, Any]]
    ) -> "Links":
        """Make the links of a run of this plan that started at `start_ns`, with the `changes` of its lane.json
        (docs/interfaces.md, sections 1 and 2). `names` has the node of each station's radio."""
        air, motion = plan["air"], plan.get("motion") or {"steps": (), "table": None, "waypoints": {}}
        links = cls(attowatts(air["power_mdbm"]), _delays(air["delay_ns"]), Fading.of_plan(air))
        stations = {name: [at for at, each in enumerate(names) if each == name] for name in names}
        everybody = np.arange(links.stations)
        for step in motion["steps"]:
            senders = np.array([int(row) for row in step["power_mdbm"]], np.int64)[:, None]
            powers, delays = (list(step[what].values()) for what in ("power_mdbm", "delay_ns"))
            links._give(start_ns + round(step["at_s"] * 1e9), senders * links.stations + everybody, powers, delays)
        tables, ways = [], []
        if motion["table"]:
            tables.append((start_ns, motion["table"]))
            planned = motion["waypoints"].items()
            ways += [(at, start_ns, start_ns, way) for name, way in planned for at in stations.get(name, ())]
        for change in changes:
            at_ns = change["at_ns"]
            if "table" in change:
                tables.append((at_ns, change["table"]))
            for one in stations.get(change.get("node", ""), ()):
                if "stops" in change:
                    ways.append((one, at_ns, change["since_ns"], change["stops"]))
                elif "power_mdbm" in change:  # from it to all, and from all to it
                    pairs = np.array([one * links.stations + everybody, everybody * links.stations + one])
                    links._give(at_ns, pairs, change["power_mdbm"], change["delay_ns"])
        until = [*(at_ns for at_ns, _ in tables[1:]), NEVER][: len(tables)]
        links.tables = [Table.of_plan(each, since, end) for (since, each), end in zip(tables, until, strict=True)]
        links.legs = Legs.of(ways)
        return links

    def _give(self, at_ns: int, pairs: Array, power_mdbm: Any, delay_ns: Any) -> None:
        """Set power and delay of pairs from this time on, unless distance determines them."""
        self.pair = np.append(self.pair, pairs)
        self.since_ns = np.append(self.since_ns, np.full(pairs.size, at_ns))
        self.power_aw = np.append(self.power_aw, attowatts(power_mdbm))
        self.delay_ns = np.append(self.delay_ns, _delays(delay_ns))

    def between(self, sender: Array, receiver: Array, when: Array) -> tuple[Array, Array]:
        """Return power (aW; 0: nothing arrives; with fading, the mean) and delay (ns) of signals that begin at these
        times."""
        given = np.broadcast_arrays(sender, receiver, when)
        sender, receiver, when = map(np.ravel, given)
        row = pair = sender * self.stations + receiver
        if self.pair.size > self.stations**2:
            row, _ = around(np.arange(self.pair.size), self.pair, self.since_ns, pair, when + 1)
        power, delay = self.power_aw[row], self.delay_ns[row]
        for table in self.tables:
            now = np.flatnonzero((when >= table.since_ns) & (when < table.until_ns))
            ends = [self.legs.at(each[now], when[now]) for each in (sender, receiver)]
            (a, here), (b, there) = ends
            moving = (a >= 0) & (b >= 0) & (self.legs.moves[a] | self.legs.moves[b]) & (sender[now] != receiver[now])
            square = ((here - there) ** 2).sum(axis=1)[moving]
            now = now[moving]
            power[now], delay[now] = table(sender[now], square)
        return power.reshape(given[0].shape), delay.reshape(given[0].shape)

    def arriving(self, sender: Array, receiver: Array, when: Array, number: Array) -> tuple[Array, Array]:
        """Return power and delay of numbered transmissions, each with its own fading."""
        power, delay = self.between(sender, receiver, when)
        return (self.fading.faded(power, sender, receiver, when, number) if self.fading else power), delay

    @property
    def longest_ns(self) -> int:
        """Upper bound of the delay, ns."""
        return max(int(self.delay_ns.max(initial=0)), *(int(table.delay_q16[-1]) >> 16 for table in self.tables), 0) + 1


def _delays(given: Any) -> Array:
    return np.array([[delay or 0 for delay in row] for row in given], np.int64)
