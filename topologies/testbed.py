# SPDX-License-Identifier: BSD-3-Clause
"""A testbed: 32 routers in four buildings with links of all qualities, and one of 14 flows of 1 to 4 hops.

    37 ── 25 ── 14 ── 23 ──── 1
           │          │  ╲    │
           2          3   ─── 16 ── 13 ── 22
                      │       │     │
    19 ── 4           5      29 ────┘
                      │       │ ╲
                     28 ──────┘  30, 34

The MAP testbed of paper 001, which names the hops of its flows but says nothing else about its links. So links are
drawn: the loss grows with the logarithm of the distance; to it come log-normal shadowing, equal in both directions, and
a part for each direction. Routers are placed one by one, each again until every hop of the paper carries 5.5 Mb/s, and
no flow's ends have a shorter path than these hops. All of it is repeated until the ends of some two-hop flow hear each
other without a link. Alternatively, a file has the links, and its names are the routers.
"""

import math
import re
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from topologies.links import Links, LinksFile
from topologies.motion import Point, stream
from topologies.network import Application, Model, Network, Node

FLOWS = (
    "22-13", "23-1", "4-19", "5-28",
    "1-23-16", "28-29-34", "37-25-2", "5-3-23",
    "1-16-29-30", "1-16-13-22", "1-23-14-25", "37-25-14-23",
    "1-23-16-13-22", "1-16-13-29-30",
)  # fmt: skip

# Positions of the flows' routers, in hops: 4-19 and 5-28 are the longest one-hop flows, 22-13 is the shortest.
PLACES: dict[str, Point] = {
    "1": (0, 1.6), "23": (-0.5, 0.87), "16": (0.5, 0.87), "13": (1.4, 0.87), "22": (2.05, 1.2), "29": (1, 0),
    "30": (1.95, 0.25), "34": (2, -0.45), "28": (0.55, -0.87), "5": (-0.6, -0.87), "3": (-1, 0), "14": (-1.4, 1.3),
    "25": (-2.35, 1.1), "37": (-3.2, 1.6), "2": (-2.6, 0.15), "4": (-1.8, -1), "19": (-2.95, -1.3),
}  # fmt: skip
OTHERS = ("6", "7", "8", "9", "10", "11", "12", "15", "17", "18", "20", "21", "24", "26", "27")
BUILDINGS = (  # west, south, east, north
    (-3.4, 0.0, -1.7, 1.8), (-1.1, 0.4, 0.9, 1.8), (1.0, -0.6, 2.3, 1.4), (-3.0, -1.4, 0.8, -0.7),
)  # fmt: skip
JITTER = 0.05  # standard deviation of each coordinate

SENT_DBM, LOSS_DB, NOISE_DBM = 18 + 2 * 2, 40.1, -94  # both antennas' 2 dBi; at 1 m, 2412 MHz
HOP_DB = 8.3  # mean SNR over a hop
CARRIES_DB = 4.0  # nearly all frames of 1536 bytes at 5.5 Mb/s, with a margin
NO_LINK_DB = -2.5  # almost no short frames at 2 Mb/s
HEARD_DB = -4.0  # the medium is busy from here on
STRONGEST_DB = 60.0
TRIES, DRAWS = 1000, 100


class Parameters(Model):
    flow: str = Field("22-13", description=f"one of the paper's, {', '.join(FLOWS)}, or another path of routers")
    routes: Literal["etx", "flow"] = Field(
        "etx", description="etx: fixed paths of least ETX; flow: the hops of the flow's name"
    )
    links: LinksFile | None = Field(
        None, description="a CSV file of links: from,to,dbm or from,to,snr or from,to,rate,delivery; by default random"
    )
    exponent: float = Field(3.8, ge=3.3, le=4.0, description="path loss exponent")
    sigma: float = Field(6.0, ge=0, le=12, description="standard deviation of the shadowing, dB")
    asymmetry: float = Field(1.5, ge=0, le=4, description="standard deviation of the difference between directions, dB")
    placement: int = Field(1, ge=0, lt=2**63, description="number of the random draw")

    @model_validator(mode="after")
    def _is_a_path(self) -> Self:
        self.path()
        return self

    def path(self) -> list[str]:
        """Return the flow's routers. Raises ValueError if they are no path."""
        there = self.links.stations if self.links else [f"r{number}" for number in (*PLACES, *OTHERS)]
        path = [name if name in there else f"r{name}" for name in self.flow.split("-")]
        if len(path) < 2 or len(set(path)) < len(path) or not re.fullmatch(r"[\w.]+(-[\w.]+)+", self.flow):
            raise ValueError(f"flow: {self.flow!r} is not a path of routers; write 1-23-16")
        if strange := next((name for name in path if name not in there), None):
            raise ValueError(f"flow: there is no router {strange}")
        return path


def layout(p: Parameters) -> Network:
    path = p.path()
    if p.links:
        turn = 2 * math.pi / len(p.links.stations)
        places = {name: (30 * math.cos(n * turn), 30 * math.sin(n * turn)) for n, name in enumerate(p.links.stations)}
    else:
        places = drawn(p.exponent, p.sigma, p.asymmetry, p.placement)[0]
    return Network(
        nodes={name: Node(position=(x, y, 0.0)) for name, (x, y) in places.items()},
        applications=(Application(source=path[0], destination=path[-1]),),
    )


