# SPDX-License-Identifier: BSD-3-Clause
"""Movement files of BonnMotion: a line for each node with times and positions: `t x y t x y …`.

Between them nodes move in a straight line at constant speed; a pause repeats a position. In three dimensions
(BonnMotion's `-J 3D`) each position has a height, `t x y z`; the file does not say which form it has. Line k belongs to
the network's k-th node. A node without a line stands where the topology has it.
"""

from random import Random

from pydantic import Field

from topologies.files import File, lines, number, prefix_errors
from topologies.network import Model, Motion, Network, Waypoint

LONGEST = 1e9  # seconds


class Parameters(Model):
    file: File = Field(description="a movement file of BonnMotion, also in .gz")
    dimensions: int = Field(2, ge=2, le=3, description="of each place: 2, or 3 with heights")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> Motion:
    names = list(network.nodes)
    ways: list[list[Waypoint]] = []
    for place, line in lines(p.file):
        if not line.startswith("#"):
            with prefix_errors(place):
                if len(ways) == len(names) and line:
                    raise ValueError(f"a line for more nodes than the {len(names)} of the network")
                ways.append(_waypoints(line.split(), p.dimensions))
    return Motion({name: way for name, way in zip(names, ways, strict=False) if way})


def _waypoints(numbers: list[str], dimensions: int) -> list[Waypoint]:
    way: list[Waypoint] = []
    each = 1 + dimensions
    if len(numbers) % each:
        written, other = ("t x y z", 2) if dimensions == 3 else ("t x y", 3)
        raise ValueError(f"{len(numbers)} numbers are not a multiple of {written}; perhaps dimensions={other}")
    for first in range(0, len(numbers), each):
        at = number(numbers[first], 0, LONGEST)
        x, y, z = (*map(number, numbers[first + 1 : first + each]), *[0.0] * (3 - dimensions))
        waypoint = Waypoint(at, (x, y, z))
        if way and (at < way[-1].at_s or (at == way[-1].at_s and waypoint != way[-1])):
            raise ValueError(f"after {way[-1].at_s:g} s comes {at:g} s; perhaps dimensions={5 - dimensions}")
        way.append(waypoint)
    return way


def write(network: Network) -> str:
    """Return a network's motion as such a file, with heights if there are any.

    Raises ValueError for stations that come and go, which the format cannot express.
    """
    if network.presence:
        raise ValueError(f"{next(iter(network.presence))} comes and goes, which BonnMotion's files cannot express")
    ways = [network.motion.get(name) or (Waypoint(0.0, node.position),) for name, node in network.nodes.items()]
    high = any(waypoint.position[2] for way in ways for waypoint in way)
    each = 4 if high else 3
    return "".join(" ".join(repr(v) for at, there in way for v in (at, *there)[:each]) + "\n" for way in ways)
