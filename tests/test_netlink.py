# SPDX-License-Identifier: BSD-3-Clause
"""Netlink messages: built ones parse again, and parsing any bytes is harmless."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.lane import netlink
from emulation.lane.netlink import ACK_ATTRIBUTES, ACK_CAPPED, DONE, ERROR, HEADER, NetlinkError

KINDS = st.integers(0, netlink.TYPE_MASK)
FLAT = st.lists(st.tuples(KINDS, st.binary(max_size=100)))


@given(FLAT)
def test_attributes_survive(values):
    assert netlink.attributes(netlink.build(values)) == values


@given(st.lists(st.tuples(KINDS, FLAT)))
def test_nests_survive(values):
    found = netlink.attributes(netlink.build(values))
    assert [(kind, netlink.attributes(nest)) for kind, nest in found] == values


@given(st.integers(0, 0xFFFFFFFF), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_numbers_and_strings(number, text):
    found = netlink.parse(netlink.build([(1, number), (2, text)]))
    assert int.from_bytes(found[1], "little") == number
    assert found[2] == text.encode() + b"\0"


@given(st.lists(st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.integers(0, 2**32 - 1), st.binary())))
def test_messages_survive(wanted):
    datagram = b""
    for kind, flags, sequence, body in wanted:
        datagram += HEADER.pack(HEADER.size + len(body), kind, flags, sequence, 0) + body + bytes(-len(body) % 4)
    assert netlink.messages(datagram) == wanted


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_refused(data):
    for parse in (netlink.attributes, netlink.parse, netlink.messages):
        try:
            parse(data)
        except NetlinkError as error:
            assert error.errno == errno.EBADMSG


@given(st.sampled_from([ERROR, DONE]), st.integers(0, 0xFFFF), st.binary(max_size=100))
def test_any_acknowledgement_is_parsed_or_refused(kind, flags, data):
    try:
        netlink.acknowledgement(kind, flags, data)
    except NetlinkError as error:
        assert error.errno == errno.EBADMSG


@pytest.mark.parametrize("capped", [True, False])
def test_the_kernels_sentence_is_found(capped):
    payload = b"abcde"
    request = HEADER.pack(HEADER.size + len(payload), 16, 5, 1, 0) + (b"" if capped else payload + bytes(3))
    answer = struct.pack("=i", -errno.EINVAL) + request + netlink.build([(1, "no such thing")])
    flags = ACK_ATTRIBUTES | (ACK_CAPPED if capped else 0)
    assert netlink.acknowledgement(ERROR, flags, answer) == (errno.EINVAL, "no such thing")


def test_an_attribute_too_long_is_refused():
    with pytest.raises(NetlinkError, match="attribute 7 is too long: 65532 bytes"):
        netlink.build([(7, bytes(65532))])
