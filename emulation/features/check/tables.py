# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as tables and sentences, from the data in the report of `emulation.features.check.compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from analysis.results.result import Run
from analysis.tables.statistics import Estimate
from analysis.tables.table import by_case, study_tables, value
from emulation.features.check import bottleneck
from emulation.features.check.compare import LONG, QUANTITIES, SHARED, SHARED_HOPS

PHASES = ("slow_start_s", "congestion_avoidance_s", "recovery_s", "rto_s")


def runs_of(data: Mapping[str, Any]) -> list[Run]:
    """Return the runs on strings that are not shared."""
    runs = [Run.model_validate({**run, "stations": [], "settings": []}) for run in data["runs"]]
    return [run for run in runs if run.case not in (SHARED, LONG)]


def bottleneck_tables(data: Mapping[str, Any]) -> list[Table]:
    """Return the table of a qdisc at a bottleneck: a row per quantity, a column per kind; none for other modules."""
    if not data.get("bottleneck"):
        return []
    kinds = bottleneck.by_kind(data["bottleneck"])
    table = Table(title=bottleneck.SITUATION, title_justify="left")
    table.add_column("")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for quantity, label in bottleneck.QUANTITIES.items():
        found = [bottleneck.mean(runs, quantity) for runs in kinds.values()]
        table.add_row(label, *("" if one is None else shown(one) for one in found))
    return [table]


def shown(estimate: Estimate) -> str:
    """Format an estimate with three or four digits."""
    half_width = "" if estimate.samples < 2 else f" ± {estimate.half_width:.2g}"
    return f"{estimate.mean:.4g}{half_width}"


def tables(data: Mapping[str, Any], quantities: Iterable[str]) -> list[Table]:
    """Return a table for each quantity, with a row for each length of the string."""
    title = f"over {data['hops'][0]} hops"  # if there is only one length; else each table is titled by its quantity
    return study_tables(title, runs_of(data), rows="hops", quantities={path: QUANTITIES[path] for path in quantities})


def phases_table(data: Mapping[str, Any]) -> Table:
    """Return how a flow's time divides, in per cent, for each variant and length of the string."""
    groups = by_case(runs_of(data))
    variants = list(dict.fromkeys(variant for group in groups.values() for variant in group))
    title = "time, %: slow start / avoidance / recovery / timeouts"
    table = Table(title=title, title_justify="left")
    table.add_column("hops")
    for variant in variants:
        table.add_column(variant, justify="right")
    for case, group in groups.items():
        table.add_row(case, *(phases(group[variant]) for variant in variants))
    return table


def phases(runs: Sequence[Run]) -> str:
    spent = [sum(value(run, f"flows.0.tcp.{phase}") for run in runs) for phase in PHASES]
    return " / ".join(f"{100 * part / sum(spent):.1f}" for part in spent)


def fairness(data: Mapping[str, Any]) -> list[str]:
    """Return sentences about the shared string."""
    against = data["against"]
    said = {name: share_of(share) for name, share in data["shares"].items()}
    alone = said.pop(against, "")
    return [
        f"On a string of {SHARED_HOPS} hops that both share, {name} takes {share} of the goodput; {against} beside "
        f"{against}: {alone}."
        for name, share in said.items()
    ]


def share_of(share: Mapping[str, Any]) -> str:
    half_width = "" if share["half_width"] is None else f" ± {100 * share['half_width']:.0f}"
    return f"{100 * share['mean']:.0f}{half_width} %"
