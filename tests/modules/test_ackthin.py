# SPDX-License-Identifier: BSD-3-Clause
"""What ackthin decides, in user space: ackthin.h behind a queue of a few lines, driven by segments as bytes.

What must never be thinned is said here once more, from what came before alone (`must_pass`), and random conversations
are held to it. The policies are held to lists worked out by hand.
"""

from __future__ import annotations

import ctypes as c
import os
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import wire
from hypothesis import assume, given
from hypothesis import strategies as st

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
    """ackthin.h, built; with DCF_SANITIZE set, under the address and undefined-behaviour sanitizers."""
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if os.environ.get("DCF_SANITIZE") else []
    with tempfile.TemporaryDirectory(prefix="ackthin-") as folder:
        out = f"{folder}/core.so"
        command = ["gcc", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-shared",
                   "-fPIC", *sanitize, f"-I{SOURCE}", "-xc", "-", "-o", out]  # fmt: skip
        subprocess.run(command, input=SHIM, text=True, check=True)
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
    """Parse a copy that ends where the packet ends, so that the sanitizer sees a step beyond it."""
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
    """The same segment in IPv6."""
    segment = packet[20:]
    return struct.pack("!IHBB", 6 << 28, len(segment), next_header, 64) + bytes(range(32)) + segment


@dataclass(frozen=True)
class Item:
    """A segment, and when it comes."""

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
        """Let timers run out before this time."""
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


