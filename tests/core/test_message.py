# SPDX-License-Identifier: BSD-3-Clause
"""hwsim's messages: sound ones are parsed correctly, and no message is read beyond its end."""

from __future__ import annotations

import ctypes as c
import struct

from dcf import RATES, Message, address, library
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

OTHER, BROKEN, FRAME, ADD_ADDR, DEL_ADDR = range(5)
CMD_FRAME, CMD_ADD_ADDR, CMD_DEL_ADDR = 2, 7, 8
RECEIVER, TRANSMITTER, CONTENT, FLAGS, TX_INFO, COOKIE, FREQ, TX_INFO_FLAGS = 1, 2, 3, 4, 7, 8, 19, 21
RTS, CTS_TO_SELF, SHORT_PREAMBLE, HT = 1, 2, 4, 8


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(command: int, *attributes: bytes) -> bytes:
    body = struct.pack("=BBH", command, 1, 0) + b"".join(attributes)
    return struct.pack("=IHHII", 16 + len(body), 0, 0, 0, 0) + body


def read(data: bytes) -> tuple[int, Message, bytes, bytes, bytes]:
    """Parse a copy that ends where the message ends, so that the sanitizer detects a step beyond it. Return the kind,
    the fields, and the bytes of transmitter, receiver and frame, which must lie within."""
    libc = c.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = c.c_void_p, [c.c_void_p]
    copy, m = libc.malloc(c.c_size_t(len(data) or 1)), Message()
    try:
        c.memmove(copy, data, len(data))
        kind = library().message_read(m, copy, len(data))
        found = []
        for pointer, size in ((m.transmitter, 6), (m.receiver, 6), (m.frame, m.len)):
            at = c.cast(pointer, c.c_void_p).value
            assert at is None or copy <= at <= at + size <= copy + len(data)
            found.append(c.string_at(at, size) if at else b"")
        return kind, m, found[0], found[1], found[2]
    finally:
        libc.free(copy)


def frame(*rates: tuple[int, int], flags: tuple[int, ...] = (0, 0, 0, 0), content: bytes = bytes(30),
          freq: int = 2412) -> list[bytes]:  # fmt: skip
    """The attributes of a frame, in hwsim's order."""
    stages = [*rates, *[(-1, 0)] * (4 - len(rates))]
    return [
        attribute(TRANSMITTER, address(3)),
        attribute(CONTENT, content),
        attribute(FLAGS, struct.pack("=I", 2)),
        attribute(FREQ, struct.pack("=I", freq)),
        attribute(TX_INFO, b"".join(struct.pack("=bB", *rate) for rate in stages)),
        attribute(TX_INFO_FLAGS, b"".join(struct.pack("<bH", stages[i][0], flags[i]) for i in range(4))),
        attribute(COOKIE, struct.pack("=Q", 2**63 + 7)),
    ]


@given(st.binary(max_size=2400), st.permutations(range(7)))
def test_a_frame_comes_out_as_it_went_in(content: bytes, order: list[int]) -> None:
    """In any order of its attributes."""
    attributes = frame((1, 7), (0, 0), flags=(RTS | SHORT_PREAMBLE, CTS_TO_SELF, 0, 0), content=content)
    kind, m, transmitter, _, frame_bytes = read(message(CMD_FRAME, *(attributes[i] for i in order)))
    assert (kind, transmitter, frame_bytes) == (FRAME, address(3), content)
    assert (m.flags, m.freq, m.cookie) == (2, 2412, 2**63 + 7)
    assert [list(rate) for rate in m.rates] == [[1, 7], [0, 0], [-1, 0], [-1, 0]]
    stages = [(s.count and RATES[s.mode], s.count, s.rts, s.cts_to_self, s.short_preamble) for s in m.stage]
    assert stages == [(20, 7, True, False, True), (10, 1, False, True, False), *[(0, 0, False, False, False)] * 2]


