# SPDX-License-Identifier: BSD-3-Clause
"""A node's shell, as in Mininet: one bash for the life of the node, so that `cd`, variables and background jobs outlast
a command. The shell prints a byte at the end of each command."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
from subprocess import PIPE, STDOUT, Popen

from emulation.lane.clock import pause
from emulation.lane.node import Node

END = b"\x7f"
CHUNK = 1 << 16
# Its message may be redirected, so the name of a missing program also goes to a pipe, by its descriptor's number; that
# of one behind `sudo`, too (`emulation.lane.stand_ins`).
HANDLE = (
    "export LAB_LACKS={0}\n"
    'command_not_found_handle() {{ echo "$1" >&{0}; echo "bash: $1: command not found" >&2; return 127; }}\n'
)


class Shell:
    """The shell of a node in a lane."""

    def __init__(self, node: Node) -> None:
        self.node, command = node, ["bash", "--norc", "--noprofile"]
        self.lacks, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.process: Popen[bytes] = node.popen(
            command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, process_group=0, pass_fds=[writer]
        )
        os.close(writer)
        assert self.process.stdin and self.process.stdout
        self.keyboard, self.screen = self.process.stdin, self.process.stdout.fileno()
        self.keyboard.write(HANDLE.format(writer).encode())

    def begin(self, command: str) -> None:
        """Start a command, without access to the shell's input. Raises OSError if the shell has ended."""
        end = f"printf '\\{END[0]:o}'"
        self.node.take_start_time()
        self.keyboard.write(f"eval {shlex.quote(command)} </dev/null\n{end}\n".encode())
        self.keyboard.flush()

    def more(self, timeout_ms: float | None = None) -> tuple[bytes, bool]:
        """Wait for output, at most `timeout_ms` of the lane's time. Return it, and whether the command has ended."""
        poll = select.poll()
        poll.register(self.screen, select.POLLIN)
        if not poll.poll(timeout_ms):
            return b"", False
        data = os.read(self.screen, CHUNK)
        said, end, _ = data.partition(END)
        if end:
            pause()
        return said, bool(end) or not data

    def missing(self) -> list[str]:
        """Return the programs that the shell did not find since the last call."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self.lacks, CHUNK).decode(errors="replace").split()
        return []

    def close(self) -> None:
        """Kill the shell and its children."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):  # of input that was not read
            self.keyboard.close()
        self.process.stdout.close()  # type: ignore[union-attr]
        os.close(self.lacks)