def play(items: Sequence[Item], until: int = 0, **options: int | str) -> list[tuple[int, int, str]]:
    """What leaves, as (µs, number of the segment, why)."""
    return [(at // US, number, why) for at, number, why in Queue(config(**options)).play(items, until).left]


def every(interval: int, acks: Iterable[int], start: int = 0) -> list[Item]:
    return [Item(start + interval * i, ack) for i, ack in enumerate(acks, 1)]


def test_tables_agree() -> None:
    """The structures, the attributes, the reasons and the policies here, in C and in emulation/lane/ackthin.py."""
    sizes = list((c.c_uint64 * 7).in_dll(library(), "sizes"))
    assert sizes == [c.sizeof(Config), c.sizeof(Parsed), c.sizeof(Flow), ackthin.LAYOUT.size,
                     len(ackthin.PARAMETERS), len(ackthin.REASONS), len(ackthin.POLICIES) - 1]  # fmt: skip


# --- What is read of a packet ---

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


@pytest.mark.parametrize("ipv6", [False, True], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("case", NEVER_THINNED)
def test_a_segment_that_is_never_thinned(case: str, ipv6: bool) -> None:
    fields, why = NEVER_THINNED[case]
    data = packet(**fields)  # type: ignore[arg-type]
    parsed = parse(over_ipv6(data) if ipv6 else data)
    assert parsed
    assert ackthin.REASONS[parsed.why] == why


@pytest.mark.parametrize("options", [b"", b"\1\1", TIMESTAMPS, b"\0\5\x0a\1", TIMESTAMPS + b"\0\0\0\0"])
def test_an_acknowledgment_with_timestamps_at_most_may_be_thinned(options: bytes) -> None:
    """What stands behind the end of the options is padding."""
    for data in (packet(options=options), over_ipv6(packet(options=options))):
        parsed = parse(data)
        assert parsed
        assert parsed.why == HOLD


def edited(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (edited(packet(), 32, b"\x51"), "ecn"),  # AE, which was NS
        (edited(packet(), 32, b"\x52"), "control"),  # reserved
        (edited(packet(), 1, b"\3"), "ecn"),  # the packet is marked: congestion experienced
        (edited(over_ipv6(packet()), 1, b"\x30"), "ecn"),
        (edited(packet(), 6, b"\x20\0"), "other"),  # the first of several fragments
    ],
)
def test_marks_in_the_headers(data: bytes, why: str) -> None:
    parsed = parse(data)
    assert parsed
    assert ackthin.REASONS[parsed.why] == why


@pytest.mark.parametrize(
    "data",
    [
        b"",
        packet()[:39],
        edited(packet(), 6, b"\0\1"),  # a later fragment
        edited(packet(), 9, b"\x11"),  # UDP
        edited(packet(), 0, b"\x44"),  # a header of 16 bytes
        edited(packet(), 0, b"\x4f"),  # one that leaves no room for TCP
        edited(packet(), 0, b"\x55"),  # IP version 5
        edited(packet(), 2, b"\0\x29"),  # longer than the packet
        edited(packet(), 32, b"\x40"),  # a TCP header of 16 bytes
        edited(packet(), 32, b"\x60"),  # one that is longer than the packet
        over_ipv6(packet(), next_header=0),  # hop-by-hop options
        over_ipv6(packet())[:-1],
    ],
)
def test_what_is_not_one_tcp_segment(data: bytes) -> None:
    assert parse(data) is None


def test_ip_options_are_stepped_over() -> None:
    plain = packet(ack=7, seq=3)
    data = bytes((0x47, *plain[1:3], 48)) + plain[4:20] + b"\x94\4\0\0\1\1\1\0" + plain[20:]
    parsed = parse(data)
    assert parsed
    assert (parsed.seq, parsed.ack, parsed.why) == (3, 7, HOLD)


def test_padding_behind_the_segment_is_no_payload() -> None:
    """Ethernet's shortest frame holds more than an ACK."""
    parsed = parse(packet() + bytes(6))
    assert parsed
    assert parsed.why == HOLD


@given(flags=st.sets(st.sampled_from(wire.FLAGS)), seq=st.integers(0, 2**32 - 1), ack=st.integers(0, 2**32 - 1),
       window=st.integers(0, 65535), size=st.integers(0, 50), ipv6=st.booleans())  # fmt: skip
def test_numbers_are_read_as_they_are(flags: set[str], seq: int, ack: int, window: int, size: int, ipv6: bool) -> None:
    ordered = "".join(flag for flag in wire.FLAGS if flag in flags)
    data = packet(ordered, seq, ack, window, payload=bytes(size))
    parsed = parse(over_ipv6(data) if ipv6 else data)
    assert parsed
    end = (seq + size + ("S" in flags) + ("F" in flags)) % 2**32
    assert (parsed.seq, parsed.end, parsed.ack, parsed.window) == (seq, end, ack, window)
    assert (parsed.has_ack, parsed.fresh) == ("A" in flags, bool(flags & {"S", "R"}))
    assert bytes(parsed.ports) == b"\0\1\0\2"
    assert bytes(parsed.addresses) == (bytes(range(32)) if ipv6 else b"\x0a\0\0\1\x0a\0\0\2" + bytes(24))
    assert (parsed.why == HOLD) == (flags == {"A"} and not size)


@given(st.one_of(
    st.binary(max_size=130),
    st.builds(lambda head, rest: head + rest, st.sampled_from([packet()[:32], over_ipv6(packet())[:52]]),
              st.binary(max_size=60)),
), st.integers(0, 130))  # fmt: skip
def test_no_bytes_are_read_beyond_the_end(data: bytes, cut: int) -> None:
    """Whatever stands in them; the sanitizer looks on. What may be thinned looks like an ACK."""
    parsed = parse(data, min(len(data), 120))
    parse(data, min(cut, len(data), 120))
    if parsed and parsed.why == HOLD:
        tcp = data[40:] if data[0] >> 4 == 6 else data[(data[0] & 15) * 4 :]
        assert tcp[13] == 0x10
        assert not tcp[12] & 15


# --- Conversations ---

KINDS = ("advance", "advance", "advance", "advance", "duplicate", "window", "close", "old", "data", "probe", "sack",
         "ecn", "option", "fin", "syn", "rst", "unknown")  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(1, 30 * MS), st.integers(1, 4000)), min_size=12, max_size=60
)


