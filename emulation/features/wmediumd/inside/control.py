# SPDX-License-Identifier: BSD-3-Clause
"""The control socket's messages: a client's bytes in, the answers' bytes out. Pure.

A message begins with its type, one byte. All numbers are big-endian; a float is sent as its bits. The answer comes when
the change is in force. It has the type after the request's, the whole request including its type, and one byte with the
result: 0 OK, 1 no such station, 2 exists already, 3 not in this mode.

| request | bytes after the type | valid with |
|---|---|---|
| 0 SHUTDOWN | none; it is not answered | all |
| 1 SNR_UPDATE | from[6] to[6] i32; both ways | `snr` |
| 3 DEL_BY_MAC | addr[6] | all |
| 5 DEL_BY_ID | i32 | all |
| 7 ADD | addr[6]; before the result the answer has the station's number, i32 | all |
| 9 ERRPROB_UPDATE | from[6] to[6] u32 in 2^-31; both ways | `prob` |
| 11 SPECPROB_UPDATE | from[6] to[6] u32[12][12] by size and rate; the answer has only the addresses | `-d` |
| 13 POSITION_UPDATE | addr[6] f32 x y z | `path_loss` |
| 15 TXPOWER_UPDATE, 17 GAIN_UPDATE, 19 HEIGHT_UPDATE | addr[6] i32 | `path_loss` |
| 21 GAUSS_RANDOM_UPDATE | addr[6] f32 | `path_loss` |
| 23 MEDIUM_UPDATE | addr[6] i32 | all |

Of SPECPROB_UPDATE, which sets one direction, our air takes the row of 1500 bytes and the mean of its rates, as all
stations share its error tables. A row of sizes is taken to be 128 bytes. When a station comes or leaves, a new air
starts; frames in flight are reported as lost.
"""

from __future__ import annotations

import enum
import math
import struct
from dataclasses import dataclass

from emulation.features.wmediumd.inside.stations import MOST, SECOND, SIZES, Mode, Station, Stations
from emulation.lane.per_tables import RATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FRACTION = 1 << 31  # Q1.31


class Request(enum.IntEnum):
    SHUTDOWN = 0
    SNR_UPDATE = 1
    DEL_BY_MAC = 3
    DEL_BY_ID = 5
    ADD = 7
    ERRPROB_UPDATE = 9
    SPECPROB_UPDATE = 11
    POSITION_UPDATE = 13
    TXPOWER_UPDATE = 15
    GAIN_UPDATE = 17
    HEIGHT_UPDATE = 19
    GAUSS_RANDOM_UPDATE = 21
    MEDIUM_UPDATE = 23


class Result(enum.IntEnum):
    """Results of requests."""

    OK = 0
    INTF_NOTFOUND = 1
    DUPLICATE = 2
    WRONG_MODE = 3


TWO_ADDRESSES = 12  # bytes of two addresses


class UnknownError(ValueError):
    """A message of unknown type: the start of the next one cannot be known."""


@dataclass(frozen=True)
class Reply:
    """An answer, and what it means for the medium."""

    answer: bytes
    changed: bool = False  # whether links changed
    members: bool = False  # whether the set of stations changed
    shutdown: bool = False


class Client:
    """The data of one client that is not answered yet."""

    def __init__(self, stations: Stations) -> None:
        self.stations, self.buffer = stations, b""

    def feed(self, data: bytes) -> list[Reply]:
        """Answer all complete messages. Raises UnknownError for an unknown one, after which the rest is ignored."""
        self.buffer += data
        done: list[Reply] = []
        while self.buffer:
            try:
                request = Request(self.buffer[0])
            except ValueError:
                raise UnknownError(f"there is no message of type {self.buffer[0]}") from None
            size = 1 + FORMATS[request].size
            if len(self.buffer) < size:
                break
            message, self.buffer = self.buffer[:size], self.buffer[size:]
            done.append(answer(self.stations, request, message))
        return done


def answer(stations: Stations, request: Request, message: bytes) -> Reply:
    if request is Request.SHUTDOWN:
        return Reply(b"", shutdown=True)
    values = FORMATS[request].unpack(message[1:])
    result, extra = REQUESTS[request][1](stations, *values)
    repeated = message[1 : 1 + TWO_ADDRESSES] if request is Request.SPECPROB_UPDATE else message
    reply = bytes([request + 1]) + repeated + extra + bytes([result])
    ok, members = result is Result.OK, request in (Request.ADD, Request.DEL_BY_MAC, Request.DEL_BY_ID)
    return Reply(reply, changed=ok, members=ok and members)


