# SPDX-License-Identifier: BSD-3-Clause
"""Two logs of calls, as the module `witness` writes them: the first thing that differs, in words.

A log has sections; each begins with a heading (`= round 3: lost 0.03`). A line is a time, an operation, whose it is,
and what was given, answered and changed, as NAME=VALUE. What follows a | is the module's own state.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from emulation.lane.netlink import NetlinkError, parse

HEADING, STATE, RETURNED, SHOWN = "= ", " |", "returned", "shown"
REGISTER, INIT, DIED = "register", "init", "died"
# What says in which state a call comes.
GIVEN = ("before", "srtt_us", "acked", "rtt_us", "event", "new_state", "packet", "length")
MOST_NAMES = 3


@dataclass(frozen=True)
class Call:
    """One line of a log."""

    line: str

    @property
    def public(self) -> str:
        """What another module of the same behaviour writes, too."""
        return self.line.partition(STATE)[0]

    @cached_property
    def words(self) -> list[str]:
        return self.public.split()

    @property
    def time_s(self) -> float:
        return int(self.words[0]) / 1e9

    @property
    def operation(self) -> str:
        return self.words[1]

    @property
    def whose(self) -> str:
        """The connection or the qdisc."""
        return self.words[2]

    @cached_property
    def values(self) -> dict[str, str]:
        """What was given, answered and changed; a name that comes again has a number."""
        found: dict[str, str] = {}
        for word in self.words[3:]:
            name, equal, value = word.partition("=")
            if equal:
                found[name if name not in found else f"{name} {len(found)}"] = value
        return found

    def described(self) -> str:
        return f"{self.operation} of {self.owner()}"

    def owner(self) -> str:
        ports = self.whose.partition(":")[2]
        if ">" in ports:
            return "the flow from port " + ports.replace(">", " to ")
        handle, _, parent = ports.partition(":")
        return "the qdisc" + (f" {handle}:" if handle != "0" else "") + (" at the root" if parent == "ffffffff" else "")


@dataclass(frozen=True)
class Log:
    """All calls, by section."""

    sections: Mapping[str, Sequence[str]]

    @cached_property
    def operations(self) -> set[str]:
        """The operations that the module has; those that were not registered count as had."""
        first = next((line for lines in self.sections.values() for line in lines if " register " in line), "")
        return set(first.partition(" has ")[2].split())

    @property
    def count(self) -> int:
        return sum(map(len, self.sections.values()))


@dataclass(frozen=True)
class Difference:
    """The first thing that differs: the calls of the reference and of the module, either of which may be missing; the
    section; how many calls were equal before; how many sections differ; and the calls after which the module's own
    state differs, the first one first."""

    expected: Call | None
    found: Call | None
    section: str
    equal: int
    differing: int
    sections: int
    earlier: str = ""

    @property
    def call(self) -> Call:
        call = self.found or self.expected
        assert call
        return call

    @property
    def operation(self) -> str:
        """The operation that answers otherwise."""
        return self.call.operation

    def text(self) -> str:
        """Describe it in a sentence."""
        at = f"at {self.call.time_s:.6f} s"
        for call, who in ((self.found, "the module"), (self.expected, "the reference")):
            if call and call.operation == DIED:
                return f"{who} ends the kernel, or hangs, in {self.section}"
        if not (self.found and self.expected):
            who = "the reference" if self.found else "the module"
            return f"{at} {self.call.described()} is called, and {who} is not called any more in this round"
        if self.found.words[:3] != self.expected.words[:3]:
            other = f"{self.expected.described()} at {self.expected.time_s:.6f} s"
            return f"{at} {self.found.described()} is called next, of the reference {other}"
        ours, theirs = self.found.values, self.expected.values
        names = [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]
        names.sort(key=lambda name: not name.startswith((RETURNED, SHOWN)))
        said, expected = (
            ", ".join(told(name, values.get(name, "nothing")) for name in names[:MOST_NAMES])
            for values in (ours, theirs)
        )
        given = ", ".join(f"{name} {ours[name]}" for name in GIVEN if name in ours and name not in names)
        return f"{at} {self.found.described()} {said}; that of the reference {expected}" + f" ({given})" * bool(given)


def told(name: str, value: str) -> str:
    if name == RETURNED:
        return f"returns {value}"
    if name == SHOWN:
        return f"shows {described_bytes(value)}"
    return f"has {name} {value}"


def described_bytes(text: str) -> str:
    """Return what a message has, by attribute if that is how it is made."""
    try:
        found = parse(bytes.fromhex(text))
    except (ValueError, NetlinkError):
        return text
    return " ".join(f"{number}={value.hex()}" for number, value in found.items())


def read(text: str) -> Log:
    """Read a log."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(HEADING):
            lines = sections.setdefault(line.removeprefix(HEADING), [])
        elif line:
            lines.append(line)
    return Log(sections)


def compare(expected: Log, found: Log) -> Difference | None:
    """Return the first thing that differs between a reference and a module; None if nothing does. Calls of operations
    that one of both lacks do not count, nor do rounds in which the reference ends the kernel."""
    lacked = expected.operations ^ found.operations
    first: Difference | None = None
    equal = differing = 0
    names = list(dict.fromkeys([*expected.sections, *found.sections]))
    for name in names:
        ours, theirs = (relevant(log.sections.get(name, ()), lacked) for log in (found, expected))
        at = first_difference(theirs, ours)
        if at is None or any(Call(line).operation == DIED for line in theirs[-1:]):
            equal += len(ours)
            continue
        differing += 1
        if first is None:
            expects, finds = (Call(lines[at]) if at < len(lines) else None for lines in (theirs, ours))
            earlier = state_differs(theirs[:at], ours[:at])
            first = Difference(expects, finds, name, equal + at, 0, len(names), earlier)
    return first and replace(first, differing=differing)


def relevant(lines: Sequence[str], lacked: set[str]) -> list[str]:
    return [line for line in lines if line.split(" ", 2)[1] not in lacked | {REGISTER}]


def first_difference(expected: Sequence[str], found: Sequence[str]) -> int | None:
    if expected == found:
        return None
    for at, (one, other) in enumerate(itertools.zip_longest(expected, found)):
        if one != other and (one is None or other is None or Call(one).public != Call(other).public):
            return at
    return None


def state_differs(expected: Sequence[str], found: Sequence[str]) -> str:
    """Return the operation after which the module's own state first differs; empty if that is the first one, as then
    the state may have another form."""
    for one, other in zip(expected, found, strict=True):
        if one != other:
            operation = Call(other).operation
            return "" if operation == INIT else operation
    return ""
