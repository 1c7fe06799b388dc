# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's vhost-user socket: the radios of other kernels, whose hwsim is a virtio device of ours.

A kernel, such as User-Mode Linux with `virtio_uml.device=SOCKET:29`, connects, and shares its memory and two virtqueues
with us: TX 0 and RX 1. Each of their buffers has one message of hwsim's netlink family. A notice of new buffers is a
message in both directions, or an eventfd, as the kernel chooses. Sources: the vhost-user protocol of QEMU's
documentation; virtio 1.2, 2.7 (split virtqueues).

Nothing that a kernel says is believed: what lies outside its memory, or cannot be a message, ends its connection.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import os
import select
import socket
import struct
from dataclasses import dataclass
from functools import partial

from emulation.features.wmediumd.inside import server
from emulation.features.wmediumd.inside.arguments import WARNING
from emulation.features.wmediumd.inside.control import UnknownError
from emulation.lane import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.hwsim import Edge
    from traffic.loop import Loop

    Part = tuple[int, int, bool]  # of a buffer: address, length, whether we may write


class Request(enum.IntEnum):
    """What a kernel sends."""

    GET_FEATURES, SET_FEATURES, SET_OWNER, RESET_OWNER, SET_MEM_TABLE = range(1, 6)
    SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE, GET_VRING_BASE = range(8, 12)
    SET_VRING_KICK, SET_VRING_CALL, SET_VRING_ERR = range(12, 15)
    GET_PROTOCOL_FEATURES, SET_PROTOCOL_FEATURES = 15, 16
    SET_VRING_ENABLE, SET_SLAVE_REQ_FD, VRING_KICK = 18, 21, 35


HEADER = struct.Struct("=III")  # request, flags, bytes that follow
VERSION, REPLY, NEED_REPLY = 1, 1 << 2, 1 << 3  # flags
STATE = struct.Struct("=II")  # a virtqueue's number, a value
NUMBER = struct.Struct("=Q")
ANSWER = HEADER.size + NUMBER.size  # bytes
ADDRESSES = struct.Struct("=IIQQQQ")  # number, flags; descriptors, used ring, available ring, log
REGION = struct.Struct("=QQQQ")  # address for the kernel, size, address for its program, offset in the file
FEATURES = 1 << 32 | 1 << 30  # VIRTIO_F_VERSION_1, VHOST_USER_F_PROTOCOL_FEATURES
PROTOCOL_FEATURES = 1 << 3 | 1 << 5 | 1 << 14  # REPLY_ACK, SLAVE_REQ, INBAND_NOTIFICATIONS
VRING_CALL = 4  # our request: there are used buffers
NO_DESCRIPTOR = 1 << 8  # beside a virtqueue's number: no eventfd follows
LONGEST = 1 << 14  # bytes of a request, and of a netlink message
MOST_DESCRIPTORS = 16  # that wait for their message
TX, RX = range(2)
DESCRIPTOR = struct.Struct("<QIHH")  # address, length, flags, next
USED, WORD = struct.Struct("<II"), struct.Struct("<H")  # number and bytes of a used buffer; an index, or flags
NEXT, WRITE = 1, 2
NO_INTERRUPT = 1  # flag of the available ring
MOST_BUFFERS = 1024  # of a virtqueue
WAITING = 1024  # messages for a kernel that has no free buffer; hwsim's netlink socket drops some, too


