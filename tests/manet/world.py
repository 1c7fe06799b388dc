# SPDX-License-Identifier: BSD-3-Clause
"""Networks of routing cores in user space, for tests: the binding of `world.c`.

The same C files that make manet.ko are built as a shared library. The test sets the time. Events are kept in lists:
arrived packets, trace records, and every frame.
"""

from __future__ import annotations

import ctypes as c
import itertools
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import user_space

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "emulation" / "manet" / "core"
SHARED = HERE.parents[1] / "emulation" / "kernel" / "shared"
FIRST_ADDRESS = 0x0A000001
NEVER = 2**64 - 1
US, MS, SECOND = 10**3, 10**6, 10**9
EVERYBODY = 0xFFFFFFFF
NOT_SENT, STRANGER = 2, 3  # enum manet_sent


def names(enum: str, prefix: str = "MANET_") -> list[str]:
    """The names of an enum of manet.h, in order, in lower case."""
    text = (SOURCE / "manet.h").read_text()
    body = text.split(f"enum {enum} {{", 1)[1].split("};", 1)[0]
    lines = [line.split("/*")[0] for line in body.splitlines()]
    words = [word.strip().rstrip(",") for line in lines for word in line.split(",")]
    return [word.removeprefix(prefix).lower() for word in words if word.startswith(prefix)][:-1]


Kind: Any = IntEnum("Kind", {name.upper(): i for i, name in enumerate(names("manet_kind"))})
Reason: Any = IntEnum("Reason", {name.upper(): i for i, name in enumerate(names("manet_reason"))})
Event: Any = IntEnum("Event", {name.upper(): i for i, name in enumerate(names("manet_event"))})
EntryKind: Any = IntEnum("EntryKind", {name.upper(): i for i, name in enumerate(names("manet_entry_kind"))})
PRESETS = ("rfc", "thesis", "cmu")


class RawRecord(c.Structure):
    _fields_ = [
        ("size", c.c_uint16), ("event", c.c_uint8), ("kind", c.c_uint8), ("node", c.c_uint32), ("time", c.c_uint64),
        ("to", c.c_uint32), ("next_hop", c.c_uint32), ("hops", c.c_uint16), ("reason", c.c_uint8), ("count", c.c_uint8),
        ("source", c.c_uint32), ("ip_id", c.c_uint16), ("len", c.c_uint16), ("extra", c.c_uint32), ("zero", c.c_uint64),
    ]  # fmt: skip


class RawEntry(c.Structure):
    _fields_ = [
        ("kind", c.c_uint8), ("hops", c.c_uint8), ("valid", c.c_bool), ("state", c.c_uint8), ("origin", c.c_uint32),
        ("to", c.c_uint32), ("via", c.c_uint32), ("sequence", c.c_uint32), ("until", c.c_uint64),
        ("mac", c.c_uint8 * 6), ("waiting", c.c_uint16), ("n_path", c.c_uint8), ("path", c.c_uint32 * 16),
    ]  # fmt: skip


class RawParameter(c.Structure):
    _fields_ = [("name", c.c_char_p), ("least", c.c_uint32), ("most", c.c_uint32), ("preset", c.c_uint32 * 3),
                ("what", c.c_char_p)]  # fmt: skip


class Counters(c.Structure):
    _fields_ = [
        ("sent", c.c_uint64 * len(Kind)), ("sent_bytes", c.c_uint64 * len(Kind)), ("got", c.c_uint64 * len(Kind)),
        ("forwarded", c.c_uint64), ("delivered", c.c_uint64), ("acked", c.c_uint64), ("lost", c.c_uint64),
        ("dropped", c.c_uint64 * len(Reason)), ("dropped_control", c.c_uint64 * len(Reason)),
        ("events", c.c_uint64 * len(Event)),
    ]  # fmt: skip


DELIVER = c.CFUNCTYPE(None, c.c_uint32, c.POINTER(c.c_uint8), c.c_uint16, c.c_uint64)
RECORD = c.CFUNCTYPE(None, c.c_uint32, c.POINTER(RawRecord))
FRAME = c.CFUNCTYPE(None, c.c_uint32, c.c_uint32, c.POINTER(c.c_uint8), c.c_uint16, c.c_uint64, c.c_bool)


class Callbacks(c.Structure):
    _fields_ = [("deliver", DELIVER), ("record", RECORD), ("frame", FRAME)]


