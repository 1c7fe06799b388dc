# SPDX-License-Identifier: BSD-3-Clause
"""The control socket's messages, byte for byte, and what they change."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.control import FORMATS, Client, Request, Result, UnknownError
from emulation.features.wmediumd.inside.stations import Mode, Stations

A, B, C = (bytes([2, 0, 0, 0, number, 0]) for number in range(3))
ANSWERED = {1: 19, 3: 9, 5: 7, 7: 13, 9: 19, 11: 14, 13: 21, 15: 13, 17: 13, 19: 13, 21: 13, 23: 13}  # bytes
ASKED = {0: 1, 1: 17, 3: 7, 5: 5, 7: 7, 9: 17, 11: 589, 13: 19, 15: 11, 17: 11, 19: 11, 21: 11, 23: 11}


def stations(mode: Mode = Mode.SNR) -> Stations:
    found = parse('ifaces: { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00"]; };').stations
    found.mode = mode
    return found


def ask(of: Stations, message: bytes) -> bytes:
    (done,) = Client(of).feed(message)
    return done.answer


def test_messages_are_as_long_as_they_are() -> None:
    assert {int(request): 1 + layout.size for request, layout in FORMATS.items()} == ASKED
    for request, size in ASKED.items():
        for mode in Mode:
            answered = ask(stations(mode), bytes([request]) + bytes(size - 1))
            assert len(answered) == ANSWERED.get(request, 0) and answered[:1] == bytes([request + 1])[: len(answered)]


def test_an_snr_is_set_both_ways() -> None:
    of = stations()
    message = b"\x01" + A + B + struct.pack(">i", -7)
    assert ask(of, message) == b"\x02" + message + b"\x00"
    assert of.link_snr(*of.all) == of.link_snr(*reversed(of.all)) == -7


def test_a_loss_probability_has_31_bits_after_the_point() -> None:
    of = stations(Mode.PROB)
    message = b"\x09" + A + B + struct.pack(">I", 1 << 29)
    assert ask(of, message) == b"\x0a" + message + b"\x00"
    assert of.link_error(*of.all) == of.link_error(*reversed(of.all)) == 0.25
    ask(of, b"\x09" + A + B + struct.pack(">I", 1 << 31))
    assert of.link_error(*of.all) == 1.0


def test_a_matrix_is_by_size_and_rate_and_one_way() -> None:
    of = stations(Mode.SPECIFIC)
    message = b"\x0b" + A + B + struct.pack(">144I", *(((1 << 31) // 144) * place for place in range(144)))
    assert ask(of, message) == b"\x0c" + A + B + b"\x00"
    assert of.link_specific(*of.all, 0, 1) == pytest.approx(1 / 144)
    assert of.link_specific(*of.all, 1500, 11) == pytest.approx(143 / 144)
    assert of.link_specific(*of.all, 9999, 0) == pytest.approx(132 / 144)
    assert of.link_specific(*reversed(of.all), 0, 1) == 1.0


def test_stations_come_and_go() -> None:
    of = stations()
    ask(of, b"\x01" + A + B + struct.pack(">i", 5))
    assert ask(of, b"\x07" + C) == b"\x08\x07" + C + b"\x00\x00\x00\x02\x00"
    assert ask(of, b"\x07" + B) == b"\x08\x07" + B + b"\x00\x00\x00\x01" + bytes([Result.DUPLICATE])
    assert ask(of, b"\x03" + A) == b"\x04\x03" + A + b"\x00"
    assert ask(of, b"\x03" + A) == b"\x04\x03" + A + bytes([Result.INTF_NOTFOUND])
    assert ask(of, b"\x05\x00\x00\x00\x01") == b"\x06\x05\x00\x00\x00\x01\x00"
    assert ask(of, b"\x05\xff\xff\xff\xff") == b"\x06\x05\xff\xff\xff\xff" + bytes([Result.INTF_NOTFOUND])
    assert [one.address for one in of.all] == [B]
    ask(of, b"\x07" + A)
    assert of.link_snr(*of.all) == 30  # nothing is known of it any more


def test_places_powers_gains() -> None:
    of = stations(Mode.PATH_LOSS)
    message = b"\x0d" + A + struct.pack(">fff", 1.5, -2.0, 0.25)
    assert ask(of, message) == b"\x0e" + message + b"\x00"
    for kind, value in ((15, -3), (17, 5), (19, 2), (23, 4)):
        ask(of, bytes([kind]) + A + struct.pack(">i", value))
    ask(of, b"\x15" + A + struct.pack(">f", 0.5))
    one = of.all[0]
    assert (one.position, one.tx_power, one.gain, one.height, one.medium) == ((1.5, -2.0, 0.25), -3, 5, 2, 4)
    assert one.shadow_db == 0.5


@pytest.mark.parametrize(("kind", "mode"), [(1, Mode.PROB), (9, Mode.SNR), (11, Mode.SNR), (13, Mode.SNR)])
def test_what_does_not_fit_the_mode_is_refused(kind: int, mode: Mode) -> None:
    assert ask(stations(mode), bytes([kind]) + A + B + bytes(ASKED[kind] - 13))[-1] == Result.WRONG_MODE


def test_messages_come_in_pieces_and_together() -> None:
    client = Client(stations())
    message = b"\x01" + A + B + struct.pack(">i", 1)
    answers = [done for byte in (message * 2)[:-1] for done in client.feed(bytes([byte]))]
    assert len(answers) == 1
    assert len(client.feed(message[-1:] + message)) == 2


def test_the_end_is_a_message() -> None:
    (done,) = Client(stations()).feed(b"\x00")
    assert done.shutdown and done.answer == b""


def test_what_changes_is_reported() -> None:
    of = stations()
    done = Client(of).feed(b"\x07" + C + b"\x07" + C + b"\x01" + A + B + bytes(4) + b"\x01" + A + bytes(6) + bytes(4))
    assert [(one.changed, one.members) for one in done] == [(True, True), (False, False), (True, False), (False, False)]


@given(st.binary(max_size=700), st.sampled_from(Mode))
def test_any_bytes_are_answered_or_refused(data: bytes, mode: Mode) -> None:
    client = Client(stations(mode))
    try:
        done = client.feed(data)
    except UnknownError:
        return
    assert sum(ASKED[one.answer[0] - 1] if one.answer else 1 for one in done) + len(client.buffer) == len(data)
    assert all(Request(one.answer[0] - 1) in FORMATS for one in done if one.answer)
