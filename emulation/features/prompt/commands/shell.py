# SPDX-License-Identifier: BSD-3-Clause
"""`shell TOPOLOGY`: open a prompt inside a running network, with Mininet's commands. The session is kept like a run."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from analysis.results.result import Script
from emulation.cli.command import Command, lane, out, seeds
from emulation.cli.groups import TOPOLOGY, RunCommands, defines, file_parts, topology_names
from emulation.cli.options import options_of, short_help_options
from emulation.cli.script import of_features, play, play_in, script_at, without_topology
from emulation.cli.terminal import terminal_listener
from emulation.lanes import Lane
from emulation.play.script import SCRIPT_COPY
from emulation.play.session import new_folder, provide_for
from emulation.play.tasks import task_for
from emulation.specification.medium import HOST_DELAY_US
from topologies import Network

PROGRAM = """# What `./dcflab shell` ran: the network of a specification, and its prompt.
from emulation.net import Net

with Net.of({specification!r}, moving=True) as net:
    net.start()
"""


def of_topology(name: str) -> click.Command:
    """Return the command of a topology, by its name or in a user's file. Raises ValueError if there is none."""

    def callback(**given: Any) -> None:
        play_network(Path(name).stem, name, **given)

    help_ = f"Open a prompt inside a network of the topology {Path(name).stem}."
    examples = [f"shell {name}", f"shell {name} --rts full --tcp cubic"]
    params = [*options_of(name), seeds(), out(), *lane()]
    return Command(name, examples, short_help_options(name), params=params, callback=callback, help=help_)


def play_network(
    title: str, what: str | Network, *, seeds: list[int], out: Path | None, lane: Lane,
    usual: Mapping[str, Any] = MappingProxyType({}), **given: Any,
) -> None:  # fmt: skip
    """Open a prompt in a network: a topology by its name, or the network itself. Options are those `given`, then those
    that are `usual`. Raises Misuse or Failure."""
    chosen = {name: value for name, value in given.items() if value is not None}
    task = task_for(what, {"host_delay_us": HOST_DELAY_US, **usual, **chosen, "seed": seeds[0]})
    lab, asked = provide_for([task], lane), task.specification
    folder = new_folder(out, title)
    program = folder / SCRIPT_COPY
    program.write_text(PROGRAM.format(specification=without_topology(asked).model_dump_json()))
    script = Script(path=str(program), seeds=seeds[:1], modules=list(asked.kernel.modules), shell=True)
    play_in(folder, lab, script, title, False, (), terminal_listener())


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