def conversation(steps: list[tuple[str, int, int]]) -> list[Item]:
    """Segments of one flow, made of kinds."""
    items, now, seq, ack, window = [], 0, 0, 0, 1000
    for kind, pause, size in steps:
        now += pause
        flags, options, payload, at, said = "A", b"", 0, seq, ack
        if kind in ("advance", "sack", "ecn", "option", "close"):
            ack += size
            said = ack
        if kind == "close":
            window = 0 if window else 1000
        if kind == "window":
            window = window % 60_000 + size
        options = {"sack": b"\1\1\5\x0a" + bytes(8), "option": b"\3\3\7", "advance": TIMESTAMPS}.get(kind, b"")
        flags = {"ecn": "EA", "fin": "FA", "syn": "S", "rst": "R"}.get(kind, "A")
        if kind == "old":
            said = max(ack - size, 0)
        if kind == "probe":
            at -= 1
        if kind == "data":
            payload = size % 100 + 1
        if kind == "unknown":  # a new connection with the same ports, of which we saw no beginning
            seq, ack = seq + 12_345, ack + 1_000_000_000
            at, said = seq, ack
        items.append(Item(now, said, flags, at, window, options, payload))
        seq += payload + (kind in ("fin", "syn"))
    return items


def must_pass(items: list[Item]) -> list[bool]:
    """What may never be thinned, from the segments before: numbers are small here, so that they may be compared."""
    answers: list[bool] = []
    known, seq, newest, window, doubt = False, 0, 0, 0, False
    for item in items:
        pure = item.flags == "A" and item.options in (b"", TIMESTAMPS) and not item.payload
        repeated = known and item.ack == newest
        first = not known or doubt  # of the flow, or since a duplicate
        special = item.seq != seq or item.ack <= newest or not item.window or not window
        answers.append(not pure or first or special)
        if "A" in item.flags:
            if item.ack > newest or not known:
                doubt = False
            doubt = doubt or (pure and repeated and item.seq == seq) or item.options[:3] == b"\1\1\5"
            if item.ack >= newest or not known:
                newest, window = item.ack, item.window
        if pure and not known:
            known, seq = True, item.seq
        seq = max(seq, item.seq + item.payload + ("F" in item.flags or "S" in item.flags))
        if "S" in item.flags or "R" in item.flags:
            known = doubt = False
    return answers


POLICIES = st.fixed_dictionaries({
    "policy": st.sampled_from(ackthin.POLICIES), "count": st.integers(1, 5), "skip": st.integers(0, 4),
    "start": st.integers(1, 12), "timeout_us": st.sampled_from([1, 1000, 40_000, 100_000]),
    "granularity_us": st.sampled_from([0, 1, 10_000, 33_333]), "dwin_max": st.integers(2, 6),
})  # fmt: skip


@given(STEPS, POLICIES)
def test_what_may_not_be_thinned_passes_at_once(
    steps: list[tuple[str, int, int]], options: dict[str, int | str]
) -> None:
    items = conversation(steps)
    left = {number: at for at, number, _ in Queue(config(**options)).play(items).left}
    for number, (item, never) in enumerate(zip(items, must_pass(items), strict=True)):
        if never:
            assert left.get(number) == item.at, (number, item)


@given(STEPS, POLICIES)
def test_order_is_kept_and_the_newest_acknowledgment_is_not_lost(
    steps: list[tuple[str, int, int]], options: dict[str, int | str]
) -> None:
    items = conversation(steps)
    queue = Queue(config(**options)).play(items)
    numbers = [number for _, number, _ in queue.left]
    assert numbers == sorted(set(numbers))
    held = [] if queue.held is None else [queue.held]
    assert sorted(numbers + queue.thinned + held) == list(range(len(items)))
    for number in queue.thinned:  # a later one says as much
        after = next(later for later in range(number + 1, len(items)) if later in numbers or later in held)
        assert items[after].ack > items[number].ack
    assert queue.flow.count == 0 or held


