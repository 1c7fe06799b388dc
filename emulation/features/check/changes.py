# SPDX-License-Identifier: BSD-3-Clause
"""What differs between two versions of a C file: the lines, and the functions that they are in.

It reads the kernel's style, in which a function begins and ends in the first column. Comments and spaces do not count.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FUNCTION = re.compile(r"^(?!\s|#|\}|static inline\s*$)[\w\s*()]*?\b(\w+)\s*\((?![^)]*\)\s*;)")
OPERATION = re.compile(r"\.(\w+)\s*=\s*&?(\w+)\s*,")
SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Source:
    """A C file: its name and text."""

    name: str
    text: str

    @cached_property
    def bare(self) -> list[str]:
        """Its lines without comments; empty ones stay, so that numbers agree."""
        return COMMENT.sub(lambda match: "\n" * match[0].count("\n"), self.text).splitlines()

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without comments and superfluous spaces."""
        return [SPACE.sub(" ", line).strip() for line in self.bare]

    @cached_property
    def functions(self) -> list[tuple[str, int, int]]:
        """Its functions: name, first and last line, from 1."""
        found, open_ = [], ("", 0)
        for number, line in enumerate(self.bare, 1):
            if (match := FUNCTION.match(line)) and not line.rstrip().endswith(";"):
                open_ = match[1], number
            elif line.startswith("}") and open_[0]:
                found.append((*open_, number))
                open_ = "", 0
        return found

    def function_at(self, line: int) -> str:
        """Return the function in which a line is; empty outside."""
        return next((name for name, first, last in self.functions if first <= line <= last), "")

    def line_of(self, function: str) -> int:
        """Return the line at which a function begins; 0 if it is not here."""
        return next((first for name, first, _ in self.functions if name == function), 0)

    def reachable(self, function: str) -> set[str]:
        """Return a function and those that it may call, as far as they are here."""
        bodies = {name: "\n".join(self.lines[first - 1 : last]) for name, first, last in self.functions}
        found, left = set(), [function]
        while left:
            if (one := left.pop()) in found or one not in bodies:
                continue
            found.add(one)
            left += [name for name in re.findall(r"\b\w+\b", bodies[one]) if name in bodies]
        return found

    @cached_property
    def operations(self) -> Mapping[str, str]:
        """The function of each operation that it registers."""
        return {match[1]: match[2] for match in OPERATION.finditer("\n".join(self.lines))}


@dataclass(frozen=True)
class Changes:
    """How a source differs from its reference."""

    reference: Source
    source: Source

    @cached_property
    def lines(self) -> list[int]:
        """The first lines of all changes, in the source."""
        old = list(filter(None, self.reference.lines))
        numbers = [number for number, line in enumerate(self.source.lines, 1) if line]
        new = [self.source.lines[number - 1] for number in numbers]
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        return [numbers[min(j, len(numbers) - 1)] for what, _, _, j, _ in matcher.get_opcodes() if what != "equal"]

    @cached_property
    def share(self) -> float:
        """The share of the lines of either that the other one lacks."""
        old, new = ([line for line in one.lines if line] for one in (self.reference, self.source))
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        same = sum(block.size for block in blocks)
        return 1 - same / max(len(old), len(new), 1)

    def nearest(self, functions: Iterable[str]) -> list[int]:
        """Return the changed lines in what the first of these functions calls that calls any changed code; all changed
        lines if there is none."""
        for function in functions:
            within = self.source.reachable(function)
            if found := [line for line in self.lines if self.source.function_at(line) in within]:
                return found
        return self.lines

    def place(self, line: int) -> str:
        return f"{self.source.name}:{line}"
