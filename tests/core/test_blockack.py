# SPDX-License-Identifier: BSD-3-Clause
"""Block acknowledgment: what the recipient remembers, against an unbounded memory; and the frames that carry it."""

from __future__ import annotations

import ctypes as c
from random import Random

import pytest
from dcf import Scoreboard, library
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

LIB = library()
TURN = 4096


class Recipient:
    """10.25.6.3 literally, with sequence numbers that never wrap."""

    def __init__(self, window: int, start: int) -> None:
        self.window, self.start, self.got = window, start, set[int]()

    def mark(self, sequence: int) -> None:
        if self.start <= sequence < self.start + TURN // 2:
            self.start = max(self.start, sequence - self.window + 1)
            self.got.add(sequence)

    def move(self, start: int) -> None:
        if self.start < start < self.start + TURN // 2:
            self.start = start

    def bits(self) -> list[bool]:
        return [self.start + i in self.got for i in range(self.window)]


def bitmap(board: Scoreboard) -> tuple[bytes, list[bool]]:
    room = c.create_string_buffer(32)
    length = LIB.scoreboard_bitmap(board, room)
    raw = room.raw[:length]
    return raw, [bool(raw[i // 8] >> i % 8 & 1) for i in range(8 * len(raw))]


steps = st.lists(
    st.tuples(st.sampled_from(["mark", "mark", "mark", "move"]),
              st.integers(-300, 300) | st.integers(-2047, 2047)),
    max_size=60,
)  # fmt: skip


@given(st.sampled_from([1, 8, 63, 64, 65, 128, 256]), st.integers(0, TURN - 1), steps)
@examples(500)
def test_the_scoreboard_is_the_standards(window: int, start: int, steps: list[tuple[str, int]]) -> None:
    board, model = Scoreboard(), Recipient(window, start + 10 * TURN)
    LIB.scoreboard_begin(board, window, start)
    for what, ahead in steps:
        sequence = model.start + ahead
        getattr(LIB, f"scoreboard_{what}")(board, sequence % TURN)
        getattr(model, what)(sequence)
        assert board.start == model.start % TURN
        raw, bits = bitmap(board)
        assert len(raw) == (8 if window <= 64 else 32)
        assert bits[:window] == model.bits() and not any(bits[window:])


class Originator:
    """Sends what its window holds, removes what is acknowledged, and gives up what was tried too often."""

    def __init__(self, window: int, start: int, tries: int) -> None:
        self.window, self.next, self.limit = window, start, tries
        self.waiting: dict[int, int] = {}

    @property
    def start(self) -> int:
        return min(self.waiting, default=self.next)

    def send(self, n: int) -> list[int]:
        while self.next < self.start + self.window:
            self.waiting[self.next] = 0
            self.next += 1
        return sorted(self.waiting)[:n]

    def settle(self, sent: list[int], acked: set[int]) -> None:
        for sequence in sent:
            self.waiting[sequence] += 1
            if sequence in acked or self.waiting[sequence] == self.limit:
                del self.waiting[sequence]


@given(
    st.sampled_from([(1, 1), (8, 8), (32, 64), (64, 64), (42, 64), (256, 256), (100, 256)]), st.integers(0, TURN - 1),
    st.integers(1, 6), st.floats(0, 0.9), st.booleans(), st.integers(0, 2**32),
)  # fmt: skip
@examples(100)
def test_no_mpdu_is_outside_its_window(sizes, start, tries, loss, asks, seed):  # type: ignore[no-untyped-def]
    """MPDUs, block ACKs and requests are lost; the recipient's window never passes the originator's, so its bitmap
    covers each MPDU that may arrive, and is true for each."""
    n, window = sizes
    sender, board = Originator(window, start + TURN, tries), Scoreboard()
    LIB.scoreboard_begin(board, window, start)
    received: set[int] = set()
    random = Random(seed)
    for _ in range(120):
        sent = sender.send(n)
        assert 0 < len(sent) <= n and all(sender.start <= s < sender.start + window for s in sent)
        for sequence in sent:
            if random.random() >= loss:
                assert LIB.scoreboard_mark(board, sequence % TURN), "an MPDU that lies before the recipient's window"
                received.add(sequence)
        ahead = (sender.start - board.start) % TURN
        assert ahead < TURN // 2, "the recipient's window has passed the originator's"
        acked = {s for s in sent if LIB.scoreboard_has(board, s % TURN)}
        assert acked == {s for s in sent if s in received and (s - board.start) % TURN < window}
        sender.settle(sent, acked if random.random() >= loss else set())
        if asks and random.random() >= loss:
            LIB.scoreboard_move(board, sender.start % TURN)


A, B = bytes(range(6)), bytes(range(6, 12))


@given(st.integers(0, 15), st.integers(0, TURN - 1), st.integers(0, 32_767), st.binary(min_size=8, max_size=8)
       | st.binary(min_size=32, max_size=32))  # fmt: skip
def test_block_acks_on_the_air(tid: int, start: int, duration: int, bits: bytes) -> None:
    """9.3.1.8.2: 28 bytes without FCS, or 52."""
    room = c.create_string_buffer(52)
    length = LIB.dcf_make_block_ack(room, A, B, duration, tid, start, bits, len(bits))
    frame = room.raw[:length]
    assert len(frame) == 20 + len(bits)
    assert (
        frame
        == b"\x94\x00"
        + duration.to_bytes(2, "little")
        + A
        + B
        + bytes((4, tid << 4))
        + (start << 4 | (4 if len(bits) == 32 else 0)).to_bytes(2, "little")
        + bits
    )
    assert LIB.dcf_is_block_ack(frame, len(frame)) and not LIB.dcf_is_block_ack(frame, len(frame) - 1)
    assert (LIB.dcf_block_tid(frame), LIB.dcf_block_start(frame)) == (tid, start)
    for i in (0, 1, 63, 64, 255, 4000):
        wanted = i < 8 * len(bits) and bool(bits[i // 8] >> i % 8 & 1)
        assert LIB.dcf_block_acks(frame, len(frame), (start + i) % TURN) == wanted


def test_requests_on_the_air() -> None:
    """9.3.1.7: 20 bytes without FCS."""
    room = c.create_string_buffer(52)
    length = LIB.dcf_make_request(room, A, B, 48, 5, 0x123)
    frame = room.raw[:length]
    assert frame == b"\x84\x00\x30\x00" + A + B + b"\x04\x50\x30\x12"
    assert LIB.dcf_is_request(frame, 20) and not LIB.dcf_is_request(frame, 19) and not LIB.dcf_is_block_ack(frame, 20)
    assert (LIB.dcf_block_tid(frame), LIB.dcf_block_start(frame)) == (5, 0x123)


@pytest.mark.parametrize("reader", ["dcf_is_request", "dcf_is_block_ack"])
@given(frame=st.binary(max_size=60))
def test_any_bytes_may_be_read(reader: str, frame: bytes) -> None:
    if getattr(LIB, reader)(frame, len(frame)):
        assert len(frame) >= 20 and frame[0] == (0x84 if reader == "dcf_is_request" else 0x94)
