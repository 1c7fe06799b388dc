# SPDX-License-Identifier: BSD-3-Clause
"""What runs found, as people read it: tables, claims with verdicts, what went wrong. It is worked out once, for the
terminal and the report alike."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

NOT_TESTED = "not tested"


class Judged(NamedTuple):
    """A claim, what was found of it, and its checks with their numbers, a line each."""

    name: str
    verdict: str
    text: str
    checks: Sequence[str]

    @property
    def agrees(self) -> bool:
        """Whether all of its checks hold, in every seed."""
        return self.verdict.startswith(("agrees", "holds in all"))  # of one seed, or of several

    @property
    def lines(self) -> list[str]:
        return [f"{self.name}  {self.verdict}: {self.text}", *(f"    {check}" for check in self.checks)]

    @classmethod
    def of(cls, lines: Sequence[str]) -> "Judged":
        """Of the lines of `analysis.tables.claims.Verdict`."""
        name, _, rest = lines[0].partition("  ")
        verdict, _, text = rest.partition(": ")
        return cls(name, verdict, text, [line.strip() for line in lines[1:]])


@dataclass(frozen=True)
class Findings:
    """`said`: under what the runs were made. `beside`: the tables of single flows."""

    title: str
    said: str
    tables: "Sequence[Table]"
    beside: "Sequence[Table]" = ()
    troubles: Sequence[str] = ()
    claims: Sequence[Judged] = ()

    def show(self) -> None:
        """Print them."""
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else 200, emoji=False)
        console.print(self.title, style="bold", highlight=False)
        console.print(self.said, style="dim", highlight=False, markup=False)
        console.print(*self.tables, sep="\n")
        for table in self.beside:
            console.print(table)
        for line in self.troubles:
            console.print(line, style="bold", highlight=False, markup=False)
        for claim in self.claims:
            console.print("\n".join(claim.lines), highlight=False, markup=False)