@given(STEPS, POLICIES)
def test_timers_are_exact(steps: list[tuple[str, int, int]], options: dict[str, int | str]) -> None:
    """What is held goes when the timeout is over, on the next tick: counted from the group's first ACK, and for DAA
    no later than the longest that TCP allows."""
    assume(options["policy"] != "dynamic")
    items = conversation(steps)
    queue = Queue(config(**options)).play(items, until=1 << 62)
    assert queue.held is None
    tick, timeout = int(options["granularity_us"]) * US, int(options["timeout_us"]) * US
    group: int | None = None  # its first ACK
    gone = {number: (at, why) for at, number, why in queue.left}
    for number, item in enumerate(items):
        at, why = gone.get(number, (-1, "thinned"))
        group = number if group is None and why in ("thinned", "timer", "flushed") else group
        if why == "timer":
            assert group is not None
            due = items[group].at + timeout
            due = -(-due // tick) * tick if tick else due
            if options["policy"] == "daa":
                assert not tick or at % tick == 0
                assert item.at < at <= items[group].at + 500 * MS + tick
            else:
                assert at == due
        if why != "thinned":
            group = None


@given(STEPS, POLICIES, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 99))
def test_decisions_do_not_depend_on_where_the_numbers_start(
    steps: list[tuple[str, int, int]], options: dict[str, int | str], seq: int, ack: int, ticks: int
) -> None:
    """Sequence numbers wrap; and the clock may stand anywhere on a tick."""
    items = conversation(steps)
    shift = ticks * max(int(options["granularity_us"]), 1) * US
    moved = [Item(i.at + shift, i.ack, i.flags, i.seq, i.window, i.options, i.payload) for i in items]
    here = Queue(config(**options)).play(items, 1 << 62).left
    there = Queue(config(**options)).play(moved, 1 << 62, seq=seq, ack=ack).left
    assert there == [(at + shift, number, why) for at, number, why in here]


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=80), POLICIES)
def test_of_a_group_one_goes(sizes: list[int], options: dict[str, int | str]) -> None:
    """With nothing but advancing ACKs and no timer, the number thinned before one goes is the policy's."""
    ack, items = 0, []
    for number, size in enumerate(sizes):
        ack += size
        items.append(Item(number, ack))
    queue = Queue(config(**{**options, "granularity_us": 0, "timeout_us": 10_000_000})).play(items)
    queue.config.skip = 0
    count, skip = int(options["count"]), int(options["skip"])
    group = {"plain": 1, "delayed": count, "skip": skip + 1, "daa": int(options["dwin_max"]), "dynamic": 1}
    passed = [number for _, number, why in queue.left if why == "group"]
    begin = 0 if options["policy"] != "skip" else int(options["start"]) - 1
    for before, after in pairwise([0, *passed]):
        assert 1 <= after - before <= group[str(options["policy"])]
        if options["policy"] in ("plain", "delayed", "dynamic") or (options["policy"] == "skip" and before >= begin):
            assert after - before == group[str(options["policy"])]


# --- The policies, worked out by hand ---

ACKS = [1000 * n for n in range(40)]


def test_plain_passes_everything() -> None:
    assert play(every(MS, ACKS), policy="plain") == [(1000 * (n + 1), n, "group" if n else "first") for n in range(40)]


def test_delayed_passes_one_of_count() -> None:
    assert [number for _, number, _ in play(every(MS, ACKS[:9]), policy="delayed", count=3)] == [0, 3, 6]


def test_delayed_waits_from_the_first_held() -> None:
    left = play(every(60 * MS, ACKS[:3]), until=1 << 62, policy="delayed", count=3)
    assert left == [(60_000, 0, "first"), (220_000, 2, "timer")]


