# SPDX-License-Identifier: BSD-3-Clause
"""Tables of flows, a row each: their share of the network, datagrams, transactions and routes.

A flow that never started, fell silent or died is listed under its outcome, and `troubles` gives the reason: a mean over
seeds or flows does not show it.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from analysis.results.flow_result import FlowResult
from analysis.results.result import Run
from analysis.results.summaries import Outcome
from analysis.tables import statistics
from analysis.tables.table import number, of

if TYPE_CHECKING:
    from rich.table import Table

OF_FLOWS = {
    "hops": "hops",
    "goodput_kbps": "kb/s",
    "share": "share",
    "goodput_segments": "segments",
    "retransmits": "retransmitted",
    "tcp.rtos": "timeouts",
    "tcp.fast_retransmits": "fast retr.",
    "tcp.cwnd_mean": "mean cwnd",
    "tcp.srtt_ms": "SRTT, ms",
    "finished_s": "finished, s",
}
OF_DATAGRAMS = {
    "datagrams.sent": "sent",
    "datagrams.lost_percent": "lost, %",
    "datagrams.hops_mean": "mean hops",
    "datagrams.delay_ms.mean": "delay, ms",
    "datagrams.delay_ms.p95": "95 %",
    "datagrams.delay_ms.max": "at most",
    "datagrams.jitter_ms": "jitter, ms",
    "datagrams.late": "late",
    "datagrams.mos": "MOS",
}
OF_TRANSACTIONS = {
    "transactions.begun": "begun",
    "transactions.completed": "completed",
    "transactions.failed": "failed",
    "transactions.unfinished": "unfinished",
    "transactions.seconds.mean": "took, s",
    "transactions.seconds.p50": "50 %",
    "transactions.seconds.p95": "95 %",
    "transactions.seconds.p99": "99 %",
    "transactions.seconds.max": "at most",
}
OF_ROUTES = {
    "route.found": "found",
    "route.changed": "changed",
    "route.lost": "lost",
    "route.without_s": "without, s",
    "route.length_mean": "mean length",
    "route.breaks": "breaks",
    "route.recovered": "recovered",
    "route.recovery_mean_s": "after, s",
    "route.recovery_max_s": "at most, s",
    "tcp.rto_s": "RTO, s",
    "route.rto_without_s": "without route",
}
GOOD = (Outcome.RAN, Outcome.FINISHED)
MOST = 20  # troubles that are shown

Cell = Callable[[Sequence[FlowResult]], str]


def flow_tables(runs: Sequence[Run]) -> "list[Table]":
    """Return the tables that apply to the runs of one case. With several variants, each flow has a row per variant.
    Values are means over seeds."""
    flows = [flow for run in runs for flow in run.flows]
    found = [flow_table(runs)] if flows else []
    if any(flow.datagrams for flow in flows):
        found.append(_rows("datagrams", runs, OF_DATAGRAMS, where=lambda flow: flow.datagrams is not None))
    if any(flow.transactions for flow in flows):
        found.append(_rows("transactions", runs, OF_TRANSACTIONS, where=lambda flow: flow.transactions is not None))
    return found + ([route_table(runs)] if any(flow.route for flow in flows) else [])


def flow_table(runs: Sequence[Run]) -> "Table":
    flows = [flow for run in runs for flow in run.flows]
    last: dict[str, Cell] = {"outcome": _outcomes} if any(flow.outcome not in GOOD for flow in flows) else {}
    return _rows("flows", runs, OF_FLOWS, last)


def route_table(runs: Sequence[Run]) -> "Table":
    """Return the table of routes, with the number of segments by hops, over all seeds."""
    table = _rows("routes", runs, OF_ROUTES, {"segments by hops": _by_hops})
    table.caption = "RTO, s: spent waiting for the timer to expire; without route: as much of it"
    table.caption_justify = "left"
    return table


def troubles(runs: Sequence[Run]) -> list[str]:
    """Return a line for each flow that never started, fell silent or died: which, where and why."""
    lines = [
        f"{run.folder}: {flow.name} ({flow.kind}, {flow.source} to {flow.destination}) {flow.outcome.value}"
        + (f": {flow.why}" if flow.why else "")
        for run in runs
        for flow in run.flows
        if flow.outcome not in GOOD
    ]
    more = [f"and {len(lines) - MOST} more, as result.json says"] if len(lines) > MOST else []
    return lines[:MOST] + more


def _outcomes(flows: Sequence[FlowResult]) -> str:
    """Return the outcomes of a flow, over all seeds."""
    counts = Counter(flow.outcome.value for flow in flows)
    return ", ".join(word if len(flows) == 1 else f"{n} {word}" for word, n in counts.items())


def _by_hops(flows: Sequence[FlowResult]) -> str:
    counts: Counter[int] = Counter()
    for flow in flows:
        counts.update((flow.route and flow.route.packets_by_hops) or {})
    return ", ".join(f"{hops}: {n:,}" for hops, n in sorted(counts.items()))


def _rows(
    title: str, runs: Sequence[Run], quantities: Mapping[str, str], more: Mapping[str, Cell] = MappingProxyType({}),
    where: Callable[[FlowResult], bool] = lambda flow: True,
) -> "Table":  # fmt: skip
    """Return a table with a row per flow that satisfies `where`: quantities that a flow has, and the columns of
    `more`."""
    from rich.table import Table

    flows: dict[tuple[str, str], list[FlowResult]] = {}
    for run in runs:
        for flow in filter(where, run.flows):
            flows.setdefault((run.variant, flow.name), []).append(flow)
    several = len({run.variant for run in runs}) > 1
    kinds = len({flow.kind for run in runs for flow in run.flows}) > 1
    tcp = any(flow.congestion for group in flows.values() for flow in group)
    shown = [path for path in quantities if any(not math.isnan(of(flow, path)) for g in flows.values() for flow in g)]
    table = Table(title=title, title_justify="left")
    for column in [*["variant"] * several, "flow", *["kind"] * kinds, "from", "to", *["TCP"] * tcp]:
        table.add_column(column)
    for column in [*(quantities[path] for path in shown), *more]:
        table.add_column(column, justify="right")
    for (variant, name), group in flows.items():
        one = group[0]
        words = [*[variant] * several, name, *[one.kind] * kinds, one.source, one.destination, *[one.congestion] * tcp]
        words += [_of_seeds([of(flow, path) for flow in group], path) for path in shown]
        table.add_row(*words, *(cell(group) for cell in more.values()))
    return table


def _of_seeds(values: Sequence[float], path: str) -> str:
    """Return a flow's mean over seeds; if only some seeds have a value, also say how many."""
    known = [value for value in values if not math.isnan(value)]
    if not known or path == "hops":
        return number(known[0] if known else None)
    return number(statistics.mean(known)) + (f" ({len(known)} of {len(values)})" if len(known) < len(values) else "")
