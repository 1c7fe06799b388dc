# SPDX-License-Identifier: BSD-3-Clause
"""The program. Exit status: 0 if a signal ended it, 1 for failure, 2 for misuse."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack, contextmanager

from emulation.features.wmediumd.inside import api, calendar, capture, configuration, formula, hwsim, server, vhost
from emulation.features.wmediumd.inside.arguments import ERROR, HELP, NOTICE, PROGRAM, WARNING, Arguments, parse
from emulation.features.wmediumd.inside.configuration import Configuration
from emulation.features.wmediumd.inside.control import Client
from emulation.features.wmediumd.inside.stations import Mode, Stations
from emulation.lane import per_tables
from emulation.lane.errors import Misuse
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import NoReturn, Protocol

    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.control import Reply
    from emulation.lane.per_tables import Table

    class Medium(Protocol):
        """Plays stations during its block."""

        def on_change(self, done: Reply) -> None:
            """Apply a client's change. Raises OSError or ValueError if that is not possible."""

    Play = Callable[[Loop, Stations, Table | None, Arguments, Say], AbstractContextManager[Medium]]

VERSION = f"{PROGRAM} v0.3.1 of dcflab: the version of wmediumd whose place it takes\n"
READY = "REGISTER SENT!"  # programs that start wmediumd wait for this line
FOREVER_NS = 10**18


class EndedError(Exception):
    """A signal or a client ends the program."""


def main(words: Sequence[str], play: Play) -> int:
    """Run the medium that `play` makes. Return the exit status."""
    try:
        arguments = parse(words)
    except Misuse as error:
        print(f"{PROGRAM}: {error}\n{'':{len(PROGRAM)}}  try: {PROGRAM} -h", file=sys.stderr)
        return 2
    if arguments.only:
        print(HELP if arguments.only == "help" else VERSION, end="")
        return 0

    def say(level: int, sentence: str) -> None:
        if level <= arguments.level:
            print(f"{PROGRAM}: {sentence}", file=sys.stderr, flush=True)

    try:
        found = read(arguments)
        table = per_tables.read(arguments.table) if arguments.table else None
    except Misuse as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{PROGRAM}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    for warning in found.warnings:
        say(WARNING, warning)
    if os.geteuid() and arguments.netlink:
        print(f"{PROGRAM}: only root may be the medium of a kernel's radios", file=sys.stderr)
        return 1
    try:
        serve(arguments, found.stations, table, say, compat if arguments.compat else play)
    except (EndedError, EOFError):
        return 0
    except (OSError, ValueError) as error:
        print(f"{PROGRAM}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    return 0


def read(arguments: Arguments) -> Configuration:
    """Return the configuration; an empty one for -d."""
    if arguments.config:
        return configuration.read(arguments.config)
    return Configuration(Stations(mode=Mode.SPECIFIC))


def serve(arguments: Arguments, stations: Stations, table: Table | None, say: Say, play: Play) -> NoReturn:
    """Run the medium until a signal or a client ends the program, and raise EndedError. Raises OSError or ValueError
    on failure."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    with ExitStack() as stack:
        loop = stack.enter_context(calendar.Calendar(arguments.time) if arguments.time else Loop())
        medium = stack.enter_context(play(loop, stations, table, arguments, say))

        def on_change(done: Reply) -> None:
            if done.shutdown:
                raise EndedError
            try:
                medium.on_change(done)
            except (OSError, ValueError) as error:
                say(ERROR, f"a client's request: {getattr(error, 'strerror', None) or error}")

        def control(_: socket.socket) -> server.Feed:
            client = Client(stations)

            def feed(data: bytes) -> Iterator[bytes]:
                for done in client.feed(data):
                    on_change(done)  # it is in force when the client has the answer
                    yield done.answer

            return feed

        if arguments.serve:
            stack.enter_context(server.Server(loop, control, say, arguments.socket or server.PATH))
        print(READY, flush=True)
        say(NOTICE, f"{len(stations.all)} stations, {stations.mode.value}")
        while True:
            loop.run(now_of(loop)() + FOREVER_NS)


@contextmanager
def compat(loop: Loop, stations: Stations, table: Table | None, arguments: Arguments, say: Say) -> Iterator[hwsim.Edge]:
    """wmediumd's own model."""
    with ExitStack() as stack:
        file = stack.enter_context(capture.Capture(arguments.capture)) if arguments.capture else None
        exact = bool(arguments.time)
        errors = table or formula.Formula()
        edge = hwsim.Edge(loop, stations, errors, arguments.seed, file, now_of(loop))
        if arguments.netlink:
            stack.enter_context(hwsim.Kernel(edge, say))
        if arguments.kernels:
            stack.enter_context(vhost.Server(loop, edge, exact, say, arguments.kernels))
        if path := arguments.api:
            stack.enter_context(server.Server(loop, lambda made: api.Client(edge, made, exact).feed, say, path))
        yield edge


def now_of(loop: Loop) -> Callable[[], int]:
    """Return what tells the time of a loop, in nanoseconds."""
    return loop.now if isinstance(loop, calendar.Calendar) else time.monotonic_ns


def _end(number: int, frame: FrameType | None) -> None:
    """Handle the signal once, so that nothing disturbs the cleanup."""
    signal.signal(number, signal.SIG_IGN)
    raise EndedError