@pytest.mark.parametrize(("granularity", "at"), [(0, 220_000), (50_000, 250_000), (220_000, 220_000), (7, 220_003)])
def test_the_heartbeat_puts_a_timer_off_to_its_next_beat(granularity: int, at: int) -> None:
    left = play(every(60 * MS, ACKS[:2]), until=1 << 62, policy="delayed", granularity_us=granularity)
    assert left[-1] == (at, 1, "timer")


def test_skip_begins_at_start() -> None:
    left = play(every(MS, ACKS[:14]), policy="skip", skip=2, start=5)
    assert [number for _, number, _ in left] == [0, 1, 2, 3, 6, 9, 12]


def test_skip_without_a_timer_waits_for_ever() -> None:
    queue = Queue(config(policy="skip", start=1, timeout_us=0)).play(every(MS, ACKS[:2]), until=1 << 62)
    assert queue.held == 1


def test_dynamic_follows_what_the_air_says() -> None:
    queue = Queue(config(policy="dynamic"))
    for number, item in enumerate(every(MS, ACKS[:10])):
        queue.config.skip = 0 if number < 4 else 2
        queue.put(number, item.at, item.bytes())
    assert [number for _, number, _ in queue.left] == [0, 1, 2, 3, 6, 9]


def test_daa_starts_slowly_then_grows_by_one() -> None:
    """dwin 1.0, 1.3, 1.6, 1.9: each ACK goes; from 2.2 on each second, from 3.1 on each third, and 4 is the most."""
    queue = Queue(config(policy="daa"))
    for number, item in enumerate(every(MS, ACKS)):
        queue.put(number, item.at, item.bytes())
    numbers = [number for _, number, _ in queue.left]
    groups = [b - a for a, b in pairwise(numbers)]
    assert groups == [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4]
    assert queue.flow.risen


def test_daa_falls_back_after_a_loss_and_grows_by_one() -> None:
    """A duplicate shows the loss; the ACK that fills the hole goes at once; then 2, 3, 4."""
    items = every(MS, [*ACKS, 40_000])
    top = items[-1]
    items += [Item(top.at + MS, top.ack), Item(top.at + 2 * MS, top.ack + 2000)]
    items += every(MS, [top.ack + 2000 + 1000 * n for n in range(1, 14)], items[-1].at)
    left = Queue(config(policy="daa")).play(items).left
    assert [(number - 41, why) for _, number, why in left if number >= 40] == [
        (-1, "flushed"), (0, "duplicate"), (1, "recovery"), (3, "group"), (6, "group"), (10, "group"), (14, "group"),
    ]  # fmt: skip


def test_a_loss_while_daa_starts_does_not_speed_it_up() -> None:
    items = [*every(MS, ACKS[:3]), Item(4 * MS, 2000)]
    assert Queue(config(policy="daa")).play(items).flow.dwin == 1600


def test_daa_waits_for_two_intervals_and_kappa() -> None:
    """Eq. 5.1 and 5.2 in exact numbers; a sample counts up to the timeout in force."""
    times = [0, 10, 22, 30, 41, 50, 61, 130, 139, 160]  # ms
    queue, mean = Queue(config(policy="daa", dwin_max=4)), Fraction(0)
    for number, (at, ack) in enumerate(zip(times, ACKS, strict=False)):
        queue.put(number, at * MS + MS, packet(ack=ack))
        if number:
            sample = Fraction(min(at - times[number - 1], mean * Fraction(22, 10) if mean else 100))
            mean = mean * Fraction(3, 4) + sample / 4 if mean else sample
        assert abs(queue.flow.mean - mean * MS) <= 10  # rounded to ns at each step
    assert queue.held == 9
    assert queue.flow.due == 161 * MS + queue.flow.mean * 2200 // 1000


