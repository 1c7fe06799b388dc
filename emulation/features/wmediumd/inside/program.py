# SPDX-License-Identifier: BSD-3-Clause
"""The program. Exit status: 0 if told to end, 1 if it cannot do what was asked, 2 for misuse."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack, contextmanager

from emulation.features.wmediumd.inside import capture, configuration, formula, hwsim, server
from emulation.features.wmediumd.inside.arguments import ERROR, HELP, NOTICE, PROGRAM, WARNING, Arguments, parse
from emulation.features.wmediumd.inside.configuration import Configuration
from emulation.features.wmediumd.inside.stations import Mode, Stations
from emulation.lane import per_tables
from emulation.lane.errors import Misuse
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import NoReturn, Protocol

    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.control import Done
    from emulation.lane.per_tables import Table

    class Medium(Protocol):
        """Plays stations during its block."""

        def heard(self, done: Done) -> None:
            """Apply a client's change. Raises OSError or ValueError if that is not possible."""

    Play = Callable[[Loop, Stations, Table | None, Arguments, Say], AbstractContextManager[Medium]]

VERSION = f"{PROGRAM} v0.3.1 of dcflab: the version of wmediumd whose place it takes\n"
READY = "REGISTER SENT!"  # programs that start wmediumd wait for this line
FOREVER_NS = 10**18


class EndedError(Exception):
    """The program is told to end."""


def main(words: Sequence[str], play: Play) -> int:
    """Run the medium that `play` makes. Return the exit status."""
    try:
        asked = parse(words)
    except Misuse as error:
        print(f"{PROGRAM}: {error}\n{'':{len(PROGRAM)}}  try: {PROGRAM} -h", file=sys.stderr)
        return 2
    if asked.only:
        print(HELP if asked.only == "help" else VERSION, end="")
        return 0

    def say(level: int, sentence: str) -> None:
        if level <= asked.level:
            print(f"{PROGRAM}: {sentence}", file=sys.stderr, flush=True)

    try:
        found = read(asked)
        table = per_tables.read(asked.table) if asked.table else None
    except Misuse as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{PROGRAM}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    for warning in found.warnings:
        say(WARNING, warning)
    if os.geteuid():
        print(f"{PROGRAM}: only root may be the medium of a kernel's radios", file=sys.stderr)
        return 1
    try:
        serve(asked, found.stations, table, say, compat if asked.compat else play)
    except EndedError:
        return 0
    except (OSError, ValueError) as error:
        print(f"{PROGRAM}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    return 0


def read(asked: Arguments) -> Configuration:
    """Return the configuration; an empty one for -d."""
    if asked.config:
        return configuration.read(asked.config)
    return Configuration(Stations(mode=Mode.SPECIFIC))


def serve(asked: Arguments, stations: Stations, table: Table | None, say: Say, play: Play) -> NoReturn:
    """Run the medium until the program is told to end; then raises EndedError. Raises OSError or ValueError on
    failure."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    with ExitStack() as stack:
        loop = stack.enter_context(Loop())
        medium = stack.enter_context(play(loop, stations, table, asked, say))

        def heard(done: Done) -> None:
            if done.shutdown:
                raise EndedError
            try:
                medium.heard(done)
            except (OSError, ValueError) as error:
                say(ERROR, f"what a client asked for: {getattr(error, 'strerror', None) or error}")

        if asked.serve:
            stack.enter_context(server.Server(loop, stations, heard, say, asked.socket or server.PATH))
        print(READY, flush=True)
        say(NOTICE, f"{len(stations.all)} stations, {stations.mode.value}")
        while True:
            loop.run(time.monotonic_ns() + FOREVER_NS)


@contextmanager
def compat(loop: Loop, stations: Stations, table: Table | None, asked: Arguments, say: Say) -> Iterator[hwsim.Edge]:
    """wmediumd's own model."""
    with ExitStack() as stack:
        file = stack.enter_context(capture.Capture(asked.capture)) if asked.capture else None
        yield stack.enter_context(hwsim.Edge(loop, stations, table or formula.Formula(), asked.seed, say, file))


def _end(number: int, frame: FrameType | None) -> None:
    """Handle the signal once, so that nothing disturbs the cleanup."""
    signal.signal(number, signal.SIG_IGN)
    raise EndedError
