# SPDX-License-Identifier: BSD-3-Clause
"""Netlink: the kernel's interface for links, addresses, routes and radios.

A message is a header and a list of attributes. The kernel answers with messages and one acknowledgement, which holds an
error number and, in its extended form, a text. `Netlink` sends and waits; `Generic` finds families (nl80211, hwsim, the
air) by name. A socket belongs to the network namespace in which its thread opened it.

pyroute2 does all of this and more, but importing it takes 0.6 s in the virtual lane, half of a whole run.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    Value = bytes | str | int | list[tuple[int, "Value"]]
    Attributes = dict[int, bytes]

HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
GENERIC_HEADER = struct.Struct("=BBH")  # command, version, reserved
REQUEST, ACK, DUMP, CREATE, EXCLUSIVE, REPLACE = 0x1, 0x4, 0x300, 0x400, 0x200, 0x100
ERROR, DONE = 2, 3  # message types
ACK_CAPPED, ACK_ATTRIBUTES = 0x100, 0x200  # flags of an ERROR or DONE message
SENTENCE = 1  # NLMSGERR_ATTR_MSG
SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK = 270, 1, 10, 11
NESTED, TYPE_MASK = 0x8000, 0x3FFF

# include/uapi/linux/genetlink.h: the controller, which lists the other families
NETLINK_GENERIC = 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 0x10, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 1, 2, 7
CTRL_ATTR_MCAST_GRP_NAME, CTRL_ATTR_MCAST_GRP_ID = 1, 2


class NetlinkError(OSError):
    """The kernel refused a request, or a message is malformed. `strerror` has the request and the answer."""


def build(attributes: Iterable[tuple[int, Value]]) -> bytes:
    """Encode attributes: bytes as they are, str with a final NUL, int as u32, a list as a nest. Raises NetlinkError if
    a payload exceeds the 16-bit length."""
    out = bytearray()
    for kind, value in attributes:
        if isinstance(value, list):
            kind, value = kind | NESTED, build(value)
        elif isinstance(value, str):
            value = value.encode() + b"\0"
        elif isinstance(value, int):
            value = struct.pack("=I", value)
        if len(value) > 0xFFFF - 4:
            raise NetlinkError(errno.EMSGSIZE, f"attribute {kind & TYPE_MASK} is too long: {len(value)} bytes")
        out += struct.pack("=HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)
    return bytes(out)


def attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Decode attributes in their order. Raises NetlinkError if a length does not fit."""
    found, at = [], 0
    while at < len(data):
        if len(data) - at < 4:
            raise NetlinkError(errno.EBADMSG, f"attribute header cut short at byte {at}")
        length, kind = struct.unpack_from("=HH", data, at)
        if not 4 <= length <= len(data) - at:
            raise NetlinkError(errno.EBADMSG, f"attribute {kind & TYPE_MASK} at byte {at} claims {length} bytes")
        found.append((kind & TYPE_MASK, data[at + 4 : at + length]))
        at += (length + 3) & ~3
    return found


def parse(data: bytes) -> Attributes:
    """Decode attributes by type; the last of a repeated one counts. Raises NetlinkError as `attributes` does."""
    return dict(attributes(data))


def number(payload: bytes) -> int:
    """Return the value of an unsigned integer attribute."""
    return int.from_bytes(payload, "little")


def numbers(payload: bytes) -> list[int]:
    """Return the values of an attribute that is an array of unsigned 64-bit integers."""
    return list(struct.unpack(f"={len(payload) // 8}Q", payload))


def text(payload: bytes) -> str:
    return payload.rstrip(b"\0").decode(errors="replace")