def test_daa_waits_no_longer_than_tcp_may() -> None:
    """RFC 1122, 4.2.3.2: less than half a second, however slow the path is and often the waiting begins anew."""
    left = play(every(400 * MS, ACKS[:6]), until=1 << 62, policy="daa", mu=1000, timeout_us=500_000)
    assert left[-2:] == [(1_600_000, 3, "group"), (2_500_000, 5, "timer")]


def test_daa_does_not_measure_across_a_loss() -> None:
    items = [Item(10 * MS, 0), Item(20 * MS, 1000), Item(30 * MS, 2000), Item(40 * MS, 2000), Item(90 * MS, 4000),
             Item(190 * MS, 5000), Item(200 * MS, 6000)]  # fmt: skip
    assert Queue(config(policy="daa")).play(items).flow.mean == 10 * MS


def test_a_timer_that_fires_is_a_sign_of_loss_to_daa() -> None:
    items = every(MS, ACKS[:33])
    queue = Queue(config(policy="daa")).play(items)
    assert (queue.flow.dwin, queue.held) == (4000, 32)
    queue.wait(1 << 62)
    assert queue.flow.dwin == 2000


# --- What passes because of what was before: ACK 2000 is held, and then this comes ---

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


@pytest.mark.parametrize("case", BESIDES)
def test_what_is_held_goes_first(case: str) -> None:
    items, reasons = BESIDES[case]
    queue = Queue(config(policy="delayed", count=9)).play([Item(0, 1000), Item(MS, 2000), *items])
    said = [(LATE + i, 2 + i, why) for i, why in enumerate(reasons)]
    assert queue.left == [(0, 0, "first"), (LATE, 1, "flushed"), *said]
    assert queue.held is None


# --- Holes ---


@pytest.mark.parametrize("duplicates", [1, 3])
def test_each_part_of_a_hole_that_is_filled_is_told_at_once(duplicates: int) -> None:
    """Each duplicate stands for a segment of 1000 bytes beyond the hole, and the hole for one: so much is in doubt."""
    items = [*every(MS, [0, 1000, 2000, 3000]), *[Item(10 * MS + n, 3000) for n in range(duplicates)]]
    items += every(MS, [4000 + 1000 * n for n in range(duplicates + 4)], 20 * MS)
    left = play(items, policy="delayed", count=2)
    reasons = [why for _, _, why in left]
    assert reasons == ["first", "group", "flushed", *["duplicate"] * duplicates, *["recovery"] * (duplicates + 1),
                       "group"]  # fmt: skip


def test_a_hole_long_ago_is_forgotten() -> None:
    """Half of all sequence numbers later, an old mark would look like a new one."""
    items = [*every(MS, [0, 1000, 1000]), *every(MS, [2**30 * n for n in range(1, 8)], 10 * MS)]
    assert [why for _, _, why in play(items, policy="plain")][4:] == ["group"] * 6


# --- The table, as netlink ---


def test_pack_and_unpack() -> None:
    wanted = {"policy": "daa", "timeout_us": 7, "alpha": 0}
    assert ackthin.unpack(ackthin.pack(wanted)) == wanted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colour": 1}, "ackthin has no parameter 'colour'; it has policy, limit"),
        ({"policy": "fast"}, "policy is one of plain, delayed, skip, daa, dynamic, not 'fast'"),
        ({"count": 0}, "count is from 1 to 255, not 0"),
        ({"timeout_us": "soon"}, "timeout_us is from 0 to 10000000, not 'soon'"),
    ],
)
def test_a_wrong_parameter_is_named(options: dict[str, int | str], said: str) -> None:
    with pytest.raises(ValueError) as caught:
        ackthin.pack(options)
    assert said in str(caught.value)


def test_statistics_by_name() -> None:
    found = ackthin.statistics(struct.pack("=18Q6I", *range(24)) + b"more")
    assert found["passed"] == dict(zip(ackthin.REASONS, range(15), strict=True))
    assert [found[name] for name in ackthin.STATISTICS] == list(range(15, 24))
