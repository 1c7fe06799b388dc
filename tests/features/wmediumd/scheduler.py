# SPDX-License-Identifier: BSD-3-Clause
"""A scheduler for programs that share one time (the kernel's include/uapi/linux/um_timetravel.h): the one with the
earliest request runs, once all that take part wait. `SOCKET COUNT`; ends with the first that ends."""

import select
import socket
import struct
import sys

ACK, START, REQUEST, WAIT, GET, UPDATE, RUN = range(7)
MESSAGE = struct.Struct("=IIQ")


class Part:
    """A program: its name, when it wants to run, and whether it waits."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.name, self.wanted, self.waits = connection, 0, 0, False


def main(path: str, count: int) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("listening", flush=True)
    parts: dict[int, Part] = {}
    now = 0
    while True:
        ready, _, _ = select.select([listener, *parts], [], [])
        for one in ready:
            if one is listener:
                made = Part(listener.accept()[0])
                parts[made.connection.fileno()] = made
                continue
            part = parts[one]
            data = part.connection.recv(MESSAGE.size, socket.MSG_WAITALL)
            if not data:
                return
            op, number, time = MESSAGE.unpack(data)
            if op == ACK:
                continue
            if op == START:
                part.name = time
            elif op == REQUEST:
                part.wanted = time
            elif op == WAIT:
                part.waits = True
            elif op == UPDATE:
                now = max(now, time)
            part.connection.sendall(MESSAGE.pack(ACK, number, now))
        if len(parts) == count and all(part.waits for part in parts.values()):
            part = min(parts.values(), key=lambda each: (each.wanted, each.name))
            now, part.waits = max(now, part.wanted), False
            part.connection.sendall(MESSAGE.pack(RUN, 0, now))


main(sys.argv[1], int(sys.argv[2]))
