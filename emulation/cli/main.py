# SPDX-License-Identifier: BSD-3-Clause
"""The command line. It exits with 0 done, 1 failed, 2 misused, 130 interrupted.

There is no traceback for what a user can mend. Each command is a file, which is imported when it is asked for.
"""

from __future__ import annotations

import ast
import importlib
import io
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from emulation.cli import interrupts
from emulation.cli.command import write_examples
from emulation.files.foreign import Damaged
from emulation.lanes import CHECKOUT
from emulation.play.errors import Failure, Misuse

CONFIGURATIONS = (".cfg", ".conf")  # of wmediumd
DRAWING = "--figure"  # how the options begin that ask for figures
TOPOLOGY, STUDY = {"Parameters", "layout"}, {"STUDY"}  # what files of the user's own define


class Group(click.Group):
    """A group of commands, whose help ends with `examples`."""

    def __init__(self, name: str | None = None, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(name, **more)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


class What(Group):
    """`run`'s subcommands: the studies, the topologies, and any Python file."""

    what, besides = "study, topology or script", ", or the path of a script (.py) or a wmediumd configuration (.cfg)"
    draws, kinds = True, {"topology": TOPOLOGY, "study": STUDY}

    def invoke(self, ctx: click.Context) -> Any:
        if (
            self.draws
            and any(word.startswith(DRAWING) for word in ctx.args)
            and not {*ctx.help_option_names} & {*ctx.args}
        ):
            from emulation.play.drawing import ahead

            ctx.with_resource(ahead())
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        import experiments

        return [*experiments.names(), *topology_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        defined = defines(cmd_name) if cmd_name.endswith(".py") else set()
        if cmd_name in topology_names() or defined >= TOPOLOGY:
            from emulation.cli import topology

            return topology.command(cmd_name)
        import experiments

        if cmd_name in experiments.names() or defined >= STUDY:
            from emulation.cli import study

            return study.command(cmd_name)
        if cmd_name.endswith(".py"):
            from emulation.cli import script

            return script.command(cmd_name)
        if cmd_name.endswith(CONFIGURATIONS):
            from emulation.cli import wmediumd

            return wmediumd.command(cmd_name)
        return None

    def runs_here(self, name: str) -> str:
        """What the file of this name is that is run here, and not in a lane; empty if it is none."""
        defined = defines(name) if name.endswith(".py") else set()
        return next((kind for kind, defines_it in self.kinds.items() if defined >= defines_it), "")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command: click.Command | None = None
        try:
            if what := self.runs_here(args[0]):
                from emulation.cli import own

                command, rest = own.admitted(args[0], what, args[1:], ctx.help_option_names)
                args = [args[0], *rest]
            command = command or self.get_command(ctx, args[0])
        except (ValueError, Misuse) as error:  # of a file of the user's own
            raise click.UsageError(str(error), ctx) from None
        if command is None:
            there = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"there is no {self.what} {args[0]!r}; there are: {there}{self.besides}", ctx)
        return args[0], command, args[1:]


class Sweeps(What):
    """`sweep`'s subcommands: files of sweeps, and the studies."""

    draws, kinds = False, {"study": STUDY}
    what, besides = "study", ", or the path of a sweep (.toml)"

    def runs_here(self, name: str) -> str:
        if not name.endswith(".toml"):
            return super().runs_here(name)
        from emulation.cli.sweep import programs_of

        return f"sweep with {', '.join(programs)}" if (programs := programs_of(Path(name))) else ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        import experiments

        return experiments.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from emulation.cli import sweep

        known = cmd_name in self.list_commands(ctx) or (cmd_name.endswith(".py") and defines(cmd_name) >= STUDY)
        return sweep.command(cmd_name) if known or cmd_name.endswith(".toml") else None


class Topologies(What):
    """`shell`'s subcommands: the topologies, and any Python file."""

    draws, kinds = False, {"topology": TOPOLOGY}
    what, besides = "topology", ", or the path of one or of a script (.py), or a wmediumd configuration (.cfg)"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topology_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from emulation.cli import shell

        if cmd_name in topology_names() or (cmd_name.endswith(".py") and defines(cmd_name) >= TOPOLOGY):
            return shell.of_topology(cmd_name)
        if cmd_name.endswith(CONFIGURATIONS):
            from emulation.cli import wmediumd

            return wmediumd.prompt(cmd_name)
        return shell.of_script(cmd_name) if cmd_name.endswith(".py") else None


class Moving(What):
    """`motion`'s subcommands: the topologies, also in files of the user's own."""

    draws, kinds = False, {"topology": TOPOLOGY}
    what, besides = "topology", ", or the path of one that ends in .py"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topology_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from emulation.cli import motion

        return motion.command(cmd_name) if cmd_name in topology_names() or cmd_name.endswith(".py") else None


class Looking(What):
    """`live`'s subcommands: the topologies, also in files of the user's own."""

    draws, kinds = False, {"topology": TOPOLOGY}
    what, besides = "topology", ", or the path of one that ends in .py"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topology_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from emulation.cli import live

        own = cmd_name.endswith(".py") and defines(cmd_name) >= TOPOLOGY
        return live.command(cmd_name) if cmd_name in topology_names() or own else None


class Files(Group):
    """Subcommands that are files of this folder. What each is for, in the list of them, is its file's docstring: to
    load them all would take half a second."""

    def __init__(self, *names: str, **more: Any) -> None:
        super().__init__(**more)
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.names])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.names:
            return super().get_command(ctx, cmd_name)
        command: click.Command = importlib.import_module(f"emulation.cli.{cmd_name}").COMMAND
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.purpose(name)) for name in self.list_commands(ctx)])

    def purpose(self, name: str) -> str:
        """What a subcommand is for, in a sentence."""
        if name in self.names:
            return purpose(Path(__file__).with_name(f"{name}.py").read_text())
        return self.commands[name].get_short_help_str(sys.maxsize)


