# SPDX-License-Identifier: BSD-3-Clause
"""Flows at the prompt: several in parallel, for a given time, and a line about each result."""

from __future__ import annotations

import time

from traffic.applications import Applications
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from emulation.lane.network import Live

LONGEST_S = 100_000


def play(net: Live, flows: Sequence[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Run these flows for this time, as part of the session. Return their reports. Raises OSError if that fails."""
    now_s = (time.monotonic_ns() - net.began_ns) / 1e9
    seed, sample_s, zero_ns = net.plan["seed"], net.plan["sample_s"], net.began_ns
    with Loop() as loop, Applications(flows, net.nodes, loop, net.folder, seconds, seed, sample_s, zero_ns) as traffic:
        traffic.prepare()
        traffic.run()
        reports = traffic.finish()
        traffic.samples.write(net.folder, more=True)
    for flow, report in zip(flows, reports, strict=True):
        stop_s = seconds if flow["stop_s"] is None else min(flow["stop_s"], seconds)
        net.add_report({**flow, "start_s": now_s + flow["start_s"], "stop_s": now_s + stop_s}, report)
    return reports


def parse_flows(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield source, destination and kind of each flow, from `sta1 sta3 voice,codec=g729 sta3 sta1 web`. Raises
    ValueError."""
    if not words or len(words) % 3:
        raise ValueError("flow: give the seconds, and then for each flow: A B KIND[,NAME=VALUE...]")
    for a, b, kind in zip(words[::3], words[1::3], words[2::3], strict=True):
        if a == b:
            raise ValueError(f"flow: {a} is both source and destination; name two different nodes")
        yield a, b, kind


def result_line(flow: dict[str, Any], report: dict[str, Any], seconds: float) -> str:
    """Return a line about the result of a flow; its rate is over the time it ran."""
    stop_s = seconds if flow["stop_s"] is None else min(flow["stop_s"], seconds)
    ran_s = stop_s - flow["start_s"] if report["finished_s"] is None else report["finished_s"]
    parts = [f"{8 * report['delivered_bytes'] / ran_s / 1e3 if ran_s > 0 else 0:.0f} kb/s"]
    if found := report.get("datagrams"):
        parts.append(f"{found['arrived']} of {found['sent']} datagrams")
        parts += [f"delay {found['delay_ms']['mean']:.1f} ms"] if found["delay_ms"] else []
        parts += [f"jitter {found['jitter_ms']:.1f} ms"] if found["jitter_ms"] is not None else []
        parts += [f"MOS {found['mos']:.2f}"] if "mos" in found else []
    if found := report.get("transactions"):
        parts.append(f"{found['completed']} of {found['begun']} transactions")
        parts += [f"{found['seconds']['mean']:.3f} s, 95 % {found['seconds']['p95']:.3f} s"] if found["seconds"] else []
    parts += [f"{report['outcome']}: {report['why']}"] if report["why"] else []
    return f"{flow['name']}, {flow['kind']} from {flow['source']} to {flow['destination']}: {'; '.join(parts)}"


def duration(verb: str, word: str) -> float:
    """Return the seconds in a word. Raises ValueError if it is no valid duration."""
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{verb}: give the seconds: above 0, at most {LONGEST_S:,}" + f"; not {word}" * bool(word))
    return seconds
