# SPDX-License-Identifier: BSD-3-Clause
"""Find files and lines for the entries of kernel stacks (`function+0x41/0x70 [module]`), from the module's debug
information. For inlined functions, the line in the module's own sources counts, not one in a header.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from emulation.features.check import Finding, Name, splats

FRAME = re.compile(r"(?P<function>[\w.]+)\+0x(?P<offset>[0-9a-f]+)/0x(?P<size>[0-9a-f]+) \[(?P<module>\w+)\]")
NAMELESS = re.compile(r"^\s*(?:\[<[^>]*>\] |RIP: \w+:)?0x(?P<address>[0-9a-f]+)$")  # in code that was unloaded since
UNSURE = re.compile(r"^\s*(?:\[<\w+>\] )?\? ")  # an address on the stack, perhaps of an earlier call
ACCESS = re.compile(r"^(?:Read|Write) of size \d+ at addr (?P<address>[0-9a-f]+)")  # of KASAN
EXACT = re.compile(r"RIP: ")  # other addresses are return addresses: the line is before them
SYMBOL = re.compile(
    r"^\s*\d+: (?P<value>[0-9a-f]+)\s+(?P<size>\w+)\s+(?:FUNC|OBJECT)\s+\w+\s+\w+\s+(?P<section>\d+) (?P<name>\S+)$"
)
SECTION = re.compile(r"^\s*\[\s*(?P<number>\d+)\] (?P<name>\.\S+)")
UNMAPPED = "KASAN: vmalloc-out-of-bounds"  # an access to what was unmapped
TEXT, DATA = ".text", ".data"


class Symbol(NamedTuple):
    """A function or variable in a module's file."""

    name: str
    section: str
    value: int
    size: int


@dataclass
class Lines:
    """The lines of one module: its file, and the folder of the kernel, whose headers are not the module's sources.
    `texts` and `data` are the addresses of its code and data in a lane."""

    name: str
    path: Path
    kernel: Path
    texts: Sequence[int] = ()
    data: Sequence[int] = ()
    symbols: list[Symbol] = field(init=False)
    found: dict[tuple[str, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        output = self.tool("readelf", "-SsW", str(self.path))
        sections = {match["number"]: match["name"] for line in output if (match := SECTION.match(line))}
        matches = (match for line in output if (match := SYMBOL.match(line)))
        self.symbols = [
            Symbol(match["name"], sections.get(match["section"], TEXT), int(match["value"], 16), int(match["size"], 0))
            for match in matches
        ]

    @staticmethod
    def tool(*command: str) -> list[str]:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()

    def of(self, line: str) -> str:
        """Return the file and line of a stack entry, if it is in the module; otherwise ""."""
        back = 0 if EXACT.search(line) else 1
        if (frame := FRAME.search(line)) and frame["module"] == self.name:
            size = int(frame["size"], 16)  # for the kernel, a function ends where the next one begins
            known = [symbol for symbol in self.symbols if symbol.name == frame["function"]]
            for symbol in sorted(known, key=lambda symbol: abs(symbol.size - size))[:1]:
                return self.place(symbol.section, symbol.value + max(int(frame["offset"], 16) - back, 0))
        if nameless := NAMELESS.match(line):
            offset = self.in_text(int(nameless["address"], 16))
            return self.place(TEXT, max(offset - back, 0)) if offset is not None else ""
        return ""

    def in_text(self, address: int) -> int | None:
        """Return the offset of an address in the module's code; None if it is outside."""
        end = max((symbol.value + symbol.size for symbol in self.symbols if symbol.section == TEXT), default=0)
        return next((address - text for text in self.texts if 0 <= address - text < end), None)

    def gone(self, line: str) -> str:
        """Return the module's function in which a fault occurred after the module was unloaded; otherwise ""."""
        nameless = NAMELESS.match(line) if EXACT.match(line) else None
        offset = self.in_text(int(nameless["address"], 16)) if nameless else None
        return "" if offset is None else self.at(TEXT, offset)

    def left(self, line: str) -> str:
        """Return the module's variable that was used, by an address of an earlier load; otherwise ""."""
        access = ACCESS.match(line)
        offsets = [int(access["address"], 16) - start for start in self.data] if access else []
        return next(filter(None, (self.at(DATA, offset) for offset in offsets)), "")

    def at(self, section: str, offset: int) -> str:
        """Return what is there in the module, with the module; "" if there is nothing."""
        there = (one for one in self.symbols if one.section == section and 0 <= offset - one.value < one.size)
        return next((f"{symbol.name} [{self.name}]" for symbol in there), "")

    def place(self, section: str, offset: int) -> str:
        if (section, offset) not in self.found:
            output = self.tool("addr2line", "-i", "-j", section, "-e", str(self.path), hex(offset))
            places = [line.partition(" (")[0] for line in output if not line.startswith("??")]
            headers = self.kernel.resolve(), (self.kernel.parent / "source").resolve()  # Debian's are in two folders
            others = (*(f"{folder}/" for folder in (self.kernel, *headers)), "./")
            own = (place for place in places if not place.startswith(others) and not place.endswith("?"))
            self.found[section, offset] = next(own, "")
        return self.found[section, offset]


def explained(finding: Finding, lines: Lines) -> Finding:
    """Add files and lines to a finding: to each frame of the module in a stack. The first one in the function at fault
    becomes the finding's place. A fault in code that was unloaded becomes a use after free."""
    if gone := next(filter(None, map(lines.gone, finding.console)), ""):
        text = f"{gone.partition(' ')[0]} was called after it was unloaded, by a timer, by work or by call_rcu()"
        finding = replace(finding, name=Name.USE_AFTER_FREE, where=gone, text=text)
    elif finding.text.startswith(UNMAPPED) and (left := next(filter(None, map(lines.left, finding.console)), "")):
        text = f"{left} was used after the module was unloaded, which must unregister it: {finding.text}"
        finding = replace(finding, name=Name.USE_AFTER_FREE, where=left, text=text)
    console, first, place = [], "", ""
    function = finding.where.partition(" ")[0]
    for text in finding.console:
        where = lines.of(text)
        console.append(f"{text} ({where})" if where else text)
        if UNSURE.match(text):
            continue
        first = first or where
        if where and (re.search(rf"\b{re.escape(function)}[.+]", text) or EXACT.match(text)):
            place = place or where
    text = finding.text
    accesses = [line for line in finding.console[1:3] if splats.BEFORE_STACK.match(line)]
    if both := dict.fromkeys(Path(where).name for where in map(lines.of, accesses) if where):
        text += f" ({' and '.join(both)})"
    return replace(finding, text=text, console=tuple(console), place=place or first)
