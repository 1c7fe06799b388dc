# SPDX-License-Identifier: BSD-3-Clause
"""ackthin in user space: ackthin.h behind a queue of a few lines, driven by segments as bytes; and cases by hand.

The test decides what arrives when. `NEVER_THINNED` and `BESIDES` are segments that must pass because of their headers,
or because of earlier segments. The tests of ackthin in a running kernel use the same tables.
"""

from __future__ import annotations

import ctypes as c
import struct
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import wire
from user_space import compile_library

from emulation.lane import ackthin

SOURCE = Path(__file__).parents[2] / "tc_modules" / "ackthin"
US, MS = 1000, 1_000_000
HOLD = len(ackthin.REASONS)
SHIM = """
#include "ackthin.h"
bool parse(struct ackthin_segment *s, const u8 *ip, u32 have, u32 len) { return ackthin_parse(s, ip, have, len); }
u8 decide(const struct ackthin_config *c, struct ackthin_flow *f, const struct ackthin_segment *s, u64 now)
{ return ackthin_decide(c, f, s, now); }
void expire(const struct ackthin_config *c, struct ackthin_flow *f) { ackthin_expire(c, f); }
u64 sizes[] = { sizeof(struct ackthin_config), sizeof(struct ackthin_segment), sizeof(struct ackthin_flow),
		sizeof(struct tc_ackthin_xstats), TCA_ACKTHIN_MAX, ACKTHIN_REASONS, ACKTHIN_DYNAMIC };
"""


class Config(c.Structure):
    _fields_ = [("set", c.c_uint32 * (len(ackthin.PARAMETERS) + 1)), ("skip", c.c_uint32)]


class Parsed(c.Structure):
    _fields_ = [("addresses", c.c_uint8 * 32), ("ports", c.c_uint8 * 4), ("version", c.c_uint8), ("seq", c.c_uint32),
                ("end", c.c_uint32), ("ack", c.c_uint32), ("window", c.c_uint16), ("has_ack", c.c_bool),
                ("fresh", c.c_bool), ("why", c.c_uint8)]  # fmt: skip


class Flow(c.Structure):
    _fields_ = [("known", c.c_bool), ("risen", c.c_bool), ("window", c.c_uint16),
                *[(name, c.c_uint32) for name in ("seq", "ack", "advances", "gap", "step", "count", "dwin")],
                *[(name, c.c_uint64) for name in ("since", "last", "mean", "due")]]  # fmt: skip


@cache
def library() -> c.CDLL:
    """Build ackthin.h; with DCF_SANITIZE set, under the address and undefined-behaviour sanitizers."""
    with tempfile.TemporaryDirectory(prefix="ackthin-") as folder:
        out = f"{folder}/core.so"
        options = ["-Wextra", "-Wno-unused-function", f"-I{SOURCE}"]
        compile_library("DCF_SANITIZE", [*options, "-xc", "-", "-o", out], SHIM)
        lib = c.CDLL(out)
    lib.parse.restype, lib.parse.argtypes = c.c_bool, [c.POINTER(Parsed), c.c_void_p, c.c_uint32, c.c_uint32]
    lib.decide.restype = c.c_uint8
    lib.decide.argtypes = [c.POINTER(Config), c.POINTER(Flow), c.POINTER(Parsed), c.c_uint64]
    lib.expire.restype, lib.expire.argtypes = None, [c.POINTER(Config), c.POINTER(Flow)]
    return lib


def config(**options: int | str) -> Config:
    made = Config()
    for name, parameter in ackthin.PARAMETERS.items():
        value = ackthin.number(name, options[name]) if name in options else parameter.default
        made.set[parameter.attribute] = value if isinstance(value, int) else ackthin.POLICIES.index(value or "plain")
    return made


def parse(packet: bytes, have: int | None = None) -> Parsed | None:
    """Parse a copy that ends where the packet ends, so that the sanitizer detects a step beyond it."""
    libc, parsed = c.CDLL(None), Parsed()
    libc.malloc.restype, libc.free.argtypes = c.c_void_p, [c.c_void_p]
    have = min(len(packet), 120) if have is None else have
    copy = libc.malloc(c.c_size_t(have or 1))
    try:
        c.memmove(copy, packet, have)
        return parsed if library().parse(parsed, copy, have, len(packet)) else None
    finally:
        libc.free(copy)


def packet(flags: str = "A", seq: int = 0, ack: int = 0, window: int = 1000, options: bytes = b"", payload: bytes = b"",
           dport: int = 2) -> bytes:  # fmt: skip
    return wire.build(b"\x0a\0\0\1", b"\x0a\0\0\2", 1, dport, flags, seq, ack, window, options, payload)


def over_ipv6(packet: bytes, next_header: int = 6) -> bytes:
    """Return the same segment in IPv6."""
    segment = packet[20:]
    return struct.pack("!IHBB", 6 << 28, len(segment), next_header, 64) + bytes(range(32)) + segment


