# SPDX-License-Identifier: BSD-3-Clause
"""A prompt in a network: a program that opens it, and the folder in which it runs."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from analysis.results.result import Script
from emulation.cli.script import play_in, without_topology
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