def usual(p: Parameters) -> dict[str, Any]:
    """Return the paper's radios: ten retries for everything; broadcasts, including the probes of ETX, at 2 Mb/s."""
    return {
        "propagation": p.links or drawn(p.exponent, p.sigma, p.asymmetry, p.placement)[1],
        "reception": "sinr",
        "noise_dbm": float(NOISE_DBM),
        "routing": "etx-frozen" if p.routes == "etx" else f"static,path={':'.join(p.path())}",
        "basic_rates": (2.0,),
        "short_retry": 11,
        "long_retry": 11,
        "tcp": "sack",
        "mss": 1460,
        "seconds": 20.0,
    }


SNR = dict[tuple[str, str], float]  # by ordered pair, dB


@cache
def drawn(exponent: float, sigma: float, asymmetry: float, placement: int) -> tuple[dict[str, Point], Links]:
    """Return the routers' positions in metres, and the links. Raises ValueError if none of DRAWS draws is suitable."""
    random = stream(placement, "testbed")
    for _ in range(DRAWS):
        found = _draw(exponent, sigma, asymmetry, random)
        if found:
            places, snr = found
            rows = tuple((f"r{a}", f"r{b}", round(NOISE_DBM + db, 2), None) for (a, b), db in sorted(snr.items()))
            return {f"r{name}": (round(x, 3), round(y, 3)) for name, (x, y) in places.items()}, Links("dbm", rows)
    raise ValueError(f"placement: none of {DRAWS} draws has the paper's flows: choose another, or less sigma")


def _draw(exponent: float, sigma: float, asymmetry: float, random: Random) -> tuple[dict[str, Point], SNR] | None:
    """Draw routers and links that have the paper's flows; return None if this draw does not."""
    hop_m = 10 ** ((SENT_DBM - LOSS_DB - NOISE_DBM - HOP_DB) / (10 * exponent))
    places: dict[str, Point] = {}
    snr: SNR = {}

    def links_of(name: str, here: Point) -> SNR | None:
        """Draw the links to and from all placed routers; return None if a hop of the paper does not carry."""
        found: SNR = {}
        for other, there in places.items():
            loss = LOSS_DB + 10 * exponent * math.log10(max(math.dist(here, there), 1.0))
            shared = SENT_DBM - loss - NOISE_DBM + random.gauss(0, sigma)
            way, back = (min(shared + random.gauss(0, asymmetry), STRONGEST_DB) for _ in range(2))
            if min(way, back) < CARRIES_DB and frozenset((name, other)) in HOPS:
                return None
            found |= {(name, other): way, (other, name): back}
        return found

    for name in (*PLACES, *OTHERS):
        for _ in range(TRIES):
            x, y = _place(name, random)
            more = links_of(name, here := (x * hop_m, y * hop_m))
            if more is not None and no_shorter(snr | more):
                places[name] = here
                snr |= more
                break
        else:
            return None
        if len(places) == len(PLACES) and not some_hear_each_other(snr):
            return None
    return places, snr


def _place(name: str, random: Random) -> Point:
    if name in PLACES:
        return tuple(random.gauss(at, JITTER) for at in PLACES[name])  # type: ignore[return-value]
    west, south, east, north = BUILDINGS[OTHERS.index(name) % len(BUILDINGS)]
    return random.uniform(west, east), random.uniform(south, north)


HOPS = frozenset(frozenset(hop) for flow in FLOWS for hop in pairwise(flow.split("-")))
ENDS = sorted({(flow.split("-")[0], flow.split("-")[-1]) for flow in FLOWS})


def lengths(links: frozenset[frozenset[str]], source: str) -> dict[str, int]:
    """Return the hops to each router that this one reaches."""
    near: dict[str, list[str]] = {}
    for a, b in map(tuple, links):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found, front = {source: 0}, [source]
    while front:
        ahead = {to for at in front for to in near.get(at, ()) if to not in found}
        found |= dict.fromkeys(ahead, found[front[0]] + 1)
        front = list(ahead)
    return found


HOPS_BETWEEN = {(a, b): lengths(HOPS, a)[b] for a, b in ENDS}


def no_shorter(snr: SNR) -> bool:
    """Return whether no flow's ends have a shorter path than over the paper's hops. A pair is no link if it carries
    almost no short frame at 2 Mb/s, in at least one direction."""
    links = frozenset(frozenset(pair) for pair, db in snr.items() if min(db, snr[pair[::-1]]) > NO_LINK_DB)
    away = {source: lengths(links, source) for source, _ in ENDS}
    return all(away[a].get(b, hops) >= hops for (a, b), hops in HOPS_BETWEEN.items())


def some_hear_each_other(snr: SNR) -> bool:
    """Return whether the ends of some two-hop flow hear each other without a link."""
    ends = [(a, b) for (a, b), hops in HOPS_BETWEEN.items() if hops == 2]
    return any(HEARD_DB <= min(snr[a, b], snr[b, a]) <= NO_LINK_DB for a, b in ends)
