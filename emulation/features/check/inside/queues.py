# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines under test: as a link's root, and as the child of a token bucket, which peeks and builds a
backlog.

Only the qdisc's name is known, so its options are discovered. What it accepts of all numbers, widths and values that
options may have is used to change it later. `setups` has what it cannot be without.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from functools import partial

from emulation.features.check.inside import Name, setups
from emulation.features.check.inside.crowd import CLOSED_PORT
from emulation.features.check.inside.devices import Loopback, ManyQueues, Masters
from emulation.features.check.inside.job import reason
from emulation.features.check.inside.packets import Packets
from emulation.features.check.inside.setups import NUMBERS, VALUES, WIDTHS, WORD
from emulation.lane.netlink import NetlinkError, attributes, parse, text
from emulation.lane.rtnetlink import ROOT, TCA_KIND, TCA_OPTIONS, TCA_STATS2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.features.check.inside.job import Job
    from emulation.features.check.inside.playground import Playground
    from emulation.lane.node import Node

TCA_STATS_QUEUE = 3
QUEUE = struct.Struct("=IIIII")  # struct gnet_stats_queue: length, backlog, drops, requeues, overlimits
OWN_HANDLE, CHILD = 0x10000, 0x10001
MOST_CHANGED = 4  # options at once
CHANGES, CHANGES_S = 60, 12.0
SLOW, FLOOD, FEW, BETWEEN_S = 10_000, 150, 10, 0.1  # bytes/s of the bucket; datagrams: more than a queue holds, less
UDP_SEGMENT, SEGMENT = 103, 400  # bytes of a datagram that is to be segmented, and of a segment
ALIKE, PRIORITIES = 10, 16  # datagrams in a row of one priority; tc has as many
LARGEST_NUMBER = 8  # bytes of an option that is no structure
SMALL_LIMITS, HALF = (1, 2, 3), 2**31  # what may be the limit of a queue; a probability, of 2**32
BURSTS, BURST, BURST_S = 16, 150, 0.3  # of packets of all kinds
PERIOD_S = 2.2  # more than two seconds
PAUSES, IDLE_S = 4, 1.0  # longer than a qdisc holds a packet unless it is told to
TIMES = 3  # that each option is set while memory is short, and that a change must be ignored
SOME = 4  # values of an option to change it to
ENOUGH = 4  # values of an option that should not all look alike
WRONG = (None, b"", b"\xff" * 7, b"\xff" * 64)  # options that a qdisc may refuse
PRIO = struct.pack("=i16s", 3, bytes(16))  # struct tc_prio_qopt: all to the first band
PRIO_HANDLE, BAND = 0x20000, 0x20001


