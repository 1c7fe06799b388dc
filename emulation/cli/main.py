# SPDX-License-Identifier: BSD-3-Clause
"""The command line. It exits with 0 done, 1 failed, 2 misused, 130 interrupted.

There is no traceback for what a user can fix. Each command is a file, imported on use.
"""

import io
import os
import pathlib
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import click

import emulation
from emulation import features
from emulation.cli import interrupts
from emulation.cli.groups import FileCommands
from emulation.files.foreign import Damaged
from emulation.lane import mistakes
from emulation.lane.errors import Failure, Misuse

SYSTEM, INTERRUPTED = "system", "interrupted"  # codes of errors without a class of ours


def print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"dcflab {emulation.version()}")
        ctx.exit()


COMMANDS = {file.stem: str(file) for file in sorted(Path(__file__).with_name("commands").glob("*.py"))}
cli = FileCommands(
    COMMANDS | features.commands(),
    help="Emulated 802.11 stations with the real Linux TCP stack and an exact DCF, in virtual time.",
    examples=["run rts-cts", "run string --stations 7 --rts full", "doctor"],
    params=[click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=print_version,
                         help="Show the version and exit.")],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)  # fmt: skip


def refusal(error: click.UsageError) -> tuple[str, str | None]:
    """Return the message for a misuse, and hints on what may have been meant."""
    from emulation.specification.words import meant, nearest

    ctx, message = error.ctx, error.format_message()
    if isinstance(error, click.NoSuchOption):
        names = [flag for param in ctx.command.get_params(ctx) for flag in param.opts] if ctx else []
        own = any(param.name == "arguments" for param in ctx.command.get_params(ctx)) if ctx else False
        message = f"there is no option {error.option_name}" + ("; a script's own come after --" if own else "")
        return message, nearest(error.option_name, names)
    if ctx and isinstance(error, click.exceptions.NoSuchCommand) and isinstance(ctx.command, click.Group):
        names = ctx.command.list_commands(ctx)
        message = f"there is no command {error.command_name!r}; there are: {', '.join(names)}"
        return message, nearest(error.command_name, names)
    return message, meant(message)


def fail(status: int, code: str, message: str, hints: Mapping[str, str] = MappingProxyType({})) -> NoReturn:
    """Print an error, as JSON with --json, and exit."""
    arguments = sys.argv[1:]
    if "--json" in arguments[: arguments.index("--") if "--" in arguments else None]:
        import json

        named = {name.replace(" ", "_"): hint for name, hint in hints.items()}
        error = {"code": code, "exit": status, "message": message, **named}
        click.echo(json.dumps({"error": error}, ensure_ascii=False), err=True)
    else:
        click.echo(f"dcflab: {message}", err=True)
        for name, hint in hints.items():
            click.echo(f"        {name}: {hint}", err=True)
    sys.exit(status)


def run_commands() -> None:
    """Run the command line and report its errors."""
    try:
        cli.main(prog_name="./dcflab", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        message, near = refusal(error)
        hints = {"did you mean": near} if near else {}
        fail(2, Misuse.code, message, hints | ({"try": f"{error.ctx.command_path} --help"} if error.ctx else {}))
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(mistakes.FEATURES):
            raise
        fail(1, Failure.code, mistakes.sentence(error))
    except (Misuse, Failure, Damaged) as error:
        fail(2 if isinstance(error, Misuse) else 1, error.code, str(error))


def file_of(error: OSError) -> str:
    """Return the file that pathlib read or wrote when this was raised; empty if unknown."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == pathlib.__file__:
            return str(frame.f_locals.get("self", ""))
    return ""


def main() -> None:
    interrupts.catch()
    try:
        os.getcwd()
    except OSError as error:
        fail(2, SYSTEM, f"the working directory: {error.strerror}; change to another one")
    for stream in (sys.stdout, sys.stderr):  # names of files may not be valid text
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        run_commands()
    except (KeyboardInterrupt, click.Abort):
        fail(130, INTERRUPTED, "interrupted")
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{name}: " if (name := error.filename or file_of(error)) else ""
        fail(1, SYSTEM, f"{where}{error.strerror or error}")
