# SPDX-License-Identifier: BSD-3-Clause
"""`shell TOPOLOGY`: open a prompt inside a running network, with Mininet's commands. The session is kept like a run."""

from pathlib import Path
from typing import Any

import click

from emulation.cli.command import Command, lane, out, seeds
from emulation.cli.groups import TOPOLOGY, RunCommands, defines, file_parts, topology_names
from emulation.cli.options import options_of, short_help_options
from emulation.cli.script import of_features, play, script_at
from emulation.cli.terminal import terminal_listener
from emulation.features.prompt.networks import play_network
from emulation.lanes import Lane


def of_topology(name: str) -> click.Command:
    """Return the command of a topology, by its name or in a user's file. Raises ValueError if there is none."""

    def callback(**given: Any) -> None:
        play_network(Path(name).stem, name, **given)

    help_ = f"Open a prompt inside a network of the topology {Path(name).stem}."
    examples = [f"shell {name}", f"shell {name} --rts full --tcp cubic"]
    params = [*options_of(name), seeds(), out(), *lane()]
    return Command(name, examples, short_help_options(name), params=params, callback=callback, help=help_)


def of_script(path: str) -> click.Command:
    def callback(
        seeds: list[int], out: Path | None, lane: Lane, modules: tuple[str, ...], arguments: tuple[str, ...],
        **more: str | None,
    ) -> None:  # fmt: skip
        script = script_at(path, arguments, seeds[:1], modules, more, shell=True)
        play(script, out, False, (), lane, terminal_listener())

    params = [seeds(), out(), *lane(), *of_features(), click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)]
    help_ = "A prompt in each network that a script starts."
    return Command(path, [f"shell {path}"], params=params, callback=callback, help=help_)


class Prompts(RunCommands):
    """`shell`'s subcommands: the topologies, any Python file, and the files from which a feature makes networks."""

    draws, kinds = False, {"topology": TOPOLOGY}
    what, also = "topology", "one or of a script (.py)"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topology_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in topology_names() or defines(cmd_name) >= TOPOLOGY:
            return of_topology(cmd_name)
        if cmd_name.endswith(".py"):
            return of_script(cmd_name)
        return next((part.prompt(cmd_name) for part in file_parts(cmd_name)), None)


GROUP = "Run"
COMMAND = Prompts(
    "shell", subcommand_metavar="TOPOLOGY|SCRIPT.py [OPTIONS]",
    help="Open a prompt inside a running network, with Mininet's commands: `sta1 ping sta3`, `pingall`, `iperf`.",
    examples=["shell string --stations 3", "shell ./ring.py --rts full"],
)  # fmt: skip
