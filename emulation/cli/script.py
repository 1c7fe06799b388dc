# SPDX-License-Identifier: BSD-3-Clause
"""`run SCRIPT.py ARGUMENTS`: the script runs inside a lane, as root of its kernel; its runs leave the usual files."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import click

from analysis.results.result import Script
from emulation import features
from emulation.cli.command import Command, as_json, command_line, figure_options, full, lane, out, seeds
from emulation.cli.playing import print_speed, show
from emulation.cli.terminal import terminal_listener
from emulation.lane.errors import Misuse
from emulation.lanes import Lane, Listener
from emulation.lanes.virtual.boot import packages_of
from emulation.play.lab import Lab
from emulation.play.session import new_folder, provide
from emulation.play.study import Request, open_report
from emulation.setup import require_all_packages
from emulation.specification import Specification


def command(path: str) -> click.Command:
    def callback(
        seeds: list[int], out: Path | None, full: bool, as_json: bool, formats: Sequence[str], lane: Lane,
        modules: tuple[str, ...], arguments: tuple[str, ...], **more: str | None,
    ) -> None:  # fmt: skip
        script = script_at(path, arguments, seeds, modules, more)
        listener = Listener(line=lambda line: click.echo(line, err=True)) if as_json else terminal_listener()
        play(script, out, as_json, formats, lane, listener, full)

    params = [
        seeds(), out(), full(), as_json("result.json instead of tables, and what the script prints to stderr"),
        *figure_options(), *lane(), *of_features(),
        click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED),
    ]  # fmt: skip
    return Command(path, params=params, callback=callback, help="Run a script of your own inside a lane.")


def of_features() -> list[click.Option]:
    """Return the options of a script besides those of the command: `--modules`, `--python`, and those of features."""
    python = click.Option(["--python"], metavar="VENV", callback=use_environment, expose_value=False,
                          help="a virtual environment whose packages the script has, as if it were active")  # fmt: skip
    modules = click.Option(["--modules"], metavar="FOLDER", multiple=True,
                           help="a folder of kernel modules of your own; repeat it for several")  # fmt: skip
    return [modules, python, *(option for part in features.parts("of_scripts") for option in part.OPTIONS)]


def use_environment(context: click.Context, option: click.Parameter, named: str | None) -> None:
    """Let the lane give a script the packages of this virtual environment: its folder, or its Python."""
    if named is None:
        return
    folder = Path(named).absolute().parents[1] if Path(named).is_file() else Path(named).absolute()
    if not packages_of(folder).is_dir():
        raise click.BadParameter(f"{named} is no virtual environment: there is no {packages_of(folder)}")
    os.environ["VIRTUAL_ENV"] = str(folder)


def script_at(
    path: str, arguments: Sequence[str], seeds: list[int], modules: Sequence[str], options: Mapping[str, str | None],
    shell: bool = False,
) -> Script:  # fmt: skip
    """Return the script of a file; `options` are those of features. Raises Misuse."""
    if not Path(path).is_file():
        raise Misuse(f"there is no script {path}")
    said = {name: value for name, value in options.items() if value is not None}
    return Script(path=str(Path(path).resolve()), arguments=list(arguments), seeds=seeds, modules=list(modules),
                  shell=shell, options=said)  # fmt: skip


def play(
    script: Script, out: Path | None, as_json: bool, formats: Sequence[str], lane: Lane, listener: Listener,
    full: bool = False,
) -> NoReturn:  # fmt: skip
    """Play a script, print and draw its results, and exit with the script's status."""
    from emulation.play.script import name_of

    require_all_packages()
    lab = provide(folders=script.modules, lane=lane)
    folder = new_folder(out, name_of(script))
    play_in(folder, lab, script, name_of(script), as_json, formats, listener, full)


def play_in(
    folder: Path, lab: Lab, script: Script, name: str, as_json: bool, formats: Sequence[str], listener: Listener,
    full: bool = False,
) -> NoReturn:  # fmt: skip
    """Play a script in this folder, under this name."""
    from emulation.play.script import play_script

    request = Request({}, command_line(), folder, formats)
    with request.drawing() as pen:
        found = play_script(lab, script, folder, listener, name)
        if found.result:
            with open_report(name, found.result, found.outcomes, request, pen) as report:
                show(report, as_json, full)
    if found.result and not as_json:
        print_speed(found.outcomes, found.wall_s, folder)
    elif folder.exists() and not as_json:
        click.echo(f"{folder}/")
    if found.error:
        raise found.error
    sys.exit(found.status)


def without_topology(specification: Specification) -> Specification:
    """Return the specification with its network instead of a topology: a lane may not see a user's topology."""
    chosen = specification.network.model_copy(
        update={"own": specification.network.standing(), "topology": None, "parameters": {}}
    )
    return specification.model_copy(update={"network": chosen})