class Memory:
    """What a kernel shares, by its addresses. It is read and written as files, not mapped: a file that its owner cuts
    short would end a program that has mapped it."""

    def __init__(self) -> None:
        self.regions: list[tuple[int, int, int, int, int]] = []  # see REGION; file descriptor

    def find(self, address: int, length: int, users: bool) -> tuple[int, int]:
        """Return the file, and the place in it, of an address of the kernel or of its program. Raises UnknownError."""
        for guest, size, user, offset, descriptor in self.regions:
            place = address - (user if users else guest)
            if 0 <= place <= size - length:
                return descriptor, offset + place
        raise UnknownError(f"{length} bytes at {address:#x} are not in shared memory")

    def read(self, address: int, length: int, users: bool = False) -> bytes:
        descriptor, place = self.find(address, length, users)
        data = os.pread(descriptor, length, place)
        if len(data) < length:
            raise UnknownError(f"{length} bytes at {address:#x} are beyond the end of shared memory")
        return data

    def write(self, address: int, data: bytes, users: bool = False) -> None:
        descriptor, place = self.find(address, len(data), users)
        os.pwrite(descriptor, data, place)

    def close(self) -> None:
        for *_, descriptor in self.regions:
            os.close(descriptor)
        self.regions.clear()


@dataclass
class Ring:
    """One virtqueue: where its three parts are, and how far we are."""

    memory: Memory
    size: int = 0
    descriptors: int = 0
    used: int = 0
    available: int = 0
    enabled: bool = False
    next: int = 0  # the available buffer that we take next
    done: int = 0  # the buffers that we have returned
    kick: int = -1  # eventfds
    call: int = -1

    def take(self) -> tuple[int, list[Part]] | None:
        """Take the next buffer: its number and its parts. None: there is none. Raises UnknownError if it cannot be
        one."""
        if not self.enabled or not self.size or not self.available or self._word(self.available + 2) == self.next:
            return None
        head = following = self._word(self.available + 4 + 2 * (self.next % self.size))
        self.next = (self.next + 1) & 0xFFFF
        parts: list[Part] = []
        flags = NEXT
        while flags & NEXT:
            if following >= self.size or len(parts) == self.size:
                raise UnknownError("a buffer whose descriptors do not end")
            place = self.descriptors + DESCRIPTOR.size * following
            address, length, flags, following = DESCRIPTOR.unpack(self.memory.read(place, DESCRIPTOR.size, users=True))
            parts.append((address, length, bool(flags & WRITE)))
        return head, parts

    def give(self, head: int, written: int) -> bool:
        """Return a buffer, with as many bytes written. Return whether the kernel wants a notice."""
        place = self.used + 4 + USED.size * (self.done % self.size)
        self.memory.write(place, USED.pack(head, written), users=True)
        self.done = (self.done + 1) & 0xFFFF
        self.memory.write(self.used + 2, WORD.pack(self.done), users=True)
        return not self._word(self.available) & NO_INTERRUPT

    def _word(self, address: int) -> int:
        return int(WORD.unpack(self.memory.read(address, WORD.size, users=True))[0])