class Queues:
    """The qdisc `kind` at all nodes; `kind` is None if there is none, or if it is not known what it needs."""

    def __init__(self, kind: str | None, playground: Playground, job: Job, brought: Sequence[int] = ()) -> None:
        self.kind, self.playground, self.job = kind, playground, job
        self.accepted: dict[int, list[bytes]] = {}  # by the option's number
        self.packets = Packets(playground.random)
        self.shown: set[int] = set()  # numbers of options that it shows under some value
        self.flags: set[int] = set()  # numbers of options that show 0 or 1 for all values
        self.listed = False  # whether that was checked
        self.option_found = False  # whether some option was found to accept a value of no bytes
        self.brought = brought  # links that the module brings
        self.apart: Any = None  # a link for it, if it cannot carry the nodes' traffic
        self.later: str | None = None  # what is used at that link
        self.beside: list[Any] = []  # more such links
        self.masters: Masters | None = None  # the module's links, if they are in use

    def put_everywhere(self) -> None:
        try:
            if self.kind and self.kind not in setups.FOUND:
                self.find()
                self.job.say(f"{self.kind} needs {setups.of(self.kind)}")
            if self.apart:
                self.job.note(f"it is used at {self.apart.name} only: it cannot carry the nodes' traffic")
                for link in (self.playground.nodes[0], self.apart):
                    put(link, "pfifo")
                self.later, self.kind = self.kind, None
            for node in self.playground.nodes if self.kind else ():
                put(node, self.kind or "")
        except NetlinkError as error:
            self.give_up(str(error.strerror))
        if self.kind and not self.listed:
            self.check_listed()
            self.refuse()
            put(self.playground.nodes[0], "pfifo")
            put(self.playground.nodes[0], self.kind)

    def find(self) -> None:
        """Find out what it needs, and a link that it takes. Raises NetlinkError if there is none."""
        given, kind = bytes.fromhex(self.job.settings.get("options", "")), self.kind or ""
        node = self.playground.nodes[-1]
        try:
            setups.find(self.playground.nodes[0], kind, given)
            self.apart = Loopback(node) if setups.of(kind).timed else None
        except NetlinkError as refused:
            try:
                self.apart = ManyQueues(node)
                if self.brought:  # the qdisc is named after its link, as teql's
                    self.kind = kind = socket.if_indextoname(self.brought[0])
                setups.find(self.apart, kind, given)
            except NetlinkError:
                self.apart = None
                raise refused from None

    def use_apart(self) -> None:
        """Use it at a link of its own, and the module's links with it."""
        if self.later:
            self.kind, self.later = self.later, None
            if self.brought:
                self.masters, self.beside = Masters(self.apart.node, self.brought), [ManyQueues(self.apart.node, 1)]

    def check_listed(self) -> None:
        """Check that the kernel can describe the qdisc."""
        self.listed = True
        for node in self.playground.nodes if self.kind else ():
            if text(node.route.qdisc(node.radio.index).get(TCA_KIND, b"")) != self.kind:
                problem = (
                    f"`tc qdisc show` does not list {self.kind} at {node.name}: its dump function fails, or leaves"
                )
                self.job.find(Name.WRONG_OPTION, f"{problem} something behind")
                return

    def refuse(self) -> None:
        """Make it with options that it may refuse, and none: it then ends before it has begun."""
        node, kind = self.playground.nodes[0], self.kind or ""
        for options in WRONG:
            what = f"qdisc {kind} at {node.name} with {'no' if options is None else len(options)} bytes of options"
            with contextlib.suppress(NetlinkError):  # it is there
                node.route.replace_qdisc(node.radio.index, "pfifo")
            self.job.attempt(what, partial(node.route.replace_qdisc, node.radio.index, kind, options))

    def check_idle(self) -> None:
        """Check that no packet stays in a queue. The packets are nobody's, so no retransmission follows them."""
        packets = Packets(self.playground.random, FEW)
        for _ in range(PAUSES) if self.kind else ():
            packets.send(self.playground.nodes[0], FEW)
            self.playground.run(IDLE_S)
            before = self.lengths()
            if any(before.values()):
                self.playground.run(IDLE_S)
            stuck = [name for name, length in self.lengths().items() if length and length == before[name]]
            if stuck:
                said = f"{self.kind} at {stuck[0]} holds {before[stuck[0]]} packets for {IDLE_S:g} s on an idle link"
                self.job.find(Name.STALLED_TRAFFIC, f"{said}: does its watchdog come in time?")
                return

    def lengths(self) -> dict[str, int]:
        """Return the lengths of the queues at all nodes, by name."""
        return {node.name: statistics(node)[0] for node in self.playground.nodes if self.kind}

    def give_up(self, why: str) -> None:
        self.remove_everywhere()
        self.job.note(f"{why}; so it was loaded, but not used")
        self.kind = None

    def remove_everywhere(self) -> None:
        for node in self.playground.nodes if self.kind else ():
            put(node, "pfifo")

    def qdiscs(self) -> None:
        """Change, inspect, overload and remove the qdiscs, while they hold packets."""
        self.send_packets(self.playground.nodes[0])
        self.find_options(self.playground.nodes[-1])
        self.set_small_limits(self.playground.nodes[-1])
        self.set_words(self.playground.nodes[-1])
        self.playground.at_random_times(CHANGES, CHANGES_S, self.change)
        self.check_changes(self.playground.nodes[-1])
        self.put_everywhere()

    def send_packets(self, node: Node) -> None:
        """Send packets of all kinds, of more flows than a table holds."""
        sent = 0
        for _ in range(BURSTS):
            sent += self.packets.send(node, BURST)
            self.playground.run(BURST_S)
        self.job.results["packets"] = sent

    def find_options(self, node: Node) -> None:
        """Find out which options the qdisc accepts."""
        for number in NUMBERS:
            for width in WIDTHS:
                values = [value.to_bytes(8, "little")[:width] for value in VALUES if value < 1 << 8 * width]
                shown: list[bytes | None] = []
                accepted = []
                for value in (value for value in values if self.accepts(node, [(number, value)])):
                    accepted.append(value)
                    shown.append(options_of(node).get(number))
                if accepted:
                    self.shown |= {number} if any(shown) else set()
                    self.accepted[number] = accepted
                    if len(accepted) > 2 and {int.from_bytes(value or b"", "little") for value in shown} == {0, 1}:
                        self.flags.add(number)
                    self.check_option(node, number, accepted, shown, all_=accepted == values)
                    break
        self.job.results["options"] = {number: len(values) for number, values in self.accepted.items()}

    def check_option(
        self, node: Node, number: int, accepted: list[bytes], shown: list[bytes | None], all_: bool
    ) -> None:
        """Check that an option shows what it accepted, more or less, and accepts no value of no bytes. One that accepts
        `all_` values may be a flag, such as cake's `raw`."""
        width = len(accepted[0])
        if None in shown or {len(value or b"") for value in shown} != {width}:
            return
        if not all_ and len(accepted) >= ENOUGH and len(set(shown)) == 1:
            least, *_, most, value = (int.from_bytes(each, "little") for each in (*accepted, shown[0] or b""))
            said = f"accepts {len(accepted)} values from {least} to {most}, and shows {value} each time"
            self.job.find(Name.WRONG_OPTION, f"option {number} of {self.kind} {said}")
        if not self.option_found and self.accepts(node, [(number, b"")]):
            self.option_found = True
            said = f"has {width} bytes, and is accepted without any: is an error of nla_parse() ignored?"
            self.job.find(Name.WRONG_OPTION, f"option {number} of {self.kind} {said}")

    def accepts(self, node: Node, options: Sequence[tuple[int, bytes]], parent: int = ROOT) -> bool:
        described = " ".join(f"{number}={value.hex()}" for number, value in options)
        what = f"qdisc {self.kind} at {node.name} with {described}"
        changed = setups.of(self.kind or "").options(options)
        return self.job.attempt(what, lambda: put(node, self.kind or "", changed, parent))

    def set_small_limits(self, node: Node) -> None:
        """Change each option that may be a limit to a small value while there is a backlog, as the child of a bucket
        and of prio."""
        for number, values in self.accepted.items():
            small = [value for value in values if int.from_bytes(value, "little") in SMALL_LIMITS]
            what = f"qdisc {self.kind} with a backlog at {node.name}"
            if small and self.job.attempt(what, lambda: put_behind_prio(node, self.kind or "", SLOW)):
                self.flood(node)
                self.accepts(node, [(number, self.playground.random.choice(small))], BAND)
                self.flood(node, FEW)
                self.playground.run(BETWEEN_S)

    def set_words(self, node: Node) -> None:
        """If the options are a structure, or it cannot be without them, set each word to a small value while there is a
        backlog, as the child of a bucket and of prio. A word of 0 becomes 1: it may be a period in seconds, so two of
        them pass. Then it becomes HALF: it may be a probability."""
        kind = self.kind or ""
        shown, places = words(node, kind)
        for at in places:
            off = not any(shown[at : at + WORD.size])
            for number in (1, HALF) if off else (self.playground.random.choice(SMALL_LIMITS),):
                options = shown[:at] + WORD.pack(number) + shown[at + WORD.size :]
                what = f"qdisc {kind} with a backlog at {node.name}, {number} in byte {at}"
                if not self.job.attempt(what, lambda: put_behind_prio(node, kind, SLOW)):
                    return
                self.flood(node)
                done = self.job.attempt(what, partial(put, node, kind, options, BAND))  # it may have no such operation
                done = done or self.job.attempt(what, partial(put_behind_prio, node, kind, SLOW, options))
                self.flood(node, FEW)
                self.playground.run(PERIOD_S if number == 1 and off and done else BETWEEN_S)
                self.flood(node, FEW)

    def check_changes(self, node: Node) -> None:
        """Check that a change of an option is not ignored, if the qdisc can be made with it."""
        setup, (shown, places) = setups.of(self.kind or ""), words(node, self.kind or "")
        changes = [
            (f"byte {at} of the options", shown, shown[:at] + bytes([1 + (shown[at] == 1)]) + shown[at + 1 :])
            for place in places for at in range(place, place + WORD.size)
        ]  # fmt: skip
        changes += [
            (f"option {number}", setup.options(), setup.options([(number, value)]))
            for number, values in self.accepted.items() for value in values[:: 1 + len(values) // SOME]
        ]  # fmt: skip
        for what, before, after in changes:
            if all(ignores(node, self.kind or "", before, after) for _ in range(TIMES)):
                said = "shows another value if it is made with one, and the old one if it is changed to that"
                self.job.find(Name.WRONG_OPTION, f"{what} of {self.kind} {said}: is a change ignored?")
                return

    def change(self) -> None:
        random, kind = self.playground.random, self.kind or ""
        node = random.choice(self.playground.nodes)
        numbers = random.sample(list(self.accepted), min(random.randint(1, MOST_CHANGED), len(self.accepted)))
        options = [(number, random.choice(self.accepted[number])) for number in numbers]
        commands = setups.of(kind).commands
        action = random.choice(
            ("options", "put again", "behind a token bucket", "removed", *["command"] * bool(commands))
        )
        what = f"qdisc {kind} at {node.name} {action}"
        if action == "options":
            self.accepts(node, options)
        elif action == "put again":
            self.job.attempt(what, lambda: put(node, "pfifo"))
            self.accepts(node, options)
        elif action == "removed":
            self.job.attempt(what, lambda: remove(node))
        elif action == "command":
            self.give_commands(node)
        else:
            self.job.attempt(what, lambda: put_behind_bucket(node, kind, SLOW))
        self.flood(node)
        self.packets.send(node, FEW)
        kinds(node)

    def give_commands(self, node: Node) -> None:
        """Give the qdisc some commands while it gets packets. One that takes no changes, as sfq, is made with them."""
        kind = self.kind or ""
        for options in self.playground.random.choices(setups.of(kind).commands, k=FEW):
            self.flood(node, FEW)
            if not self.job.attempt(f"command {options.hex()}", partial(command, node, kind, options)):
                what = f"{kind} behind a token bucket, made with {options.hex()}"
                self.job.attempt(what, partial(put_behind_bucket, node, kind, SLOW, options))
                self.flood(node)
            self.playground.run(BETWEEN_S)

    def renew(self, node: Node) -> None:
        """Remove it and put it again, if possible."""
        self.job.attempt(f"qdisc {self.kind} at {node.name} put again", lambda: put(node, "pfifo"))
        self.accepts(node, [])

    def set_each_option(self, node: Node) -> None:
        """Give each option each value that it accepts, some times."""
        for _ in range(TIMES):
            for number, values in self.accepted.items():
                for value in values:
                    self.accepts(node, [(number, value)])

    def flood(self, node: Node, count: int = FLOOD, long: bool = False) -> None:
        """Send datagrams at once: of several priorities, and to several nodes, so of several flows. Some
        `long` ones are to be segmented."""
        random, ips = self.playground.random, [other.IP() for other in self.playground.nodes if other is not node]
        with node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            try:
                for number in range(count):
                    if number % ALIKE == 0:
                        udp.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, random.randrange(PRIORITIES))
                        if long:
                            udp.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, random.choice((0, SEGMENT)))
                        ip = random.choice(ips)
                    udp.sendto(bytes(3 * SEGMENT if long else 10), (ip, CLOSED_PORT))
            except OSError as error:  # no buffers, no route
                self.job.say(f"flood at {node.name}: {reason(error)}")


