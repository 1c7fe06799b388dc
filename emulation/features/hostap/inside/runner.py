# SPDX-License-Identifier: BSD-3-Clause
"""Runs hostap's runner of tests. Each request to a daemon and each start of a program takes a moment, as on a machine.

In virtual time computing takes none. A test would otherwise send data a few microseconds after a station has said that
it is connected, and before the other end has heard of it.
"""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Popen = subprocess.Popen[Any]
else:
    Popen = subprocess.Popen

MOMENT_S = 0.001  # for Python and its log, and for a process


class Socket(socket.socket):
    """What the tests send by: hostap's wpaspy has datagrams of a UNIX socket."""

    def send(self, *data: Any) -> int:
        time.sleep(MOMENT_S)
        return super().send(*data)


class Process(Popen):
    """A program that a test starts, such as ip."""

    def __init__(self, *words: Any, **options: Any) -> None:
        time.sleep(MOMENT_S)
        super().__init__(*words, **options)


if __name__ == "__main__":
    socket.socket, subprocess.Popen = Socket, Process  # type: ignore[misc]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))  # as if it was the program
    runpy.run_path(sys.argv[0], run_name="__main__")
