# SPDX-License-Identifier: BSD-3-Clause
"""`motion TOPOLOGY`: write a movement file for ns-2 or BonnMotion; nothing runs."""

from pathlib import Path
from typing import Any

import click

from emulation.cli.command import Command
from emulation.cli.groups import TopologyCommands
from emulation.cli.options import options_of
from emulation.lane.errors import Misuse
from emulation.play.tasks import specification_for
from emulation.specification import explain
from topologies.mobility import bonnmotion, setdest

FORMATS = {".movements": bonnmotion.write, ".setdest": setdest.write}


def command(name: str) -> click.Command:
    """Return the command of a topology, given its name or file. Raises ValueError."""
    stem = Path(name).stem
    examples = [
        f"motion {name} --motion random_waypoint,vmax=10,pause=40 --seconds 900 --out {stem}.setdest",
        f"motion {name} --motion scripted,file=walk.csv --out {stem}.movements",
    ]
    params = [
        *(option for option in options_of(name) if getattr(option, "group", None) == "Network"),
        *(option for option in options_of(name) if option.name == "seconds"),
        click.Option(["--seed"], type=click.IntRange(0, 2**63 - 1), metavar="N", default="1", show_default=True,
                     help="the seed of the run"),
        click.Option(["--out"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", required=True,
                     help="FILE.setdest is for ns-2, FILE.movements for BonnMotion"),
    ]  # fmt: skip

    def callback(out: Path, **given: Any) -> None:
        if out.suffix not in FORMATS:
            raise Misuse(f"out: {out} is not one of {', '.join('*' + suffix for suffix in FORMATS)}")
        try:
            network = specification_for(name, given).made()
            text = FORMATS[out.suffix](network)
        except ValueError as error:
            raise Misuse("; ".join(explain(error))) from None
        out.write_text(text)
        legs = sum(max(len(way) - 1, 0) for way in network.motion.values())
        click.echo(f"{out}: {len(network.nodes)} stations, {legs} legs")

    help_ = f"Write how the stations of the topology {stem} move in a run with these options, to a movement file."
    return Command(name, examples, params=params, callback=callback, help=help_)


GROUP = "Bring your own"
COMMAND = TopologyCommands(
    "motion", command, subcommand_metavar="TOPOLOGY --out FILE [OPTIONS]",
    help="Write the movement of a network's stations to a file for ns-2 or BonnMotion; nothing runs.",
    examples=["motion random --motion random_waypoint,vmax=10 --seconds 900 --out a.setdest",
              "motion ./ring.py --motion line,node=sta1 --out ring.movements"],
)  # fmt: skip
