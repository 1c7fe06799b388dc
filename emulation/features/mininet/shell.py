# SPDX-License-Identifier: BSD-3-Clause
"""A node's shell, as Mininet's nodes have one: a bash that lives as long as the node, so that `cd`, variables and what
runs in the background outlast a command. The end of a command is told by a byte that it says after it."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
from subprocess import PIPE, STDOUT, Popen

from emulation.lane.node import Node

END = b"\x7f"
CHUNK = 1 << 16


class Shell:
    """The shell of a node in a lane."""

    def __init__(self, node: Node) -> None:
        command = ["bash", "--norc", "--noprofile"]
        self.process: Popen[bytes] = node.popen(command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, process_group=0)
        assert self.process.stdin and self.process.stdout
        self.keyboard, self.screen = self.process.stdin, self.process.stdout.fileno()
        self.rest = b""

    def begin(self, command: str) -> None:
        """Let it run a command, which is not to read what comes after it. Raises OSError if the shell has ended."""
        end = f"printf '\\{END[0]:o}'"
        self.keyboard.write(f"eval {shlex.quote(command)} </dev/null\n{end}\n".encode())
        self.keyboard.flush()

    def more(self, timeout_ms: float | None = None) -> tuple[bytes, bool]:
        """What the command has said since, and whether that is its end; waits for something, or so long (in the lane's
        time)."""
        poll = select.poll()
        poll.register(self.screen, select.POLLIN)
        if not poll.poll(timeout_ms):
            return b"", False
        data = os.read(self.screen, CHUNK)
        said, end, _ = data.partition(END)
        return said, bool(end) or not data

    def close(self) -> None:
        """End it, and what it has started, at once."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):  # what it has not read any more
            self.keyboard.close()
        self.process.stdout.close()  # type: ignore[union-attr]