@cache
def library() -> c.CDLL:
    """Build the cores; with MANET_SANITIZE set, under the address and undefined-behaviour sanitizers."""
    warnings = ["-Wextra", "-Wno-sign-compare", "-Wno-unused-parameter"]
    options = [*user_space.library("MANET_SANITIZE"), *warnings]
    files = [*sorted(HERE.glob("*.c")), *sorted(SOURCE.glob("*.c"))]
    lib = c.CDLL(str(user_space.kept("libmanet.so", options, files, [HERE, SOURCE, SHARED])))
    u16, u32, u64, p = c.c_uint16, c.c_uint32, c.c_uint64, c.c_void_p
    for name, result, arguments in (
        ("manet_protocol_name", c.c_char_p, [u32]),
        ("manet_parameters", c.POINTER(RawParameter), [u32, c.POINTER(u32)]),
        ("manet_set", c.c_bool, [p, u32, u32]),
        ("manet_get", u32, [p, u32]),
        ("manet_next", u64, [p]),
        ("manet_hops", u32, [p, u32]),
        ("manet_set_route", c.c_bool, [p, u32, u32, c.c_uint8]),
        ("manet_dump", c.c_bool, [p, c.POINTER(u32), c.POINTER(RawEntry)]),
        ("manet_state_name", c.c_char_p, [p, c.c_uint8]),
        ("manet_counters", c.POINTER(Counters), [p]),
        ("world_new", p, [u32, u32, u32, u64, c.POINTER(Callbacks)]),
        ("world_node", p, [p, u32]),
        ("world_link", None, [p, u32, u32, c.c_bool]),
        ("world_lossy", None, [p, c.c_double, c.c_bool]),
        ("world_unwilling", None, [p, c.c_bool, c.c_uint32]),
        ("world_start", None, [p, u32]),
        ("world_stop", None, [p, u32]),
        ("world_run", None, [p, u64]),
        ("world_send", None, [p, u32, u32, u16, u16]),
        ("world_inject", None, [p, u32, u32, c.c_char_p, u16, c.c_bool]),
        ("world_fuzz", None, [p, u32]),
        ("world_now", u64, [p]),
        ("world_packets", u64, [p]),
        ("world_frames", u64, [p]),
        ("world_free", None, [p]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


@cache
def protocols() -> list[str]:
    listed: Iterator[bytes | None] = iter(library().manet_protocol_name(i) for i in range(16))
    return [name.decode() for name in listed if name]


@cache
def parameters(protocol: str) -> dict[str, RawParameter]:
    """The parameters by name, in the order of the core's numbers."""
    count = c.c_uint32()
    table = library().manet_parameters(protocols().index(protocol), c.byref(count))
    return {table[i].name.decode(): table[i] for i in range(count.value)}


def address(index: int) -> int:
    return FIRST_ADDRESS + index


def index(address: int) -> int | None:
    return address - FIRST_ADDRESS if FIRST_ADDRESS <= address < FIRST_ADDRESS + 1024 else None


class Delivered(NamedTuple):
    at: int  # node
    source: int  # node
    ip_id: int
    ttl: int
    time: int


class Record(NamedTuple):
    event: Any  # Event
    node: int
    time: int
    to: int | None  # a node; None: none of them
    next_hop: int | None
    hops: int
    kind: Any
    reason: Any
    count: int
    source: int | None
    ip_id: int
    len: int
    extra: int


class Sent(NamedTuple):
    """A frame, and when it ended."""

    source: int
    to: int | None  # None: everybody
    bytes: bytes
    time: int
    lost: bool


class Entry(NamedTuple):
    kind: Any
    to: int | None
    via: int | None
    origin: int | None
    hops: int
    valid: bool
    state: str
    sequence: int
    until: int
    path: tuple[int | None, ...]
    waiting: int


class World:
    """`count` nodes of one protocol, linked as `link` says. As a context manager, it checks at the end that no packet
    is left. With `keep` false the lists stay empty, and it runs as fast as the cores."""

    def __init__(
        self,
        count: int,
        protocol: str,
        preset: str = "rfc",
        seed: int = 1,
        start: bool = True,
        keep: bool = True,
        **changed: int,
    ) -> None:
        self.lib, self.count, self.protocol = library(), count, protocol
        self.delivered: list[Delivered] = []
        self.records: list[Record] = []
        self.frames: list[Sent] = []
        self.calls = (
            Callbacks(DELIVER(self._deliver), RECORD(self._record), FRAME(self._frame)) if keep else Callbacks()
        )
        number = protocols().index(protocol)
        self.world = self.lib.world_new(count, number, PRESETS.index(preset), seed, c.byref(self.calls))
        for name, value in changed.items():
            for i in range(count):
                self.set(i, name, value)
        if start:
            for i in range(count):
                self.lib.world_start(self.world, i)

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.world_free(self.world)

    def _deliver(self, node: int, data: Any, length: int, now: int) -> None:
        ip = bytes(data[:length])
        source = index(int.from_bytes(ip[12:16], "big"))
        assert source is not None
        self.delivered.append(Delivered(node, source, int.from_bytes(ip[4:6], "big"), ip[8], now))

    def _record(self, node: int, raw: Any) -> None:
        r = raw.contents
        self.records.append(
            Record(
                Event(r.event), node, r.time, index(r.to), index(r.next_hop), r.hops, Kind(r.kind), Reason(r.reason),
                r.count, index(r.source), r.ip_id, r.len, r.extra,
            )
        )  # fmt: skip

    def _frame(self, source: int, to: int, data: Any, length: int, now: int, lost: bool) -> None:
        self.frames.append(Sent(source, None if to == EVERYBODY else to, bytes(data[:length]), now, lost))

    def node(self, i: int) -> Any:
        return self.lib.world_node(self.world, i)

    def set(self, i: int, name: str, value: int) -> None:
        number = list(parameters(self.protocol)).index(name)
        assert self.lib.manet_set(self.node(i), number, value), f"{name} = {value}"

    def link(self, a: int, b: int, up: bool = True, one_way: bool = False) -> None:
        self.lib.world_link(self.world, a, b, up)
        if not one_way:
            self.lib.world_link(self.world, b, a, up)

    def string(self, *nodes: int) -> None:
        """Link each node with the next; without an argument, all nodes."""
        row = nodes or range(self.count)
        for a, b in itertools.pairwise(row):
            self.link(a, b)

    def links(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Link these pairs, and no others."""
        wanted = {tuple(sorted(pair)) for pair in pairs}
        for a in range(self.count):
            for b in range(a + 1, self.count):
                self.link(a, b, (a, b) in wanted)

    def lossy(self, loss: float = 0.0, promiscuous: bool = False) -> None:
        self.lib.world_lossy(self.world, loss, promiscuous)

    def unwilling(self, forgetful: bool = False, refusing: int = 0) -> None:
        """From now on, MAC addresses are known only from received frames; or no radio accepts a frame, and returns this
        error."""
        self.lib.world_unwilling(self.world, forgetful, refusing)

    @property
    def now(self) -> int:
        return int(self.lib.world_now(self.world))

    def run(self, seconds: float) -> None:
        self.lib.world_run(self.world, self.now + round(seconds * SECOND))

    def send(self, source: int, to: int, ip_id: int = 1, length: int = 512) -> None:
        self.lib.world_send(self.world, source, to, ip_id, length)

    def inject(self, source: int, to: int, data: bytes, overheard: bool = False) -> None:
        self.lib.world_inject(self.world, source, to, data, len(data), overheard)

    def fuzz(self, count: int) -> None:
        """Inject this many of the last frames again, changed, at any node; see `fuzz.c`."""
        self.lib.world_fuzz(self.world, count)

    def set_route(self, at: int, to: int, via: int | None, hops: int = 1) -> None:
        assert self.lib.manet_set_route(self.node(at), address(to), 0 if via is None else address(via), hops)

    def hops(self, at: int, to: int) -> int:
        return int(self.lib.manet_hops(self.node(at), address(to)))

    def entries(self, i: int) -> list[Entry]:
        cursor, raw, found = c.c_uint32(), RawEntry(), []
        while self.lib.manet_dump(self.node(i), c.byref(cursor), c.byref(raw)):
            found.append(
                Entry(
                    EntryKind(raw.kind), index(raw.to), index(raw.via), index(raw.origin), raw.hops, raw.valid,
                    self.lib.manet_state_name(self.node(i), raw.state).decode(), raw.sequence, raw.until,
                    tuple(index(hop) for hop in raw.path[: raw.n_path]), raw.waiting,
                )
            )  # fmt: skip
        return found

    def routes(self, i: int) -> dict[int, Entry]:
        """Return the valid routes by destination."""
        return {e.to: e for e in self.entries(i) if e.kind == EntryKind.ROUTE and e.valid and e.to is not None}

    def counters(self, i: int) -> Counters:
        found: Counters = self.lib.manet_counters(self.node(i)).contents
        return found

    def told(self, event: Any, node: int | None = None) -> list[Record]:
        return [r for r in self.records if r.event == event and node in (None, r.node)]
