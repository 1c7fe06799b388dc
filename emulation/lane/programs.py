# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's programs that a network may run: where they are, also those that are root's; and those that a node
keeps running, without which it would be another network: their death ends the run."""

from __future__ import annotations

import errno
import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from traffic.loop import Loop

PATH = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


def find(program: str, package: str) -> str:
    """Where a program is. Raises OSError, with the package that has it, if it is not there."""
    import shutil

    if not (found := shutil.which(program, path=PATH)):
        raise OSError(errno.ENOENT, f"there is no {program} on this machine: install the package {package}")
    return found


def ended(where: str, program: str, status: int, said: str) -> OSError:
    """What to raise when one has ended that was to go on."""
    how = f"killed by signal {-status}" if status < 0 else f"with status {status}"
    return OSError(errno.ECHILD, f"{where}: {program} has ended, {how}. Its last words: {said or 'nothing'}")


def last_line(log: str) -> str:
    """Of a file that a program writes to."""
    with open(log, errors="replace") as file:
        return ["", *file.read().splitlines()][-1]


class Daemon:
    """A program that a node keeps running; `said` are the last words of one that has ended."""

    def __init__(self, where: str, program: str, process: subprocess.Popen[bytes], said: Callable[[], str]) -> None:
        self.where, self.program, self.process, self.said = where, program, process, said
        self.descriptor = -1

    def check(self) -> None:
        """Raises OSError if it has ended."""
        if self.process.poll() is not None:
            raise ended(self.where, self.program, self.process.returncode, self.said())

    def watch(self, loop: Loop) -> None:
        """Its end ends the run: OSError comes out of the loop."""
        self.check()
        self.descriptor = os.pidfd_open(self.process.pid)
        loop.watch(self.descriptor, select.EPOLLIN, self.check)

    def unwatch(self, loop: Loop) -> None:
        if self.descriptor >= 0:
            loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
