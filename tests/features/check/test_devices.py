# SPDX-License-Identifier: BSD-3-Clause
"""The link at which a qdisc is used, and what it gets there."""

from __future__ import annotations

import errno
import socket
import struct
import time
from random import Random
from types import SimpleNamespace

import pytest

from emulation.features.check.inside import devices, queues, reach, setups
from emulation.features.check.inside.devices import Loopback, ManyQueues
from emulation.features.check.inside.queues import Queues
from emulation.lane import rtnetlink
from emulation.lane.netlink import NetlinkError, parse


class Node:
    """A node whose kernel has qdiscs of some names at some links."""

    def __init__(self, takes):
        self.takes, self.there, self.links = takes, {}, {"wlan": 2}
        self.name, self.route, self.radio = "sta1", self, SimpleNamespace(index=2, name="wlan")

    def replace_qdisc(self, index, kind, options=None, parent=0, handle=0):
        link = {1: "lo", **{number: name for name, number in self.links.items()}}[index]
        if kind != "pfifo" and not self.takes(kind, link):
            raise NetlinkError(errno.EOPNOTSUPP, "no")
        self.there[link] = kind

    def new_link(self, name, kind, below, values, queues):
        assert queues > 1
        self.links[name] = len(self.links) + 2

    def index(self, name):
        return self.links[name]

    def ignore(self, *_, **__):
        return []

    set_link = add_address = add_class = request = ignore


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch):
    monkeypatch.setattr(setups, "FOUND", {})
    monkeypatch.setattr(setups, "NUMBERS", ())
    monkeypatch.setattr(Queues, "check_listed", lambda self: None)
    monkeypatch.setattr(Queues, "refuse", lambda self: None)


def used(kind, takes, brought=()):
    node, notes = Node(takes), []
    job = SimpleNamespace(settings={}, say=lambda what: None, note=notes.append)
    found = Queues(kind, SimpleNamespace(nodes=[node], random=Random(1)), job, list(brought))
    found.put_everywhere()
    return found, node, notes


def test_a_qdisc_is_used_at_the_nodes_own_links_if_they_suit():
    found, node, notes = used("mine", lambda kind, link: True)
    assert (found.kind, found.apart, node.there, notes) == ("mine", None, {"wlan": "mine"}, [])


def test_one_that_needs_several_queues_is_used_there_alone():
    """The nodes' links have none of it, as long as it is not asked for."""
    found, node, [note] = used("mine", lambda kind, link: link == devices.NAMES[0])
    assert found.kind is None and set(node.there.values()) == {"pfifo"}
    assert note.startswith("it is used at sta1's many1 only")
    found.use_apart()
    assert found.kind == "mine" and isinstance(found.apart, ManyQueues)


def test_one_that_wants_sending_times_is_used_at_the_loopback_alone(monkeypatch):
    monkeypatch.setattr(setups, "KERNELS", {"timely": setups.Setup(timed=True)})
    found, node, _ = used("timely", lambda kind, link: True)
    assert found.kind is None and isinstance(found.apart, Loopback) and node.there["wlan"] == "pfifo"


def test_one_that_is_named_after_its_modules_link_is_used_with_that(monkeypatch):
    monkeypatch.setattr(socket, "if_indextoname", lambda index: f"mine{index - 7}")
    monkeypatch.setattr(queues, "Masters", lambda node, indexes: list(indexes))
    found, _, _ = used("mine%d", lambda kind, link: kind == "mine0", brought=[7])
    found.use_apart()
    assert (found.kind, found.masters, len(found.beside)) == ("mine0", [7], 1)


def test_one_that_suits_no_link_is_not_used():
    found, _, [note] = used("mine", lambda kind, link: False)
    found.use_apart()
    assert found.kind is None and note == "no; so it was loaded, but not used"


def test_a_link_gets_several_queues(monkeypatch):
    asked = []
    monkeypatch.setattr(rtnetlink.Route, "request", lambda self, *asked_: asked.append(asked_))
    rtnetlink.Route.new_link(object.__new__(rtnetlink.Route), "many", "dummy", None, [], queues=4)
    found = parse(asked[0][1][rtnetlink.LINK.size :])
    assert struct.unpack("=I", found[rtnetlink.IFLA_NUM_TX_QUEUES]) == (4,)


def test_each_datagram_has_its_sending_time(monkeypatch):
    """By the clock of its socket; some times are over."""
    sent, clocks = [], []

    class Socket:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def setsockopt(self, level, option, value):
            clocks.append(reach.TXTIME.unpack(value)[0])

        def sendmsg(self, parts, ancillary, flags, address):
            [(_, kind, data)] = ancillary
            assert kind == reach.SO_TXTIME
            sent.append(reach.TIME.unpack(data)[0] - time.clock_gettime_ns(clocks[-1]))

    monkeypatch.setattr(socket, "socket", Socket)
    reach.send_timed(Socket(), "127.0.0.1", Random(1), 60)
    assert len(sent) == 60 and min(sent) < 0 and max(sent) > 1e10
    assert set(clocks) == {time.CLOCK_TAI, time.CLOCK_MONOTONIC}
