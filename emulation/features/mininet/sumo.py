# SPDX-License-Identifier: BSD-3-Clause
"""SUMO moves the cars, as in Mininet-WiFi: `net.useExternalProgram(program=sumo, config_file='map.sumocfg')`.

SUMO runs inside the lane, where computing takes no time, and before the session: it writes the trace of all vehicles,
which the cars follow. So a script cannot steer vehicles while they move."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.mobility import apart
from emulation.features.mininet.refusals import check, note
from emulation.lane import programs
from emulation.lane.errors import Misuse
from topologies.mobility import fcd
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.wifi import Mininet_wifi

END_S = 1000  # in SUMO's time, from its second 0
OF_WINDOWS = {"--start", "-S", "--quit-on-end", "-Q", "--game", "-G"}  # options of sumo-gui alone
WITH_VALUE = {"--delay", "-d", "--gui-settings-file", "-g", "--window-size", "--window-pos"}  # likewise, with a value
OF_CLIENTS = ("port", "clients", "exec_order")  # without effect: nothing connects to SUMO


class sumo:
    """The program `sumo`, with Mininet-WiFi's arguments: the network, a configuration, and options."""

    def __init__(self, net: Mininet_wifi, config_file: str = "map.sumocfg", extra_params: Any = (), **said: Any):
        check("useExternalProgram", said, OF_CLIENTS)
        program = programs.path_of("sumo")
        if not program:
            raise Misuse(f"useExternalProgram: {programs.missing_message('sumo')}")
        config = find(str(config_file))
        with tempfile.NamedTemporaryFile(suffix=".xml") as trace:
            command = [program, "-c", str(config), "--fcd-output", trace.name, "--end", str(END_S),
                       "--time-to-teleport", "-1", "--no-step-log", *options(extra_params)]  # fmt: skip
            ended = subprocess.run(command, cwd=config.parent, capture_output=True, text=True, check=False)
            if ended.returncode:
                lines = [line for line in ended.stderr.splitlines() if line.startswith("Error")] or [ended.stderr]
                raise Misuse(f"useExternalProgram: {config.name}: {lines[0].strip()}")
            ways = fcd.read(trace.name).ways
        if not ways:
            raise Misuse(f"useExternalProgram: {config.name}: no vehicle departs within {END_S} s")
        net.replay({net.cars[at].name: apart(way) for at, way in numbered(list(ways), ways) if at < len(net.cars)})
        if len(ways) > len(net.cars):
            note(f"{config.name} has {len(ways)} vehicles, and the network {len(net.cars)} cars: the first ones move")


def find(name: str) -> Path:
    """Return the path of a configuration, beside the script or in its folder `data`. Raises Misuse."""
    for there in (Path(name), Path("data", name)):
        if there.is_file():
            return there.resolve()
    raise Misuse(
        f"useExternalProgram: there is no {name}; copy it beside the script, with the files that it names. Those of "
        "Mininet-WiFi are in mn_wifi/sumo/data of its sources"
    )


def options(said: Any) -> list[str]:
    """Return the options that are not those of SUMO's window."""
    words = iter(shlex.split(said if isinstance(said, str) else " ".join(map(str, said))))
    taken = []
    for word in words:
        if word in WITH_VALUE:
            next(words, None)
        elif word not in OF_WINDOWS and word.partition("=")[0] not in WITH_VALUE:
            taken.append(word)
    return taken


def numbered(names: list[str], ways: dict[str, list[Waypoint]]) -> list[tuple[int, list[Waypoint]]]:
    """Return the ways, each with the number of its car: the vehicle's name, if all are numbers, or its place."""
    by_name = all(name.isdecimal() for name in names)
    return [(int(name) if by_name else place, ways[name]) for place, name in enumerate(names)]
