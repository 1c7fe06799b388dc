# SPDX-License-Identifier: BSD-3-Clause
"""The command line. It exits with 0 done, 1 failed, 2 misused, 130 interrupted.

There is no traceback for what a user can mend.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import click

import topologies
from emulation.lanes import CHECKOUT

PROGRAM = os.getpid()


class Failure(click.ClickException):
    """Something went wrong that is not a misuse; shown without a traceback."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        click.echo(f"dcflab: {self.message}", err=True)


class What(click.Group):
    """`run`'s subcommands: the studies, the topologies, and any Python script."""

    what, besides = "study, topology or script", ", or the path of a script that ends in .py"

    def list_commands(self, ctx: click.Context) -> list[str]:
        import experiments

        return [*experiments.known(), *topologies.names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        import experiments
        from emulation.cli.commands import script_command, study_command, topology_command

        if cmd_name.endswith(".py"):
            return script_command(cmd_name)
        if cmd_name in experiments.known():
            return study_command(cmd_name)
        if cmd_name in topologies.names():
            return topology_command(cmd_name)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            there = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"there is no {self.what} {args[0]!r}; there are: {there}{self.besides}", ctx)
        return super().resolve_command(ctx, args)


class Topologies(What):
    """`shell`'s subcommands: the topologies."""

    what, besides = "topology", ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topologies.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from emulation.cli.commands import shell_command

        return shell_command(cmd_name) if cmd_name in topologies.names() else None


class Bench(click.Group):
    """`module`'s subcommands, which are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["check", "new"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        from emulation.cli.check import COMMANDS

        return COMMANDS[cmd_name]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def cli() -> None:
    """Emulated 802.11 stations with the real Linux TCP stack and an exact DCF, in virtual time."""


@cli.group("run", cls=What, subcommand_metavar="STUDY|TOPOLOGY|SCRIPT.py [OPTIONS]")
def run() -> None:
    """Run a study, a single topology, or a script of your own; leave a run folder."""


@cli.group("shell", cls=Topologies, subcommand_metavar="TOPOLOGY [OPTIONS]")
def shell() -> None:
    """A prompt inside a running network, with Mininet's verbs: `sta1 ping sta3`, `pingall`, `iperf`."""


@cli.group("module", cls=Bench)
def module() -> None:
    """Check a kernel module: a congestion control, a qdisc, any other; or begin one."""


@cli.command()
@click.argument("run_folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="print the verdict as JSON")
def replay(run_folder: Path, as_json: bool) -> None:
    """Run a run folder again and say whether it came out the same, byte for byte."""
    from emulation.play.replay import replay as again

    differences = again(run_folder)
    if as_json:
        click.echo(json.dumps({"identical": not differences, "differences": differences}))
    else:
        click.echo("identical" if not differences else "different:\n" + "\n".join(f"  {d}" for d in differences))
    sys.exit(1 if differences else 0)


@cli.command()
@click.argument("run_folder", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="print the counters as JSON")
def taps(run_folder: Path, as_json: bool) -> None:
    """Count a run's trace with the Scapy taps and compare with the module's own table."""
    from analysis.taps import main as count

    sys.exit(count([str(run_folder), *(["--json"] if as_json else [])]))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="print the findings as JSON")
def doctor(as_json: bool) -> None:
    """What is there, what is missing, and how to mend it."""
    from emulation.cli.doctor import main as examine

    sys.exit(examine(as_json))


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...]) -> None:
    """Run all tests; ARGUMENTS go to pytest."""
    from emulation.cli.commands import provide

    provide("test")
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])


@cli.command()
@click.argument("what", type=click.Choice(["speed", "routing"]), default="speed")
@click.option("--json", "as_json", is_flag=True, help="print the figures as JSON")
@click.option("--repeats", default=3, show_default=True, help="how often each is timed, or how many seeds are run")
def bench(what: str, as_json: bool, repeats: int) -> None:
    """Side by side with ns-2 and ns-3: speed, or what slow congestion avoidance gains under which routing."""
    from emulation.cli.commands import provide

    provide("bench")
    if what == "routing":
        from benchmarks.routing import main as compare
    else:
        from benchmarks.compare import main as compare
    sys.exit(compare(as_json, repeats))


def interrupt(number: int, frame: FrameType | None) -> None:
    """What ends a program from outside ends it as Ctrl-C does; once, so that nothing disturbs its cleaning up."""
    if os.getpid() != PROGRAM:  # a child that has just been forked
        os._exit(128 + number)
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> None:
    """The program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)
    try:
        cli.main(prog_name="./dcflab", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        click.echo(f"dcflab: {error.format_message()}", err=True)
        if error.ctx:
            click.echo(f"        try: {error.ctx.command_path} --help", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("dcflab: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"dcflab: {where}{error.strerror or error}", err=True)
        sys.exit(1)