def _link(mode: Mode, name: str, both_ways: bool, of: Callable[..., object]) -> Callable[..., tuple[Result, bytes]]:
    """Return a handler that sets a link's value, which is `of` what the message has."""

    def put(stations: Stations, a: bytes, b: bytes, *sent: int) -> tuple[Result, bytes]:
        if stations.mode is not mode:
            return Result.WRONG_MODE, b""
        if not (stations.find(a) and stations.find(b)):
            return Result.INTF_NOTFOUND, b""
        getattr(stations, name).update(dict.fromkeys([(a, b), (b, a)][: 1 + both_ways], of(*sent)))
        return Result.OK, b""

    return put


def _probability(fixed: int) -> float:
    return min(fixed / FRACTION, 1.0)


def _probabilities(*fixed: int) -> tuple[float, ...]:
    return tuple(map(_probability, fixed))


def _add(stations: Stations, address: bytes) -> tuple[Result, bytes]:
    """Add a station. The answer has its number, or that of an existing station. A group's address is refused; the
    second address of a known station's radio counts as that station."""
    other = bytes([address[0] ^ SECOND]) + address[1:]
    if station := stations.find(address) or stations.find(other):
        return Result.DUPLICATE, struct.pack(">i", stations.all.index(station))
    if len(stations.all) >= MOST or address[0] & 1 or not any(address):
        return Result.INTF_NOTFOUND, struct.pack(">i", -1)
    stations.all.append(Station(address))
    return Result.OK, struct.pack(">i", len(stations.all) - 1)


def _remove_address(stations: Stations, address: bytes) -> tuple[Result, bytes]:
    if not (station := stations.find(address)):
        return Result.INTF_NOTFOUND, b""
    stations.remove(station)
    return Result.OK, b""


def _remove_number(stations: Stations, number: int) -> tuple[Result, bytes]:
    if not 0 <= number < len(stations.all):
        return Result.INTF_NOTFOUND, b""
    stations.remove(stations.all[number])
    return Result.OK, b""


def _setter(attribute: str, path_loss: bool = True) -> Callable[..., tuple[Result, bytes]]:
    """Return a handler that sets an attribute of a station: a number, or three."""

    def put(stations: Stations, address: bytes, *values: Any) -> tuple[Result, bytes]:
        if path_loss and stations.mode is not Mode.PATH_LOSS:
            return Result.WRONG_MODE, b""
        if not (station := stations.find(address)):
            return Result.INTF_NOTFOUND, b""
        if not all(map(math.isfinite, values)):
            return Result.WRONG_MODE, b""
        setattr(station, attribute, values if len(values) > 1 else values[0])
        return Result.OK, b""

    return put


# The bytes after the type, and what executes the message.
REQUESTS: dict[Request, tuple[str, Callable[..., tuple[Result, bytes]]]] = {
    Request.SNR_UPDATE: ("6s6si", _link(Mode.SNR, "snr", True, float)),
    Request.DEL_BY_MAC: ("6s", _remove_address),
    Request.DEL_BY_ID: ("i", _remove_number),
    Request.ADD: ("6s", _add),
    Request.ERRPROB_UPDATE: ("6s6sI", _link(Mode.PROB, "error", True, _probability)),
    Request.SPECPROB_UPDATE: (f"6s6s{SIZES * RATES}I", _link(Mode.SPECIFIC, "specific", False, _probabilities)),
    Request.POSITION_UPDATE: ("6s3f", _setter("position")),
    Request.TXPOWER_UPDATE: ("6si", _setter("tx_power")),
    Request.GAIN_UPDATE: ("6si", _setter("gain")),
    Request.HEIGHT_UPDATE: ("6si", _setter("height")),
    Request.GAUSS_RANDOM_UPDATE: ("6sf", _setter("shadow_db")),
    Request.MEDIUM_UPDATE: ("6si", _setter("medium", path_loss=False)),
}
FORMATS = {request: struct.Struct(f">{layout}") for request, (layout, _) in REQUESTS.items()}
FORMATS[Request.SHUTDOWN] = struct.Struct(">")