def put(node: Node, kind: str, options: bytes | None = None, parent: int = ROOT, handle: int = 0) -> None:
    """Make a qdisc the root of a node's link, or a child; change it if it exists. Without options it gets those that it
    cannot be without, and then it is a new one.

    Raises NetlinkError if the kernel refuses.
    """
    setup = setups.of(kind)
    if options is None and setup is not setups.NOTHING:
        setups.remake(node, kind, setup, parent, handle)
        return
    node.route.replace_qdisc(node.radio.index, kind, options, parent, handle or setups.HANDLE * bool(setup.classes))
    with contextlib.suppress(NetlinkError):  # it may have them
        setups.add_classes(node, kind, setup)
    for more in () if options in setup.commands else setup.then:
        command(node, kind, more, parent)


def command(node: Node, kind: str, options: bytes, parent: int = ROOT) -> None:
    """Give a qdisc more options by a change. Raises NetlinkError if the kernel refuses."""
    node.route.replace_qdisc(node.radio.index, kind, options, parent, setups.HANDLE * bool(setups.of(kind).classes))


def put_behind_bucket(node: Node, kind: str, bytes_per_s: int, options: bytes | None = None, handle: int = 0) -> None:
    """Put a token bucket as the root, and the qdisc as its child, which then has a backlog and is peeked at. The root
    may be the default qdisc, which cannot be removed."""
    with contextlib.suppress(NetlinkError):
        remove(node)
    put(node, "tbf", setups.bucket(bytes_per_s, limit=1 << 16).options(), handle=OWN_HANDLE)
    put(node, kind, options, CHILD, handle)