def messages(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Split a datagram into (type, flags, sequence, payload). Raises NetlinkError if a length does not fit."""
    found, at = [], 0
    while at < len(data):
        if len(data) - at < HEADER.size:
            raise NetlinkError(errno.EBADMSG, f"message header cut short at byte {at}")
        length, kind, flags, sequence, _ = HEADER.unpack_from(data, at)
        if not HEADER.size <= length <= len(data) - at:
            raise NetlinkError(errno.EBADMSG, f"message at byte {at} claims {length} bytes")
        found.append((kind, flags, sequence, data[at + HEADER.size : at + length]))
        at += (length + 3) & ~3
    return found


def acknowledgement(kind: int, flags: int, payload: bytes) -> tuple[int, str]:
    """Return the error number (0: none) and the kernel's text of an ERROR or DONE message."""
    if len(payload) < 4:
        raise NetlinkError(errno.EBADMSG, "acknowledgement cut short")
    (result,) = struct.unpack_from("=i", payload)
    if not flags & ACK_ATTRIBUTES:
        return -result, ""
    skip = 4
    if kind == ERROR:  # contains the request, or only its header
        if len(payload) < 4 + HEADER.size:
            raise NetlinkError(errno.EBADMSG, "acknowledgement without the request's header")
        skip += HEADER.size if flags & ACK_CAPPED else (HEADER.unpack_from(payload, 4)[0] + 3) & ~3
    return -result, text(parse(payload[skip:]).get(SENTENCE, b""))


class Netlink:
    """A netlink socket of one protocol, and a context manager. The kernel chooses the port if it is 0."""

    def __init__(self, protocol: int, port: int = 0) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        self.socket.bind((port, 0))
        self.socket.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        self.sequence = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def request(self, kind: int, payload: bytes, flags: int = 0, what: str = "request") -> list[bytes]:
        """Send a request and return the payloads of the answers, in order; with DUMP in `flags`, all parts. Raises
        NetlinkError with the kernel's errno and text; `what` describes the request in it."""
        self.sequence += 1
        flags |= REQUEST | (0 if flags & DUMP == DUMP else ACK)
        self.socket.send(HEADER.pack(HEADER.size + len(payload), kind, flags, self.sequence, 0) + payload)
        answers: list[bytes] = []
        while True:
            for kind, answer_flags, sequence, body in messages(self.socket.recv(1 << 17)):
                if sequence != self.sequence:
                    continue  # an event, or the rest of a request that failed half way
                if kind not in (ERROR, DONE):
                    answers.append(body)
                    continue
                error, sentence = acknowledgement(kind, answer_flags, body)
                if error > 0:
                    raise NetlinkError(error, f"{what}: {os.strerror(error)}" + (f": {sentence}" if sentence else ""))
                return answers

    def wait(self, wanted: Callable[[int, bytes], bool], what: str, seconds: float = 60.0) -> bytes:
        """Wait for an event for which `wanted(type, payload)` is true, and return its payload. Raises NetlinkError
        (ETIMEDOUT) after `seconds` without one."""
        self.socket.settimeout(seconds)
        try:
            while True:
                for kind, _, _, body in messages(self.socket.recv(1 << 17)):
                    if wanted(kind, body):
                        return body
        except TimeoutError:
            raise NetlinkError(errno.ETIMEDOUT, f"{what}: nothing heard for {seconds:g} s") from None
        finally:
            self.socket.settimeout(None)


class Generic(Netlink):
    """Generic netlink: families by name, commands with attributes."""

    families: dict[str, tuple[int, dict[str, int]]] = {}  # noqa: RUF012  name -> (id, groups); the same in all namespaces

    def __init__(self, port: int = 0) -> None:
        super().__init__(NETLINK_GENERIC, port)

    def family(self, name: str) -> tuple[int, dict[str, int]]:
        """Return a family's id and multicast groups. Raises NetlinkError (ENOENT) if the kernel lacks the family."""
        if name not in self.families:
            payload = GENERIC_HEADER.pack(CTRL_CMD_GETFAMILY, 1, 0) + build([(CTRL_ATTR_FAMILY_NAME, name)])
            found = parse(self.request(GENL_ID_CTRL, payload, what=f"family {name}")[0][GENERIC_HEADER.size :])
            groups = [parse(group) for _, group in attributes(found.get(CTRL_ATTR_MCAST_GROUPS, b""))]
            numbers = {text(g[CTRL_ATTR_MCAST_GRP_NAME]): number(g[CTRL_ATTR_MCAST_GRP_ID]) for g in groups}
            self.families[name] = number(found[CTRL_ATTR_FAMILY_ID]), numbers
        return self.families[name]

    def command(
        self, family: str, command: int, values: Iterable[tuple[int, Value]] = (), flags: int = 0, what: str = ""
    ) -> list[Attributes]:
        """Send a command and return the attributes of each answer. Raises NetlinkError."""
        payload = GENERIC_HEADER.pack(command, 1, 0) + build(values)
        answers = self.request(self.family(family)[0], payload, flags, what or f"{family} command {command}")
        return [parse(answer[GENERIC_HEADER.size :]) for answer in answers]

    def join(self, family: str, group: str) -> None:
        """Subscribe to the events of a multicast group."""
        self.socket.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, self.family(family)[1][group])
