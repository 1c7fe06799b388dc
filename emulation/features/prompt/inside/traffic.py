# SPDX-License-Identifier: BSD-3-Clause
"""Flows at the prompt: several side by side, now and for so long; and what became of them, in a line each."""

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


class Verbs:
    """Those of a prompt that are about traffic."""

    net: Live

    def do_iperf(self, line: str) -> None:
        """iperf [A B [SECONDS]]: TCP goodput from A to B; by default from the first to the last, for 5 seconds.
        The TCP and its settings are those of the network, --tcp among them.

        iperf sta1 sta3 20
        """
        words, names = line.split(), [node.name for node in self.net.nodes.values() if node.IP()]
        a, b = words[:2] if len(words) >= 2 else (names[0], names[-1])
        if len(words) == 1 or not {a, b} <= set(names) or a == b:
            print(f"*** iperf: between which two of {', '.join(names)}?")
            return
        seconds = duration("iperf", words[2] if len(words) > 2 else "5")
        (report,) = play(self.net, [self.net.flow_between(a, b)], seconds)
        rate = 8 * report["delivered_bytes"] / seconds / 1e3
        print(f"*** Results: {rate:.0f} kb/s from {a} to {b} over {seconds:g} s, {report['congestion']}")

    def do_flow(self, line: str) -> None:
        """flow SECONDS A B KIND …: flows of any kinds side by side, with options as --application has them.

        flow 20 sta1 sta3 voice,codec=g729 sta3 sta1 web
        """
        word, _, rest = line.partition(" ")
        seconds = duration("flow", word)
        flows: list[dict[str, Any]] = []
        for a, b, kind in asked(rest.split()):
            flows.append(self.net.flow_between(self.end(a), self.end(b), kind, len(flows)))
        for flow, report in zip(flows, play(self.net, flows, seconds), strict=True):
            print(f"*** {said(flow, report, seconds)}")

    def end(self, name: str) -> str:
        """The name of a node that a flow can have as its end. Raises ValueError."""
        if not self.node(name).IP():
            raise ValueError(f"flow: {name} has no address")
        return name

    def node(self, name: str) -> Any:
        """The node of this name. Raises ValueError."""
        if name not in self.net.nodes:
            raise ValueError(f"there is no node {name}; there are: {', '.join(self.net.nodes)}")
        return self.net.nodes[name]


def play(net: Live, flows: Sequence[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Let these flows run, for so long from now on, as part of the session. Raises OSError."""
    now_s = (time.monotonic_ns() - net.began_ns) / 1e9
    seed, sample_s, zero_ns = net.plan["seed"], net.plan["sample_s"], net.began_ns
    with (
        Loop() as loop,
        Applications(flows, net.nodes, loop, net.folder, seconds, seed, sample_s, zero_ns) as traffic,
    ):
        traffic.prepare()
        traffic.run()
        reports = traffic.finish()
        traffic.samples.write(net.folder, more=True)
    for flow, report in zip(flows, reports, strict=True):
        stop_s = seconds if flow["stop_s"] is None else min(flow["stop_s"], seconds)
        net.ran({**flow, "start_s": now_s + flow["start_s"], "stop_s": now_s + stop_s}, report)
    return reports


def asked(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """From where, to where, and of what kind, as in `sta1 sta3 voice,codec=g729 sta3 sta1 web`. Raises ValueError."""
    if not words or len(words) % 3:
        raise ValueError("flow: for how many seconds, and then of each: A B KIND[,NAME=VALUE...]")
    for a, b, kind in zip(words[::3], words[1::3], words[2::3], strict=True):
        if a == b:
            raise ValueError(f"flow: from {a} to whom else?")
        yield a, b, kind


def said(flow: dict[str, Any], report: dict[str, Any], seconds: float) -> str:
    """What became of a flow; its rate is over the time in which it ran."""
    stop_s = seconds if flow["stop_s"] is None else min(flow["stop_s"], seconds)
    ran_s = stop_s - flow["start_s"] if report["finished_s"] is None else report["finished_s"]
    words = [f"{8 * report['delivered_bytes'] / ran_s / 1e3 if ran_s > 0 else 0:.0f} kb/s"]
    if found := report.get("datagrams"):
        words.append(f"{found['arrived']} of {found['sent']} datagrams")
        words += [f"delay {found['delay_ms']['mean']:.1f} ms"] if found["delay_ms"] else []
        words += [f"jitter {found['jitter_ms']:.1f} ms"] if found["jitter_ms"] is not None else []
        words += [f"MOS {found['mos']:.2f}"] if "mos" in found else []
    if found := report.get("transactions"):
        words.append(f"{found['completed']} of {found['begun']} transactions")
        words += [f"{found['seconds']['mean']:.3f} s, 95 % {found['seconds']['p95']:.3f} s"] if found["seconds"] else []
    words += [f"{report['outcome']}: {report['why']}"] if report["why"] else []
    return f"{flow['name']}, {flow['kind']} from {flow['source']} to {flow['destination']}: {'; '.join(words)}"


def duration(verb: str, word: str) -> float:
    """The seconds that a word says. Raises ValueError."""
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{verb}: for how many seconds? above 0, at most {LONGEST_S:,}" + f"; not {word}" * bool(word))
    return seconds