def put_behind_prio(node: Node, kind: str, bytes_per_s: int, options: bytes | None = None) -> None:
    """Put it behind a token bucket, as a child of prio, which peeks at it, too."""
    put_behind_bucket(node, "prio", bytes_per_s, PRIO, PRIO_HANDLE)
    put(node, kind, options, BAND)


def remove(node: Node) -> None:
    """Give a node's link its default root qdisc. Raises NetlinkError if it has it already."""
    node.route.delete_qdisc(node.radio.index)


def statistics(node: Node, parent: int = ROOT) -> tuple[int, ...]:
    """Return the counts (QUEUE) of a node's qdisc; zeros if there is none."""
    found = node.route.qdisc(node.radio.index, parent)
    return QUEUE.unpack_from(parse(found[TCA_STATS2])[TCA_STATS_QUEUE]) if found else (0,) * 5


def options_of(node: Node) -> dict[int, bytes]:
    """Return the options of a node's root qdisc by number; empty if it has a structure instead."""
    try:
        return parse(node.route.qdisc(node.radio.index).get(TCA_OPTIONS, b""))
    except NetlinkError:
        return {}


def new_options(node: Any, kind: str) -> bytes:
    """Return the options that a new root qdisc cannot be without, or else shows; empty if it cannot be made."""
    setup = setups.of(kind)
    return setup.options() if setup.needs_options() else shown_with(node, kind, None)


