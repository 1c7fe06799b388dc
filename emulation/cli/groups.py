# SPDX-License-Identifier: BSD-3-Clause
"""Groups of commands: of files, and of topologies, studies and scripts.

There is no list of commands: each is a file in `emulation/cli/commands`, or of a feature (`emulation.features`).
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from emulation import features
from emulation.cli.command import ALL, write_examples
from emulation.lanes import CHECKOUT

# The sections of `./dcflab --help`, in order. A command's file names its own as `GROUP`.
SECTIONS = ("Run", "Look", "Teach", "Check modules", "Bring your own", "Administer")
DRAWING = "--figure"  # prefix of the options for figures
TOPOLOGY, STUDY = {"Parameters", "layout"}, {"STUDY"}  # names that files of users define


class Group(click.Group):
    """A group of commands, whose help ends with `examples`."""

    def __init__(self, name: str | None = None, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(name, **more)
        self.examples = examples

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without cutting lines off, as click would."""
        commands = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))}
        if lines := [(name, command.get_short_help_str(sys.maxsize)) for name, command in commands.items()]:
            with formatter.section("Commands"):
                formatter.write_dl(lines)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


class RunCommands(Group):
    """`run`'s subcommands: the studies, the topologies, and any Python file."""

    draws, kinds = True, {"topology": TOPOLOGY, "study": STUDY}
    what, also, takes_files = "study, topology or script", "a script (.py)", True

    def invoke(self, ctx: click.Context) -> Any:
        wants_help = {*ctx.help_option_names, ALL} & {*ctx.args}
        if self.draws and not wants_help and any(word.startswith(DRAWING) for word in ctx.args):
            from emulation.play.drawing import preload

            ctx.with_resource(preload())
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        import experiments

        return [*experiments.names(), *topology_names()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write topologies first, and the titles of studies without the section of the paper."""
        import topologies

        studies = [name for name in self.list_commands(ctx) if name not in topologies.names()]
        commands = {name: command for name in studies if (command := self.get_command(ctx, name))}
        for title, texts in (
            ("Topologies", {name: topologies.find(name).summary for name in topologies.names()}),
            ("Studies", {name: command.help or "" for name, command in commands.items()}),
        ):
            if lines := [(name, _brief(text)) for name, text in texts.items()]:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        defined = defines(cmd_name)
        if cmd_name in topology_names() or defined >= TOPOLOGY:
            from emulation.cli import study

            return study.topology_command(cmd_name)
        import experiments

        if cmd_name in experiments.names() or defined >= STUDY:
            from emulation.cli import study

            return study.study_command(cmd_name)
        if cmd_name.endswith(".py"):
            from emulation.cli import script

            return script.command(cmd_name)
        return next((part.command(cmd_name) for part in file_parts(cmd_name)), None)

    def other_files(self) -> str:
        """Return what files can be named instead."""
        return " or ".join([self.also, *(part.KIND for part in features.parts("of_files") if self.takes_files)])

    def host_file_kind(self, name: str) -> str:
        """Return what kind of file runs on this machine, not in a lane; empty for other files."""
        defined = defines(name)
        return next((kind for kind, defines_it in self.kinds.items() if defined >= defines_it), "")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command: click.Command | None = None
        try:
            if what := self.host_file_kind(args[0]):
                from emulation.cli import own

                command, rest = own.command_unless_trusted(args[0], what, args[1:], ctx.help_option_names)
                args = [args[0], *rest]
            command = command or self.get_command(ctx, args[0])
        except ValueError as error:  # in a user's file
            raise click.UsageError(str(error), ctx) from None
        if command is None:
            names = ", ".join(self.list_commands(ctx))
            message = f"there is no {self.what} {args[0]!r}; there are: {names}, or the path of {self.other_files()}"
            raise click.UsageError(message, ctx)
        return args[0], command, args[1:]


class TopologyCommands(RunCommands):
    """Subcommands that are topologies, also in users' files; `command` makes one from a name or path."""

    draws, kinds = False, {"topology": TOPOLOGY}
    what, also, takes_files = "topology", "one that ends in .py", False

    def __init__(self, name: str, command: Callable[[str], click.Command], **more: Any) -> None:
        super().__init__(name, **more)
        self.make_command = command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return topology_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = defines(cmd_name) >= TOPOLOGY
        return self.make_command(cmd_name) if cmd_name in topology_names() or own else None


class FileCommands(Group):
    """Subcommands that are files, by their names. The list of commands has the files' docstrings, because loading all
    commands takes half a second."""

    def __init__(self, files: Mapping[str, str], **more: Any) -> None:
        super().__init__(**more)
        self.files = files

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.files])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.files:
            return super().get_command(ctx, cmd_name)
        command: click.Command = importlib.import_module(module_of(self.files[cmd_name])).COMMAND
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        width, found = max(map(len, names)), {name: self.section(name) for name in names}
        for title in (*SECTIONS, *sorted({*found.values()} - {*SECTIONS})):
            if lines := [(f"{name:{width}}", self.purpose(name)) for name in names if found[name] == title]:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def section(self, name: str) -> str:
        """Return the title of a subcommand's section in the help."""
        text = Path(self.files[name]).read_text() if name in self.files else ""
        found = re.search(r'^GROUP = "(.+)"$', text, re.MULTILINE)
        return found[1] if found else "Commands"

    def purpose(self, name: str) -> str:
        """Return the purpose of a subcommand, one sentence."""
        if name in self.files:
            return purpose(Path(self.files[name]).read_text())
        return self.commands[name].get_short_help_str(sys.maxsize)


def _brief(help_: str) -> str:
    """Return the first line of a help text, without brackets at its end."""
    return re.sub(r" \([^()]+\)$", "", help_.split("\n\n")[0].strip()).rstrip(".")


def module_of(file: str) -> str:
    path = Path(file).relative_to(CHECKOUT)
    return ".".join(path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts)


def file_parts(name: str) -> Iterator[ModuleType]:
    """Return the part of the feature that takes files with this suffix."""
    return (part for part in features.parts("of_files") if name.endswith(part.ENDINGS))


def topology_names() -> list[str]:
    import topologies

    return topologies.names()


def purpose(text: str) -> str:
    """Return the first sentence of a command file's docstring, after the command."""
    found = re.search(r'^"""`.+?`: (.+?\.)[\s"]', text, re.MULTILINE | re.DOTALL)
    words = " ".join(found[1].split()) if found else ""
    return words[:1].upper() + words[1:]


def defines(name: str) -> Set[str]:
    """Return the names that a Python file defines, without running it; none for other files. Raises ValueError if it is
    malformed."""
    if not name.endswith(".py"):
        return set()
    from topologies import files

    return files.defines(name).keys()