class Guest:
    """One kernel. `exact`: its time is that of a scheduler, so it answers each notice before time goes on."""

    all_frames, both_names = False, True

    def __init__(self, medium: Edge, loop: Loop, exact: bool, say: Say, drop: Callable[[Exception], None]) -> None:
        self.medium, self.loop, self.exact, self.say, self.drop = medium, loop, exact, say, drop
        self.received, self.descriptors = b"", list[int]()
        self.memory = Memory()
        self.rings = Ring(self.memory), Ring(self.memory)
        self.backchannel: socket.socket | None = None
        self.waiting: collections.deque[bytes] = collections.deque()
        self.open, self.lost = True, False
        medium.register(self)

    def close(self) -> None:
        self.open = False
        self.medium.unregister(self)
        for ring in self.rings:
            self._forget(ring)
        for descriptor in self.descriptors:
            os.close(descriptor)
        if self.backchannel:
            self.backchannel.close()
        self.memory.close()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Carry out requests, and yield their answers. Raises UnknownError for what cannot be a request, OSError."""
        self.received += data
        while len(self.received) >= HEADER.size:
            request, flags, length = HEADER.unpack_from(self.received)
            if length > LONGEST or flags & 3 != VERSION or len(self.descriptors) > MOST_DESCRIPTORS:
                raise UnknownError(f"request {request} with flags {flags:#x} and {length} bytes")
            if len(self.received) < HEADER.size + length:
                return
            body = self.received[HEADER.size : HEADER.size + length]
            self.received = self.received[HEADER.size + length :]
            try:
                answer = self._do(request, body)
            except (struct.error, IndexError):
                raise UnknownError(f"request {request} with {length} bytes") from None
            if answer is None and flags & NEED_REPLY:
                answer = NUMBER.pack(0)
            if answer is not None:
                yield HEADER.pack(request, VERSION | REPLY, len(answer)) + answer

    def _do(self, request: int, body: bytes) -> bytes | None:
        """Carry out a request. Return its answer, None if success is all that there is to say."""
        match request:
            case Request.GET_FEATURES:
                return NUMBER.pack(FEATURES)
            case Request.GET_PROTOCOL_FEATURES:
                return NUMBER.pack(PROTOCOL_FEATURES)
            case Request.SET_FEATURES | Request.SET_PROTOCOL_FEATURES | Request.SET_OWNER | Request.RESET_OWNER:
                pass
            case Request.SET_MEM_TABLE:
                self._share(body)
            case Request.SET_SLAVE_REQ_FD:
                self.backchannel = socket.socket(fileno=self._descriptor())
                self.backchannel.settimeout(server.SEND_TIMEOUT_S)
            case Request.SET_VRING_KICK | Request.SET_VRING_CALL | Request.SET_VRING_ERR:
                self._eventfd(request, *NUMBER.unpack(body))
            case Request.SET_VRING_ADDR:
                number, _, descriptors, used, available, _ = ADDRESSES.unpack(body)
                ring = self.rings[number]
                ring.descriptors, ring.used, ring.available = descriptors, used, available
            case Request.SET_VRING_NUM | Request.SET_VRING_BASE | Request.SET_VRING_ENABLE | Request.GET_VRING_BASE:
                return self._state(request, *STATE.unpack(body))
            case Request.VRING_KICK:
                self._kicked(STATE.unpack(body)[0])
            case _:
                raise UnknownError(f"request {request} is not served")
        return None

    def _descriptor(self) -> int:
        """Return the file descriptor that came with a request."""
        if not self.descriptors:
            raise UnknownError("a request without its file descriptor")
        return self.descriptors.pop(0)

    def _share(self, body: bytes) -> None:
        (count,) = struct.unpack_from("=I", body)
        self.memory.close()
        for number in range(count):
            region = REGION.unpack_from(body, 8 + number * REGION.size)
            self.memory.regions.append((*region, self._descriptor()))

    def _state(self, request: int, number: int, value: int) -> bytes | None:
        ring = self.rings[number]
        if request == Request.SET_VRING_NUM:
            if not 0 < value <= MOST_BUFFERS or value & (value - 1):
                raise UnknownError(f"a virtqueue of {value} buffers")
            ring.size = value
        elif request == Request.SET_VRING_BASE:
            ring.next = ring.done = value & 0xFFFF
        else:
            ring.enabled = request == Request.SET_VRING_ENABLE and bool(value)
            if request == Request.GET_VRING_BASE:
                self._forget(ring)
                return STATE.pack(number, ring.next)
        return None

    def _eventfd(self, request: int, value: int) -> None:
        ring = self.rings[value & 0xFF]
        descriptor = -1 if value & NO_DESCRIPTOR else self._descriptor()
        if request == Request.SET_VRING_KICK:
            self._forget(ring, call=False)
            ring.kick = descriptor
            if descriptor >= 0:
                os.set_blocking(descriptor, False)
                self.loop.watch(descriptor, select.EPOLLIN, lambda: self._rung(ring))
        elif request == Request.SET_VRING_CALL:
            self._forget(ring, kick=False)
            ring.call = descriptor
            if descriptor >= 0:
                os.set_blocking(descriptor, False)
        elif descriptor >= 0:
            os.close(descriptor)  # nothing is ever said there

    def _forget(self, ring: Ring, kick: bool = True, call: bool = True) -> None:
        """Close a virtqueue's eventfds."""
        if kick and ring.kick >= 0:
            self.loop.forget(ring.kick)
            os.close(ring.kick)
            ring.kick = -1
        if call and ring.call >= 0:
            os.close(ring.call)
            ring.call = -1

    def _rung(self, ring: Ring) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(ring.kick, NUMBER.size)
        self._kicked(self.rings.index(ring))

    def _kicked(self, number: int) -> None:
        """Look at new buffers once the kernel has our answer, for which it waits. Raises IndexError for a number that
        no virtqueue has."""
        self.loop.at(0, partial(self._serve, (TX, RX)[number]))

    def _take(self, parts: list[Part]) -> int:
        """Take what the kernel's radios send."""
        room, message = LONGEST, b""
        for address, length, writable in parts:
            if not writable and length <= room - len(message):
                message += self.memory.read(address, length)
        with contextlib.suppress(ValueError, IndexError, struct.error):  # what is no frame is ignored
            ((_, _, _, body),) = netlink.messages(message[: netlink.number(message[:4])])
            self.medium.take(body, self)
        return 0

    def send(self, message: bytes) -> None:
        """Send a netlink message, now or when the kernel has a free buffer."""
        if len(self.waiting) < WAITING:
            self.waiting.append(message)
        elif not self.lost:
            self.lost = True
            self.say(WARNING, "frames were lost: a kernel does not take them")
        self._serve(RX)

    def _fill(self, parts: list[Part]) -> int:
        """Fill a buffer with the next message; return its length, or 0 if there is no room for it."""
        message = self.waiting.popleft()
        if sum(length for _, length, writable in parts if writable) < len(message):
            return 0
        done = 0
        for address, length, writable in parts:
            if writable:
                piece = message[done : done + length]
                self.memory.write(address, piece)
                done += len(piece)
        return done

    def _serve(self, number: int) -> None:
        """Take buffers of a virtqueue and return them used, while there is something to do; then tell the kernel."""
        ring, use, notice = self.rings[number], (self._take, self._fill)[number], False
        try:
            while self.open and (number == TX or self.waiting) and (taken := ring.take()):
                head, parts = taken
                notice |= ring.give(head, use(parts))
            if self.open and notice:
                self._call(ring, number)
        except (UnknownError, OSError) as error:
            self.drop(error)

    def _call(self, ring: Ring, number: int) -> None:
        """Tell the kernel of used buffers."""
        if ring.call >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(ring.call, NUMBER.pack(1))
        elif self.backchannel:
            flags = VERSION | NEED_REPLY * self.exact
            self.backchannel.sendall(HEADER.pack(VRING_CALL, flags, STATE.size) + STATE.pack(number, 0))
            answered = b"" if self.exact else bytes(ANSWER)
            while len(answered) < ANSWER:
                piece = self.backchannel.recv(ANSWER - len(answered))
                if not piece:
                    raise UnknownError("it closed its backchannel")
                answered += piece


class Server(server.Server):
    """Listens for kernels until the end of the block. Raises OSError as `server.Server`."""

    def __init__(self, loop: Loop, medium: Edge, exact: bool, say: Say, path: str) -> None:
        self.guests: dict[int, Guest] = {}

        def connect(connection: socket.socket) -> server.Feed:
            number = connection.fileno()
            guest = Guest(medium, loop, exact, say, lambda error: self._fail(number, error))
            self.guests[number] = guest
            return guest.feed

        super().__init__(loop, connect, say, path)

    def _receive(self, connection: socket.socket) -> bytes:
        data, descriptors, _, _ = socket.recv_fds(
            connection, server.READ_SIZE, MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        self.guests[connection.fileno()].descriptors += descriptors
        return data

    def _drop(self, descriptor: int) -> None:
        super()._drop(descriptor)
        self.guests.pop(descriptor).close()
