# SPDX-License-Identifier: BSD-3-Clause
"""Connections of a lane in real time to programs outside it: controllers of switches.

One stream leads out of the lane, a *trunk*, which carries all connections. In the lane a program outside is reached at
its own address: what listens there passes each connection on. The end outside decides what may be reached
(`emulation.lanes.virtual.gate`). A lane in virtual time has no trunk: what comes from outside does not follow from the
seed.

Each record has the number of a connection, its kind and length, and its content: for `ASK` and `OPEN` the address, for
the answer to `ASK` why it cannot be reached (empty: it can), for `DATA` what is sent. The lane's end opens connections;
the other answers `OPEN` or `END`.
"""

from __future__ import annotations

import contextlib
import glob
import os
import queue
import socket
import struct
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import RawIOBase

NAME = "outside"  # of the port of the lane `vm`
ASK, OPEN, DATA, END = range(4)
HEAD = struct.Struct("!IBH")
BLOCK = 1 << 14  # octets of a record at most
MOST = 256  # connections at once
TAKEN = struct.pack("@ll", 10, 0)  # a program that takes nothing for these seconds is disconnected: others wait for it
ANSWER_S, THERE_S = 10.0, 2.0
PORTS, DEVICES = "/sys/class/virtio-ports/*/name", "/dev"
EVENTS_OF_DEVICES = 15, 1  # netlink: NETLINK_KOBJECT_UEVENT, and its group of the kernel's own
VIRTUAL = "A program outside the lane is reached in real time only: add --lane vm --clock real."

descriptor = -1  # of the trunk, if the lane was started with one
_trunk: Trunk | None = None


class Trunk:
    """One end of a trunk. `connect` makes the connection that the other end wants, or raises OSError with why not."""

    def __init__(self, stream: RawIOBase, connect: Callable[[str], socket.socket] | None = None) -> None:
        self.stream, self.connect = stream, connect
        self.sending, self.room = threading.Lock(), threading.Semaphore(MOST)
        self.made: dict[int, socket.socket] = {}
        self.waiting: dict[int, threading.Event] = {}  # until the other end has opened the connection, or not
        self.numbers = 0
        self.answers = queue.SimpleQueue[str]()

    def serve(self) -> None:
        """Carry out what the other end sends, until it ends."""
        with contextlib.suppress(OSError, ValueError):
            while len(head := self.read(HEAD.size)) == HEAD.size:
                number, kind, length = HEAD.unpack(head)
                content = self.read(length)
                if kind in (ASK, OPEN) and self.connect:
                    if not self.room.acquire(blocking=False):
                        self.send(number, kind if kind == ASK else END, b"There are too many connections.")
                        continue
                    start(self.answer, number, kind, content.decode(errors="replace"))
                elif kind == ASK:
                    self.answers.put(content.decode(errors="replace"))
                elif made := self.made.get(number):
                    if kind == DATA:
                        pass_on(made, content)
                        continue
                    if kind == END:
                        end(made)
                    if number in self.waiting:
                        self.waiting[number].set()
        for made in list(self.made.values()):
            end(made)
        for waiting in list(self.waiting.values()):
            waiting.set()

    def answer(self, number: int, kind: int, address: str) -> None:
        """Connect to an address, as the other end wants, and carry what comes from there."""
        assert self.connect
        try:
            try:
                made, why = self.connect(address), ""
            except OSError as error:
                made, why = None, str(error)
            if made and kind == OPEN and number not in self.made:
                self.carry(number, made)
            else:
                self.tell(number, kind if kind == ASK else END, why.encode()[:BLOCK])
                if made:
                    made.close()
        finally:
            self.room.release()

    def ask(self, address: str) -> str:
        """Return why a program outside cannot be reached; empty: it can."""
        self.tell(0, ASK, address.encode())
        try:
            return self.answers.get(timeout=ANSWER_S)
        except queue.Empty:
            return f"Outside, too, nothing answers within {ANSWER_S:g} s."

    def listen(self, listener: socket.socket, address: str) -> None:
        """Pass on each connection that a program of the lane makes, to an address outside."""
        while True:
            made, _ = listener.accept()
            self.numbers += 1
            start(self.carry, self.numbers, made, address)

    def carry(self, number: int, made: socket.socket, address: str = "") -> None:
        """Send what a connection receives, until it ends; with an address, first let the other end connect to it."""
        with made:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, TAKEN)
            self.made[number], self.waiting[number] = made, threading.Event()
            self.tell(number, OPEN, address.encode())
            if address:
                self.waiting[number].wait()
            with contextlib.suppress(OSError, ValueError):
                while received := made.recv(BLOCK):
                    self.send(number, DATA, received)
            del self.made[number], self.waiting[number]
        self.tell(number, END)

    def tell(self, number: int, kind: int, content: bytes = b"") -> None:
        """Send a record, unless the trunk has ended."""
        with contextlib.suppress(OSError, ValueError):
            self.send(number, kind, content)

    def send(self, number: int, kind: int, content: bytes = b"") -> None:
        with self.sending:
            left = memoryview(HEAD.pack(number, kind, len(content)) + content)
            while left:
                left = left[self.stream.write(left) or 0 :]

    def read(self, length: int) -> bytes:
        """Return so many octets; fewer at the end."""
        found = b""
        while len(found) < length and (more := self.stream.read(length - len(found))):
            found += more
        return found


def pass_on(made: socket.socket, content: bytes) -> None:
    try:
        made.sendall(content)
    except OSError:  # it has ended, or takes nothing
        end(made)


def end(made: socket.socket) -> None:
    """End a connection; the thread that receives from it closes it."""
    with contextlib.suppress(OSError):
        made.shutdown(socket.SHUT_RDWR)


def start(function: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def reach(ip: str, port: int) -> str:
    """Let a program outside answer in this namespace, at its own address, which is one of the namespace's. Return why
    it cannot be reached; empty: it can. Raises OSError if a program of the lane has the address."""
    global _trunk
    if _trunk is None:
        if not (stream := trunk_stream()):
            return VIRTUAL
        _trunk = Trunk(stream)
        start(_trunk.serve)
    if not (why := _trunk.ask(address := f"{ip} {port}")):
        start(_trunk.listen, socket.create_server((ip, port)), address)
    return why


def trunk_stream() -> RawIOBase | None:
    """Return the lane's end of the trunk, if it has one. In the lane `vm` it is a port of virtio, which appears soon
    after the start."""
    if descriptor >= 0:
        return open(descriptor, "r+b", buffering=0)
    if os.environ.get("DCFLAB_CLOCK") != "real":
        return None
    deadline = time.monotonic() + THERE_S
    family, group = EVENTS_OF_DEVICES
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as events:
        events.bind((0, group))
        while not (port := port_named(NAME)) and (left_s := deadline - time.monotonic()) > 0:
            events.settimeout(left_s)
            with contextlib.suppress(OSError):  # the time is over, or there were more events than it holds
                events.recv(BLOCK)
    return open(port, "r+b", buffering=0) if port else None


def port_named(wanted: str) -> str:
    """Return the device of a port; empty if there is none with this name."""
    for file in glob.glob(PORTS):
        with open(file) as name:
            if name.read().strip() == wanted:
                return f"{DEVICES}/{file.split('/')[-2]}"
    return ""