def words(node: Any, kind: str) -> tuple[bytes, list[int]]:
    """Return options that have structures, and where the words of these are."""
    setup = setups.of(kind)
    if not setup.needs_options():
        setup = structures(new_options(node, kind))
    return setup.options(), setup.places()


def structures(shown: bytes) -> setups.Setup:
    """Return the structures of the options that a qdisc shows: all of them, or attributes longer than a number."""
    if not is_nested(shown):
        return setups.Setup(shown)
    return setups.Setup(attributes=tuple(one for one in attributes(shown) if len(one[1]) > LARGEST_NUMBER))


def ignores(node: Any, kind: str, before: bytes, after: bytes) -> bool:
    """Return whether a qdisc shows one thing if it is made with some options, and another if it is changed to them:
    what it did before."""
    usual, made, changed = (shown_with(node, kind, *options) for options in ((before,), (after,), (before, after)))
    return bool(usual and made) and made != usual == changed


def shown_with(node: Any, kind: str, *options: bytes | None) -> bytes:
    """Return what a new qdisc shows that is made with options, and changed to others; empty if they are refused."""
    try:
        put(node, "pfifo")
        for one in options:
            put(node, kind, one)
        return bytes(node.route.qdisc(node.radio.index).get(TCA_OPTIONS, b""))
    except NetlinkError:
        return b""


def is_nested(options: bytes) -> bool:
    """Return whether options are attributes, or none, and not a structure."""
    try:
        attributes(options)
    except NetlinkError:
        return False
    return True


def kinds(node: Node) -> list[str]:
    """Return the qdiscs of a node; the dumps also make each report its options, statistics and classes."""
    setups.show_classes(node)
    return [text(found[TCA_KIND]) for _, _, found in node.route.qdiscs()]
