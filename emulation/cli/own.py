# SPDX-License-Identifier: BSD-3-Clause
"""Python files that a command line names and that run on this machine as the user: studies, topologies, lanes, labs.

A script runs in a lane, but the file itself decides which of these it is. So the user is told when a file runs here,
and asked if other users can write it.
"""

import os
import pwd
import stat
from collections.abc import Sequence
from pathlib import Path

import click

from emulation.cli.command import ALL, Command
from emulation.lane.errors import Misuse
from emulation.lanes import CHECKOUT
from emulation.play.trust import FLAG
from emulation.setup import packages
from emulation.setup.errors import say


def other_writers(path: str) -> str:
    """Return who else can write or replace this file; empty if only the user and root can. Files in the checkout are
    part of the program."""
    file = Path(path).resolve()
    if file.is_relative_to(CHECKOUT):
        return ""
    try:
        for place, about in ((file, file.stat()), (file.parent, file.parent.stat())):
            if about.st_uid not in (os.geteuid(), 0):
                return f"{place} belongs to {_name(about.st_uid)}"
            others = about.st_mode & stat.S_IWOTH or (about.st_mode & stat.S_IWGRP and about.st_gid != os.getegid())
            if others and not (place.is_dir() and about.st_mode & stat.S_ISVTX):
                return f"others may write to {place}"
    except OSError:  # it does not exist, which is reported later
        pass
    return ""


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def confirm(path: str, what: str, trusted: bool = False) -> None:
    """Tell the user that a file runs here, and ask if others can write it. Raises Misuse."""
    writers = "" if trusted else other_writers(path)
    if not writers:
        say(f"{path} is a {what}: it runs on this machine with your rights, not in a lane")
    elif not packages.confirmed(
        f"dcflab: {path} is a {what}: it runs on this machine with your rights; {writers}. Continue? [y/N] "
    ):
        raise Misuse(f"{path} is a {what}, which runs on this machine with your rights, and {writers}; if you trust "
                     f"it, add {FLAG}")  # fmt: skip


def command_unless_trusted(
    path: str, what: str, arguments: Sequence[str], help_names: Sequence[str]
) -> tuple[click.Command | None, list[str]]:
    """Return None if such a file may run, to find its options, else a command that shows help. Also return its
    arguments without our own. Raises Misuse."""
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    trusted, wants_help = FLAG in own, bool({*help_names, ALL} & {*own})
    left = [word for word in own if word != FLAG] + list(arguments[len(own) :])
    if not wants_help:
        confirm(path, what, trusted)
    elif not trusted and (writers := other_writers(path)):
        help_ = (f"A {what}, which runs on this machine with your rights. {writers}, so it was not run to list its "
                 f"options; if you trust it, add {FLAG}.")  # fmt: skip
        return Command(path, help=help_), left
    return None, left
