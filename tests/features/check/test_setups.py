# SPDX-License-Identifier: BSD-3-Clause
"""What a qdisc cannot be without: how it is found out, and how users give it."""

from __future__ import annotations

import errno
import struct
from types import SimpleNamespace

import click
import pytest

from emulation.features.check.commands.module.check import QdiscOptions
from emulation.features.check.inside import queues, setups
from emulation.features.check.inside.setups import NOTHING, Setup
from emulation.lane.netlink import NetlinkError, build, parse
from emulation.lane.rtnetlink import QDISC, TCA_KIND, TCA_OPTIONS


class Picky:
    """A kernel whose qdiscs take what a function approves, and keep what they were made with."""

    def __init__(self, approves, classes=None):
        self.approves, self.approves_class, self.made = approves, classes, []
        self.route, self.radio = self, SimpleNamespace(index=1)

    def replace_qdisc(self, index, kind, options, parent=0, handle=0):
        if kind != "pfifo" and not self.approves(options):
            raise NetlinkError(errno.EINVAL, "no")
        self.made.append((kind, options))

    def add_class(self, index, kind, options, parent, handle):
        if self.approves_class is None or not self.approves_class(options):
            raise NetlinkError(errno.EINVAL, "no")

    def request(self, *_, **__):
        return []


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch):
    monkeypatch.setattr(setups, "FOUND", {})


def test_options_are_replaced_and_added():
    setup = Setup(b"ab", ((1, 7), (2, b"x")))
    assert setup.options() == b"ab" + build([(1, 7), (2, b"x")])
    assert setup.options([(2, b"y"), (3, 1)]) == b"ab" + build([(1, 7), (2, b"y"), (3, 1)])
    assert NOTHING.options() == b"" and not NOTHING.needs_options()


def test_words_are_those_of_structures_and_short_options():
    setup = Setup(bytes(8), ((1, b"\1"), (2, bytes(256)), (3, struct.pack("=II", 5, 6))))
    options = setup.options()
    numbers = [struct.unpack_from("=I", options, at)[0] for at in setup.places()]
    assert numbers == [0, 0, 1, 5, 6]


def test_words_of_what_a_qdisc_shows_are_those_of_its_structures(monkeypatch):
    """Also of structures in attributes; a number is no structure."""
    shown = build([(1, struct.pack("=III", 5, 6, 7)), (2, 8), (3, struct.pack("=Q", 9))])
    monkeypatch.setattr(queues, "new_options", lambda node, kind: shown)
    options, places = queues.words(None, "mine")
    assert [struct.unpack_from("=I", options, at)[0] for at in places] == [5, 6, 7]
    assert options == build([(1, struct.pack("=III", 5, 6, 7))])


@pytest.mark.parametrize(("port", "number"), [(7000, 1), (7001, 2)])
def test_packets_are_spread_over_classes_by_their_port(port, number):
    """As filters of the kernel go: by priority, matchall takes all, and u32 what its key fits, if it ends there."""
    filters: list[tuple[int, str, dict[int, bytes]]] = []

    def note(message, payload, flags, what):
        found = parse(payload[QDISC.size :])
        options = parse(found[TCA_OPTIONS])
        filters.append((QDISC.unpack_from(payload)[-1] >> 16, found[TCA_KIND].rstrip(b"\0").decode(), options))

    setups.spread(SimpleNamespace(radio=SimpleNamespace(index=1), route=SimpleNamespace(request=note)))
    packet, chosen = bytes(20) + struct.pack("!HHI", port, 7100, 0), []
    for _, kind, options in sorted(filters, key=lambda one: one[0]):
        if kind == "u32":
            flags, _, keys = options[5][:3]
            mask, value, at = struct.unpack("!II", options[5][16:24]) + struct.unpack("=i", options[5][24:28])
            fits = struct.unpack_from("!I", packet, at)[0] & mask == value
            chosen += [options[1]] * (keys == 1 and flags & 1 and fits)
        else:
            chosen.append(options[1])
    assert struct.unpack("=I", chosen[0])[0] == setups.HANDLE + number


@pytest.mark.parametrize(
    ("approves", "found"),
    [
        (lambda options: True, NOTHING),
        (lambda options: options and parse(options).get(3) == b"\x64\0", Setup(attributes=((3, b"\x64\0"),))),
        (lambda options: options == struct.pack("=IIII", 3, 0, 0, 0), Setup(struct.pack("=IIII", 3, 0, 0, 0))),
    ],
)
def test_what_it_cannot_be_without_is_found_out(approves, found):
    assert setups.find(Picky(approves), "mine") == found == setups.of("mine")


@pytest.mark.parametrize("name", ["choke", "mychoke", "mine"])
def test_a_copy_of_the_kernels_own_takes_what_that_one_takes(name):
    wanted = setups.KERNELS["choke"]
    assert setups.find(Picky(lambda options: options == wanted.options()), name) == wanted


@pytest.mark.parametrize("name", ["sfq", "xsfq"])
def test_a_copy_gets_the_options_of_its_like_before_none(name):
    assert setups.find(Picky(lambda options: True), name) == setups.KERNELS["sfq"]


def test_a_name_that_no_qdisc_has_ends_the_search():
    """teql's is the pattern of its devices' names."""
    tried = []

    class Kernel(Picky):
        def replace_qdisc(self, index, kind, options, parent=0, handle=0):
            if kind != "pfifo":
                tried.append(options)
                raise NetlinkError(errno.ENOENT, "Specified qdisc kind is unknown")

    with pytest.raises(NetlinkError, match="kind is unknown"):
        setups.find(Kernel(None), "teql%d")
    assert tried == [None]


def test_what_nobody_knows_is_refused_with_the_kernels_words():
    with pytest.raises(NetlinkError, match="no"):
        setups.find(Picky(lambda options: False), "mine")


def test_more_options_follow_those_that_it_is_made_with_but_no_command(monkeypatch):
    monkeypatch.setattr(setups, "KERNELS", {"mine": Setup(then=(b"then",), commands=(b"go",))})
    node = Picky(lambda options: True)
    setups.find(node, "mine")
    for options in (b"other", b"go"):
        queues.put(node, "mine", options)
    assert [options for kind, options in node.made if kind == "mine"] == [None, b"then", b"other", b"then", b"go"]


def test_the_users_options_come_first():
    node = Picky(lambda options: options == b"1234")
    assert setups.find(node, "red", b"1234") == Setup(b"1234")
    with pytest.raises(NetlinkError):
        setups.find(node, "red", b"12345678")


def test_classes_are_found_out():
    node = Picky(lambda options: True, lambda options: parse(options).get(2) == b"\1")
    assert setups.find_classes(node, "mine")
    assert setups.of("mine").classes == (build([(2, b"\1")]),) * setups.CLASSES
    assert not setups.find_classes(Picky(lambda options: True), "other")


def test_options_are_read_as_numbers_or_bytes():
    convert = QdiscOptions().convert
    assert convert("1=1000,2:u8=3", None, None) == "hex:" + build([(1, 1000), (2, b"\3")]).hex()
    assert convert("hex:00 ff", None, None) == "hex:00ff"
    for wrong in ("", "1", "0=1", "x=1", "1:u9=1", "1:u8=256", "1=-1", "hex:1", "20000=1"):
        with pytest.raises(click.exceptions.BadParameter, match="write NUMBER=VALUE"):
            convert(wrong, None, None)
