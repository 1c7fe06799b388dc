# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's hostapd and wpa_supplicant.

Each runs in a node's network namespace, with a configuration file, and prints events on its standard output. Code that
waits for an event waits for a line of the output.

If nobody reads the output, the pipe fills up and the program blocks. So all programs of a link are read whenever one of
them is waited for, and in a loop while a measurement runs.
"""

from __future__ import annotations

import itertools
import os
import select
import time

from emulation.lane import programs
from emulation.lane.clock import wait_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from emulation.lane.node import Node
    from traffic.loop import Loop

LAST_LINES = 4
NUMBERS = itertools.count(1)
controlled = False  # whether hostapd_cli can reach hostapd: in scripts, as the socket takes random bytes


class Program:
    """A running program. `lines` has its output so far, as (CLOCK_MONOTONIC in ns, line)."""

    def __init__(self, node: Node, program: str, settings: str, arguments: Sequence[str] = ()) -> None:
        from subprocess import DEVNULL, PIPE, STDOUT

        self.node, self.name, self.arguments = node, program, arguments
        self.lines: list[tuple[int, str]] = []
        file = f"/run/{program}-{node.name}-{next(NUMBERS)}.conf"  # one for each radio
        with open(file, "w") as config:
            config.write(settings)
        command = [programs.find(program), *arguments, file]
        self.process = node.popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, process_group=0)
        assert self.process.stdout
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)
        self.incomplete = b""

    def read(self) -> None:
        """Read its output. Raises OSError if the program has ended."""
        try:
            while data := os.read(self.output, 1 << 16):
                *lines, self.incomplete = (self.incomplete + data).split(b"\n")
                self.lines += [(time.monotonic_ns(), line.decode(errors="replace")) for line in lines]
        except BlockingIOError:
            return
        last = "; ".join(line for _, line in self.lines[-LAST_LINES:])
        raise programs.ended_error(self.node.name, self.name, self.process.wait(), last)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]


class Programs:
    """The programs of a link."""

    def __init__(self) -> None:
        self.running: list[Program] = []

    def start(self, node: Node, program: str, settings: str, arguments: Sequence[str] = ()) -> Program:
        """Start a program. Raises OSError if that fails."""
        self.running.append(Program(node, program, settings, arguments))
        return self.running[-1]

    def wait(self, program: Program, match: Callable[[str], Any], seconds: float) -> Any:
        """Wait until `match` returns a true value for a new line of this program, and return that value. Return None
        after `seconds`. Raises OSError if a program of the link has ended."""
        seen = len(program.lines)

        def found() -> Any:
            nonlocal seen
            for each in self.running:
                each.read()
            before, seen = seen, len(program.lines)
            return next(filter(None, (match(line) for _, line in program.lines[before:])), None)

        return wait_until(found, seconds, *(each.output for each in self.running))

    def watch(self, loop: Loop, first: int = 0) -> None:
        """Read the programs' output in a loop, from this one on. If a program ends, the loop raises OSError."""
        for one in self.running[first:]:
            loop.watch(one.output, select.EPOLLIN, one.read)

    def unwatch(self, loop: Loop) -> None:
        for one in self.running:
            loop.forget(one.output)

    def stop(self) -> None:
        while self.running:
            self.running.pop().stop()
