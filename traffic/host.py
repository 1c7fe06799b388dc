# SPDX-License-Identifier: BSD-3-Clause
"""The interface of a host, for type checkers. A node of an emulated network is one (`emulation.lane.node`)."""

import subprocess
from collections.abc import Sequence
from typing import Any, Protocol


class Host(Protocol):
    """A network namespace, programs in it, and an address."""

    name: str

    def __enter__(self) -> object:
        """Put this thread into the host's namespace: sockets opened now are the host's. Does not nest."""

    def __exit__(self, *_: object) -> None: ...

    def IP(self) -> str:
        """Return its address, such as 10.0.0.1."""

    def popen(self, command: Sequence[str] | str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in it; a str is run by the shell. Options are those of subprocess.Popen."""

    def connections(self, port: int) -> list[dict[str, Any]]:
        """Return TCP_INFO (`traffic.tcp_info`) and `congestion` of each of its TCP connections from or to a port."""
