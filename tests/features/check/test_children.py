# SPDX-License-Identifier: BSD-3-Clause
"""What is put below a qdisc with classes, and how its classes go."""

from __future__ import annotations

import errno
import struct
from types import SimpleNamespace

from emulation.features.check.inside import children, setups
from emulation.features.check.inside.children import CHILDREN, TURNS, use_children, use_grandchildren
from emulation.lane.netlink import NetlinkError

CLASSES = setups.Setup(classes=(b"",) * setups.CLASSES)
BELOW = setups.HANDLE + 1


class Kernel:
    """It notes the qdiscs that are put below the one under test, and the packets and classes of that one."""

    def __init__(self, parent):
        self.parent, self.happened = parent, []
        self.kind, self.name, self.radio = "mine", "sta5", SimpleNamespace(index=1)
        self.route = self.playground = self.job = self.queues = self.packets = self

    def replace_qdisc(self, index, kind, options, parent=0, handle=0):
        if kind == "mine":
            assert handle == setups.HANDLE
        elif parent == BELOW:
            if not self.parent:
                raise NetlinkError(errno.EOPNOTSUPP, "no")
            self.happened.append(kind)

    def request(self, message, payload, *_, **__):
        if message == setups.RTM_DELTCLASS:
            self.happened.append(struct.unpack_from("=i", payload, 8)[0] - setups.HANDLE)
        return []

    def attempt(self, what, action):
        try:
            action()
        except NetlinkError:
            return False
        return True

    def flood(self, node, count=1, long=False):
        self.happened.append("long packets" if long else "packets")

    def send(self, node, count):
        self.happened.append("packets")

    def add_class(self, index, kind, options, parent, handle):
        if parent != setups.HANDLE:
            self.happened.append((parent - setups.HANDLE, handle - setups.HANDLE))

    def ignore(self, *_):
        pass

    delete_qdisc = run = ignore


def test_each_child_gets_packets_and_each_class_goes_while_it_has_some(monkeypatch):
    monkeypatch.setattr(setups, "FOUND", {"mine": CLASSES})
    kernel = Kernel(parent=True)
    monkeypatch.setattr(children, "send", lambda node, number: kernel.happened.append(f"to class {number}"))
    use_children(kernel, kernel)
    below = [one for child in CHILDREN for one in (child, "long packets")]
    losing = ["netem", *["to class 1"] * TURNS, 1, "to class 2"]
    assert kernel.happened == [*below, *losing, "packets", 1, "packets", "packets", 2, "packets"]


def test_a_qdisc_without_children_gets_none(monkeypatch):
    monkeypatch.setattr(setups, "FOUND", {})
    kernel = Kernel(parent=False)
    use_children(kernel, kernel)
    assert kernel.happened == []


def test_each_class_gets_a_class_while_it_has_packets_and_both_go(monkeypatch):
    monkeypatch.setattr(setups, "FOUND", {"mine": CLASSES})
    kernel = Kernel(parent=False)
    use_grandchildren(kernel, kernel)
    assert kernel.happened == [
        what for number in (1, 2)
        for what in ("packets", (number, 3), "packets", 3, "packets", number, "packets")
    ]  # fmt: skip