def topology_names() -> list[str]:
    import topologies

    return topologies.names()


def purpose(text: str) -> str:
    """The first sentence of a command file's docstring, after the command."""
    found = re.search(r'^"""`.+?`: (.+?\.)[\s"]', text, re.MULTILINE | re.DOTALL)
    words = " ".join(found[1].split()) if found else ""
    return words[:1].upper() + words[1:]


def defines(path: str) -> set[str]:
    """What a Python file defines, found without running it; nothing, if it cannot be read."""
    try:
        body = ast.parse(Path(path).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return set()
    found = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif isinstance(statement, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in statement.names}
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def say_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """The version of this checkout."""
    if wanted:
        import tomllib

        click.echo("dcflab " + tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"])
        ctx.exit()


cli = Files(
    *("bench", "claims", "dask", "docs", "doctor", "export", "figures", "film", "lab", "mediumd", "mn"),
    *("package", "python", "replay", "results", "setup", "taps", "test", "view"),
    help="Emulated 802.11 stations with the real Linux TCP stack and an exact DCF, in virtual time.",
    examples=["run rts-cts", "run string --stations 7 --rts full", "shell string --stations 3", "doctor"],
    params=[click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=say_version,
                         help="Show the version and exit.")],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)  # fmt: skip
cli.add_command(What(
    "run", subcommand_metavar="STUDY|TOPOLOGY|SCRIPT.py [OPTIONS]",
    help="Run a study, a single topology, or a script of your own; leave a run folder.",
    examples=["run rts-cts --seeds 1..5", "run string --help", "run mesh --size 5x5 --flows 6",
              "run string --vary rts=none,full --vary stations=4,6,8", "run ~/my_study.py", "run ./ring.py --rate 11"],
))  # fmt: skip
cli.add_command(Sweeps(
    "sweep", subcommand_metavar="STUDY|SWEEP.toml [OPTIONS]",
    help="Run many: what was found before is not run again, what fails does not stop the others; here, or on Dask.",
    examples=["sweep my_sweep.toml", "sweep rts-cts --seeds 1..20", "sweep my_sweep.toml --dask tcp://lab7:8786"],
))  # fmt: skip
cli.add_command(Topologies(
    "shell", subcommand_metavar="TOPOLOGY|SCRIPT.py [OPTIONS]",
    help="A prompt inside a running network, with Mininet's verbs: `sta1 ping sta3`, `pingall`, `iperf`.",
    examples=["shell string --stations 3", "shell ./ring.py --rts full"],
))  # fmt: skip
cli.add_command(Looking(
    "live", subcommand_metavar="TOPOLOGY [OPTIONS]",
    help="A running network at a page in a browser: look at its air, slowed down to a slot, and change it meanwhile.",
    examples=["live string --stations 3", "live mesh --size 5x5 --flows 6 --rts full", "live ./ring.py --no-open"],
))  # fmt: skip
cli.add_command(Moving(
    "motion", subcommand_metavar="TOPOLOGY --out FILE [OPTIONS]",
    help="Write who moves how to a movement file, for ns-2 or BonnMotion.",
    examples=["motion random --motion random_waypoint,vmax=10 --seconds 900 --out a.setdest",
              "motion ./ring.py --motion line,node=sta1 --out ring.movements"],
))  # fmt: skip
cli.add_command(Files(
    "check", "new", name="module",
    help="Check a kernel module: a congestion control, a qdisc, any other; or begin one.",
    examples=["module new mine", "module check mine", "module check --help"],
))  # fmt: skip


def refusal(error: click.UsageError) -> tuple[str, str | None]:
    """What to say of a misuse, and what may have been meant."""
    from emulation.specification.words import meant, nearest

    ctx, said = error.ctx, error.format_message()
    if isinstance(error, click.NoSuchOption):
        there = [flag for param in ctx.command.get_params(ctx) for flag in param.opts] if ctx else []
        own = any(param.name == "arguments" for param in ctx.command.get_params(ctx)) if ctx else False
        said = f"there is no option {error.option_name}" + ("; a script's own come after --" if own else "")
        return said, nearest(error.option_name, there)
    if ctx and isinstance(error, click.exceptions.NoSuchCommand) and isinstance(ctx.command, click.Group):
        there = ctx.command.list_commands(ctx)
        said = f"there is no command {error.command_name!r}; there are: {', '.join(there)}"
        return said, nearest(error.command_name, there)
    return said, meant(said)


def obey() -> None:
    """The command line; what is wrong with it, or went wrong, is said."""
    try:
        cli.main(prog_name="./dcflab", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        said, near = refusal(error)
        click.echo(f"dcflab: {said}", err=True)
        if near:
            click.echo(f"        did you mean: {near}", err=True)
        if error.ctx:
            click.echo(f"        try: {error.ctx.command_path} --help", err=True)
        sys.exit(2)
    except (Misuse, Failure, Damaged) as error:
        click.echo(f"dcflab: {error}", err=True)
        sys.exit(2 if isinstance(error, Misuse) else 1)


def written(error: OSError) -> str:
    """The file that was written, or read, when this was raised, as far as it was by pathlib; empty: it was not."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == pathlib.__file__:
            return str(frame.f_locals.get("self", ""))
    return ""


def main() -> None:
    """The program."""
    interrupts.catch()
    try:
        os.getcwd()
    except OSError as error:
        click.echo(f"dcflab: the working directory: {error.strerror}; change to another one", err=True)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):  # a name that is no text is shown as it can be
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        obey()
    except (KeyboardInterrupt, click.Abort):
        click.echo("dcflab: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{name}: " if (name := error.filename or written(error)) else ""
        click.echo(f"dcflab: {where}{error.strerror or error}", err=True)
        sys.exit(1)
