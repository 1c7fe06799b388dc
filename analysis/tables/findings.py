# SPDX-License-Identifier: BSD-3-Clause
"""What runs found, for people: tables, claims with verdicts, and troubles. The terminal and the report show the
same."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

NOT_TESTED = "not tested"


class Judged(NamedTuple):
    """A claim, its verdict, and its checks with their numbers, one per line."""

    name: str
    verdict: str
    text: str
    checks: Sequence[str]

    @property
    def agrees(self) -> bool:
        """Whether all of its checks hold, in every seed."""
        return self.verdict.startswith(("agrees", "holds in all"))  # for one seed, and for several

    @property
    def lines(self) -> list[str]:
        return [f"{self.name}  {self.verdict}: {self.text}", *(f"    {check}" for check in self.checks)]


@dataclass(frozen=True)
class Findings:
    """Everything that is shown. `said`: the conditions of the runs. `beside`: the tables of single flows."""

    title: str
    conditions: str
    tables: "Sequence[Table]"
    beside: "Sequence[Table]" = ()
    troubles: Sequence[str] = ()
    claims: Sequence[Judged] = ()

    def show(self) -> None:
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else 200, emoji=False)
        console.print(self.title, style="bold", highlight=False)
        console.print(self.conditions, style="dim", highlight=False, markup=False)
        console.print(*self.tables, sep="\n")
        for table in self.beside:
            console.print(table)
        for line in self.troubles:
            console.print(line, style="bold", highlight=False, markup=False)
        for claim in self.claims:
            console.print("\n".join(claim.lines), highlight=False, markup=False)
