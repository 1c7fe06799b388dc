# SPDX-License-Identifier: BSD-3-Clause
"""ackthin's parsing of packets, in user space: which segments may be thinned by their headers alone, and why not."""

from __future__ import annotations

import pytest
import wire
from hypothesis import given
from hypothesis import strategies as st
from thinning import HOLD, NEVER_THINNED, TIMESTAMPS, edited, over_ipv6, packet, parse

from emulation.lane import ackthin


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
    """Bytes after the end of options are padding."""
    for data in (packet(options=options), over_ipv6(packet(options=options))):
        parsed = parse(data)
        assert parsed
        assert parsed.why == HOLD


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
    """Ethernet's shortest frame is longer than an ACK."""
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
    """Any content, under the sanitizer. Whatever may be thinned looks like an ACK."""
    parsed = parse(data, min(len(data), 120))
    parse(data, min(cut, len(data), 120))
    if parsed and parsed.why == HOLD:
        tcp = data[40:] if data[0] >> 4 == 6 else data[(data[0] & 15) * 4 :]
        assert tcp[13] == 0x10
        assert not tcp[12] & 15
