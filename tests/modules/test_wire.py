# SPDX-License-Identifier: BSD-3-Clause
"""The wire itself: built segments parse again, and the lane's kernel speaks TCP over it at exact times."""

import pytest
import wire
from hypothesis import given
from hypothesis import strategies as st


@given(flags=st.sets(st.sampled_from(wire.FLAGS)), seq=st.integers(0, 2**32 - 1), ack=st.integers(0, 2**32 - 1),
       window=st.integers(0, 65535), payload=st.binary(max_size=99))  # fmt: skip
def test_parse_reads_what_build_writes(flags, seq, ack, window, payload):
    options = b"\2\4\5\xb4\1\3\3\7"
    ordered = "".join(flag for flag in wire.FLAGS if flag in flags)
    packet = wire.build(bytes(4), b"\1\2\3\4", 1, 2, ordered, seq, ack, window, options, payload)
    assert wire.parse(packet, 5) == wire.Segment(5, 1, 2, ordered, seq, ack, window, options, payload)
    assert wire.checksum(packet[:20]) == 0  # RFC 1071: the sum over a header with its checksum


def test_other_packets_have_no_segment():
    packet = bytearray(wire.build(bytes(4), bytes(4), 1, 2, "A", 0, 0, 0, b"", b""))
    packet[9] = 17
    assert wire.parse(bytes(packet), 0) is None
    assert wire.parse(b"\x60" + bytes(39), 0) is None


def test_options_are_read_by_kind():
    assert wire.options_of(b"\1\1\5\x0aabcdefgh\2\4\5\xb4\0\2") == {5: b"abcdefgh", 2: b"\5\xb4"}


@pytest.mark.lane
def test_a_conversation_with_the_kernel(script):
    """The kernel as sender: its window at once, and its retransmission when its timer expires; and as receiver."""
    lines = script("""
        wire = Wire()
        flow = wire.connect("reno", mss=1000, delay_ns=50 * MS)
        flow.write(12_000)
        first = flow.heard()
        print([segment.seq for segment in first], {len(segment.payload) for segment in first})
        again = flow.expect(seq=0)
        print((again.time_ns - first[0].time_ns) / 1e6 > 200)
        flow.send(ack=10_000)
        print([segment.seq for segment in flow.heard()])
        flow.silent(wire.now() + 10 * MS)

        other = wire.accept(sack=True)
        other.send(seq=1000, payload=bytes(1000))
        print(other.expect("A", ack=0).sack)
        other.send(seq=0, payload=bytes(1000))
        print(other.expect("A").ack, len(other.socket.recv(9999)))
        start = wire.now()
        wire.wait(start + 3 * MS)
        print(0 <= wire.now() - start - 3 * MS < 2 * US)
    """)
    assert lines == ["[0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000] {1000}", "True", "[10000, 11000]",
                     "((1000, 2000),)", "2000 2000", "True"]  # fmt: skip
