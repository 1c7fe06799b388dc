# SPDX-License-Identifier: BSD-3-Clause
"""What a lane in real time may reach outside: controllers of switches, by TCP.

The lane's process can reach nothing itself (`barriers`). It has one end of a socket, and asks at the other for
connections, each to an address (`emulation.lane.outside`). By default it gets the ports of OpenFlow at this machine's
own addresses. The user names any other.
"""

import contextlib
import io
import ipaddress
import socket
from collections.abc import Iterator, Sequence
from typing import cast

from emulation.lane.outside import Trunk, end, start

OPENFLOW_PORTS = (6653, 6633)
CONNECT_S = 3.0


def parse(address: str) -> tuple[str, int]:
    """Parse ADDRESS:PORT, with a numeric address. Raises ValueError."""
    ip, _, port = address.rpartition(":")
    try:
        found = str(ipaddress.ip_address(ip)), int(port)
    except ValueError:
        found = "", 0
    if not 0 < found[1] < 1 << 16:
        raise ValueError(f"{address} is not a numeric address and a port, as 192.168.1.5:6653")
    return found


def is_ours(ip: str) -> bool:
    """Return whether an address is one of this machine's."""
    with socket.socket(socket.AF_INET6 if ":" in ip else socket.AF_INET) as made:
        try:
            made.bind((ip, 0))
        except OSError:
            return False
    return not ipaddress.ip_address(ip).is_unspecified


class Gate:
    """The way out of one lane. `named` has the addresses that the user allows, as ADDRESS:PORT."""

    def __init__(self, named: Sequence[str] = ()) -> None:
        self.named = {parse(address) for address in named}

    def connect(self, address: str) -> socket.socket:
        """Connect to the address, "IP PORT", that a lane asks for. Raises OSError with why not."""
        try:
            ip, port = parse(address.replace(" ", ":"))
        except ValueError as error:
            raise OSError(str(error)) from None
        if (ip, port) not in self.named and not (port in OPENFLOW_PORTS and is_ours(ip)):
            raise OSError(f"To let the script reach a program outside there, add --outside {ip}:{port}.")
        try:
            made = socket.create_connection((ip, port), CONNECT_S)
        except OSError as error:
            raise OSError(f"Outside, too, nothing answers there ({error.strerror or error}).") from None
        made.settimeout(None)
        return made

    @contextlib.contextmanager
    def opened(self) -> Iterator[socket.socket]:
        """Open the gate, and yield the lane's end, until the lane has ended."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            thread = start(Trunk(cast(io.RawIOBase, ours.makefile("rwb", buffering=0)), self.connect).serve)
            try:
                yield theirs
            finally:
                end(ours)
                thread.join()