def test_at_5_ghz_the_first_rate_is_6_mbps() -> None:
    assert read(message(CMD_FRAME, *frame((0, 1), freq=5180)))[1].stage[0].mode == RATES.index(60)


def test_rates_that_are_not_modelled_leave_no_first_stage() -> None:
    """In any stage; the frame is still known, so it can be returned."""
    for attributes in (
        frame((12, 1)), frame((8, 1), freq=5180), frame(), frame((1, 1), flags=(HT, 0, 0, 0)),
        frame((1, 1), (3, 1), flags=(0, HT, 0, 0)), frame((1, 1), (0, 1), (100, 1)),
    ):  # fmt: skip
        kind, m, *_ = read(message(CMD_FRAME, *attributes))
        assert (kind, m.stage[0].count, m.cookie) == (FRAME, 0, 2**63 + 7)


def test_addresses_come_and_go() -> None:
    attributes = attribute(RECEIVER, address(5)), attribute(TRANSMITTER, address(3))
    for command, expected in ((CMD_ADD_ADDR, ADD_ADDR), (CMD_DEL_ADDR, DEL_ADDR)):
        kind, _, transmitter, receiver, _ = read(message(command, *attributes))
        assert (kind, transmitter, receiver) == (expected, address(3), address(5))
        assert read(message(command, attributes[0]))[0] == BROKEN
    assert read(message(9, *attributes))[0] == OTHER


def test_a_frame_with_something_missing_or_short_is_broken() -> None:
    attributes = frame((1, 1))
    for i in range(7):
        kind = struct.unpack_from("=HH", attributes[i])[1]
        optional = kind == TX_INFO_FLAGS
        assert read(message(CMD_FRAME, *attributes[:i], *attributes[i + 1 :]))[0] == (FRAME if optional else BROKEN)
        shorter = attribute(kind, b"\1\1\1")
        assert read(message(CMD_FRAME, *attributes[:i], shorter, *attributes[i + 1 :]))[0] == (
            FRAME if kind == CONTENT else BROKEN
        )


@given(st.integers(0, 200))
def test_a_truncated_message_is_none(keep: int) -> None:
    whole = message(CMD_FRAME, *frame((1, 1)))
    assert read(whole[:keep])[0] == (OTHER if keep < len(whole) else FRAME)


lengths = st.one_of(st.integers(0, 40), st.integers(0, 0xFFFF))
attributes = st.tuples(lengths, st.one_of(st.integers(0, 25), st.integers(0, 0xFFFF)), st.binary(max_size=48))


@given(st.integers(0, 10), st.lists(attributes, max_size=12), st.one_of(st.none(), st.integers(0, 2**32 - 1)))
def test_no_attribute_leads_outside(
    command: int, attributes: list[tuple[int, int, bytes]], claimed: int | None
) -> None:
    """Attributes and messages with wrong lengths."""
    data = message(command, *(struct.pack("=HH", size, kind) + body for size, kind, body in attributes))
    if claimed is not None:
        data = struct.pack("=I", claimed) + data[4:]
    assert read(data)[0] in range(5)


@given(st.permutations(range(7)), st.integers(0, 6), lengths)
@examples(500)
def test_no_attribute_of_a_sound_frame_leads_outside(order: list[int], liar: int, length: int) -> None:
    attributes = [frame((1, 1))[i] for i in order]
    attributes[liar] = struct.pack("=H", length) + attributes[liar][2:]
    assert read(message(CMD_FRAME, *attributes))[0] in (FRAME, BROKEN)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data: bytes) -> None:
    assert read(data)[0] in range(5)


def test_a_signal_is_the_nearest_dbm() -> None:
    """A client's roaming compares it with a threshold: rounded towards zero, -70.9 dBm would not be below -70."""
    said = {
        -70_900: -71,
        -70_500: -70,
        -70_501: -71,
        -499: 0,
        499: 0,
        500: 1,
        10_400: 10,
        -127_600: -128,
        -140_000: -128,
    }
    assert {mdbm: library().message_dbm(mdbm) for mdbm in said} == said