def edited(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


@dataclass(frozen=True)
class Item:
    """A segment, and when it arrives."""

    at: int
    ack: int = 0
    flags: str = "A"
    seq: int = 0
    window: int = 1000
    options: bytes = b""
    payload: int = 0

    def bytes(self, seq: int = 0, ack: int = 0) -> bytes:
        return packet(self.flags, self.seq + seq, self.ack + ack, self.window, self.options, bytes(self.payload))


@dataclass
class Queue:
    """The qdisc around the decisions, for one flow."""

    config: Config
    flow: Flow = field(default_factory=Flow)
    held: int | None = None
    left: list[tuple[int, int, str]] = field(default_factory=list)  # time, number of the segment, why
    thinned: list[int] = field(default_factory=list)

    def release(self, now: int, why: str) -> None:
        if self.held is not None:
            self.left.append((now, self.held, why))
        self.held = None

    def wait(self, until: int) -> None:
        """Let timers before this time expire."""
        if self.held is not None and self.flow.due and self.flow.due < until:
            library().expire(self.config, self.flow)
            self.release(self.flow.due, "timer")

    def put(self, number: int, now: int, data: bytes) -> None:
        parsed = parse(data)
        assert parsed
        self.wait(now)
        why = library().decide(self.config, self.flow, parsed, now)
        if why in (HOLD, ackthin.REASONS.index("group")) and self.held is not None:
            self.thinned.append(self.held)
            self.held = None
        if why == HOLD:
            self.held = number
            return
        self.release(now, "flushed")
        self.left.append((now, number, ackthin.REASONS[why]))

    def play(self, items: Iterable[Item], until: int = 0, **first: int) -> Queue:
        for number, item in enumerate(items):
            self.put(number, item.at, item.bytes(**first))
        self.wait(until)
        return self


# Segments that pass because of their headers: how they differ from an acknowledgment, and the reason.
TIMESTAMPS = b"\1\1\x08\x0a" + bytes(8)
NEVER_THINNED = {
    "payload": ({"payload": b"x"}, "data"),
    "PSH with payload": ({"flags": "PA", "payload": b"x"}, "data"),
    "FIN": ({"flags": "FA"}, "control"),
    "SYN": ({"flags": "SA"}, "control"),
    "RST": ({"flags": "RA"}, "control"),
    "URG": ({"flags": "UA"}, "control"),
    "PSH": ({"flags": "PA"}, "control"),
    "no ACK": ({"flags": ""}, "control"),
    "ECE": ({"flags": "EA"}, "ecn"),
    "CWR": ({"flags": "CA"}, "ecn"),
    "SACK": ({"options": b"\1\1\5\x0a" + bytes(8)}, "sack"),
    "SACK after timestamps": ({"options": b"\x08\x0a" + bytes(8) + b"\5\x0a" + bytes(8)}, "sack"),
    "window scale": ({"options": b"\3\3\7"}, "option"),
    "MPTCP": ({"options": b"\x1e\x04\0\0"}, "option"),
    "an option of no length": ({"options": b"\x08\0\0\0"}, "option"),
    "an option cut short": ({"options": b"\1\1\1\x08"}, "option"),
    "an option beyond the header": ({"options": b"\x08\x0c" + bytes(8)}, "option"),
    "timestamps of another length": ({"options": b"\x08\x04\0\0"}, "option"),
}

# What passes because of earlier segments: ACK 2000 is held, and then this arrives.
LATE = 50 * MS
BESIDES = {
    "a duplicate": ([Item(LATE, 2000)], ["duplicate"]),
    "a window update": ([Item(LATE, 2000, window=2000)], ["window"]),
    "the window closes": ([Item(LATE, 3000, window=0)], ["window"]),
    "the window opens": ([Item(LATE, 3000, window=0), Item(LATE + 1, 4000)], ["window", "window"]),
    "an old one": ([Item(LATE, 1999)], ["old"]),
    "an old one is not the newest": ([Item(LATE, 1000), Item(LATE + 1, 2000)], ["old", "duplicate"]),
    "a keep-alive": ([Item(LATE, 2000, seq=-1)], ["probe"]),
    "a keep-alive that acknowledges": ([Item(LATE, 3000, seq=-1)], ["probe"]),
    "data": ([Item(LATE, 2000, payload=1)], ["data"]),
    "data, and its acknowledgment": ([Item(LATE, 2000, payload=1), Item(LATE + 1, 2000, seq=1)], ["data", "duplicate"]),
    "the end": ([Item(LATE, 2000, "FA"), Item(LATE + 1, 2000, seq=1)], ["control", "duplicate"]),
    "no acknowledgment": ([Item(LATE, 9000, "P", payload=1), Item(LATE + 1, 2000, seq=1)], ["data", "duplicate"]),
    "after a duplicate": ([Item(LATE, 2000), Item(LATE + 1, 3000)], ["duplicate", "recovery"]),
    "after a window update": ([Item(LATE, 2000, window=9), Item(LATE + 1, 3000)], ["window", "recovery"]),
    "after SACK": ([Item(LATE, 2000, options=b"\5\x0a" + bytes(8)), Item(LATE + 1, 3000)], ["sack", "recovery"]),
    "a new connection": ([Item(LATE, 0, "S", seq=77), Item(LATE + 1, 5000, seq=78)], ["control", "first"]),
    "after a reset": ([Item(LATE, 0, "R"), Item(LATE + 1, 5000)], ["control", "first"]),
}
