# SPDX-License-Identifier: BSD-3-Clause
"""Compare a module with a baseline, in the ordinary kernel: on strings of growing length, and on a string that both
share.

Each run of the module has a twin with the same seed without it, so differences are per seed. On the shared string
(paper 003, section 4.4.3) a fair congestion control leaves half to the baseline. The developer judges how good a module
is: a comparison is no finding, unless almost nothing gets through, or ever less. A result much slower than the baseline
is noted. A qdisc is also compared where packets queue (`bottleneck`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from analysis.results.result import Run
from analysis.results.shapes import read_both
from analysis.tables import statistics
from analysis.tables.statistics import Estimate
from analysis.tables.table import by_case
from analysis.tcp.senders import Flow
from emulation.features.check import Finding, Name, Report, Stage, bottleneck, moment, splats
from emulation.features.check.exercise import INNER, shown
from emulation.features.check.subject import Kind, Module
from emulation.files.foreign import parsed
from emulation.lane.errors import Misuse
from emulation.lanes import LaneError, Listener, Reason
from emulation.play import processes
from emulation.play.lab import Lab
from emulation.play.player import play, play_all
from emulation.play.run import Task, name_of
from emulation.play.traces import tcp_flows
from emulation.specification import Specification, specify

SECONDS = 60.0
SHARED, SHARED_HOPS = "shared", 4
LONG, LONG_SECONDS = "long", 300.0
STALLED = 0.1  # of the baseline's goodput
COLLAPSED, KEPT = 0.5, 0.75  # goodput after the first minute, relative to it: of the module, and of the baseline
LEAST = 1 / 3  # of the baseline's goodput, after the first minute
SLOWER = 0.1  # relative to the baseline; this is noted
PROBE = INNER / "probe.py"
PROBE_LIMIT_S = 60.0
QUANTITIES = {
    "goodput_kbps": "goodput, kb/s",
    "flows.0.retransmits": "retransmitted segments",
    "flows.0.tcp.rtos": "timeouts",
    "flows.0.tcp.slow_start_s": "time in slow start, s",
    "flows.0.tcp.congestion_avoidance_s": "time in congestion avoidance, s",
    "flows.0.tcp.recovery_s": "time in recovery, s",
    "flows.0.tcp.rto_s": "time waiting for timeouts, s",
    "flows.0.tcp.cwnd_mean": "congestion window, mean",
    "flows.0.tcp.srtt_ms": "smoothed RTT, ms",
}


@dataclass(frozen=True)
class Contender:
    """What is compared: its name in tables, and its options. `tcp` is None if it is the baseline's: then it shares no
    string with it."""

    name: str
    options: Mapping[str, object]
    tcp: str | None = None


def contenders(module: Module, controls: Sequence[str]) -> list[Contender]:
    """Return what a module provides: its congestion controls; or the baseline's flows with its qdisc, or with it
    loaded."""
    needed = tuple(one.name for one in module.before)
    besides: dict[str, object] = {"load": needed} if needed else {}
    if controls:
        return [Contender(name, besides, f"{module.name}:{name}") for name in controls]
    if module.qdisc:
        return [Contender(module.qdisc, {**besides, "qdisc": f"{module.name}:{module.qdisc}"})]
    return [Contender(module.name, {"load": (*needed, module.name)})]


def specification_for(
    tcp: Sequence[str], options: Mapping[str, object], hops: int, seed: int, seconds: float = SECONDS
) -> Specification:
    """Return a string with this many hops, and a flow of each TCP from one end to the other."""
    string = {"stations": hops + 1, "flows": len(tcp), "tcp": tuple(tcp)}
    return specify("string", {**string, "seconds": seconds, "seed": seed, "trace": False, **options})


def tasks(found: Sequence[Contender], against: str, hops: Sequence[int], seeds: Sequence[int]) -> list[Task]:
    """Return all runs: a long one of the baseline and each contender; each on all strings; and on the shared string
    where that makes sense."""
    baseline = Contender(against, {}, against)
    length, first = nearest(hops), seeds[0]
    long = [
        Task(specification_for([one.tcp or against], one.options, length, first, LONG_SECONDS), one.name, LONG)
        for one in (baseline, *found)
    ]
    alone = [
        Task(specification_for([one.tcp or against], one.options, length, seed), one.name, str(length))
        for length in hops
        for one in (baseline, *found)
        for seed in seeds
    ]
    shared = [
        Task(specification_for([one.tcp, against], one.options, SHARED_HOPS, seed), one.name, SHARED)
        for one in (baseline, *found)
        for seed in seeds
        if one.tcp and found[0].tcp
    ]
    return [*long, *alone, *shared]


def baseline_runs(lab: Lab, module: Module, against: str, hops: Sequence[int], seeds: Sequence[int], folder: Path,
               wanted: Callable[[], bool]) -> Iterator[processes.Call[None]]:  # fmt: skip
    """Yield runs of the baseline alone, to be called while they are `wanted`; `compare` reuses their results. An error
    here occurs there again."""
    same = Contender("", {}, against if module.kind is Kind.CONGESTION else None)
    for task in reversed(tasks([same], against, hops, seeds)):  # the long one last
        if task.variant == against and wanted():
            yield partial(play_quietly, lab, task, folder)


def play_quietly(lab: Lab, task: Task, folder: Path, _: processes.Parent) -> None:
    with contextlib.suppress(LaneError, Misuse, OSError):
        play(lab, task, folder)


def compare(
    lab: Lab, module: Module, against: str, hops: Sequence[int], seeds: Sequence[int], folder: Path,
    progress: Callable[[float], None] = lambda done: None,
) -> Report:  # fmt: skip
    """Run all in subfolders of `folder`. `module` is built against the lab's kernel.

    The report's data has the runs, without stations, and the shares on the shared string; if it is empty, a note says
    why. Raises LaneError for what the module did not cause, Misuse, or OSError.
    """
    began = time.monotonic()
    lab = replace(lab, modules={**lab.modules, **{one.name: one.path for one in (*module.before, module)}})
    try:
        controls = probe(lab, module, folder)
    except LaneError as error:
        findings = failure_findings(error, seeds[0], Name.REFUSED_LOAD)
        return Report(Stage.COMPARE, findings, (), time.monotonic() - began)
    found = contenders(module, controls)
    if against in (one.name for one in found):
        note = f"it is {against} itself; --against names another"
        return Report(Stage.COMPARE, (), (note,), time.monotonic() - began)
    wanted = tasks(found, against, hops, seeds)
    waiting: list[dict[str, Any]] = []
    done = [0.0] * len(wanted)

    def heard(index: int, fraction: float, air_s: float) -> None:
        done[index] = fraction
        progress(sum(done) / len(done))

    try:
        if module.qdisc:
            waiting = bottleneck.measure(lab, module, against, seeds, folder, progress)
        runs = [outcome.run for outcome in play_all(lab, wanted, folder, heard, resume=True)]
    except LaneError as error:
        if error.reason is Reason.PROGRAM and module.qdisc:  # a qdisc may need options
            return Report(Stage.COMPARE, (), (error.detail,), time.monotonic() - began)
        seed = next((task.seed for task in wanted if ended_with(folder / name_of(task), error.console)), None)
        return Report(Stage.COMPARE, failure_findings(error, seed), (), time.monotonic() - began)
    slow = slower(runs, against)
    notes = [f"{name} delivers {said}" for name, said in slow.items()]
    data = {
        "slower": slow, "bottleneck": waiting,
        "module": module.name, "against": against, "seconds": SECONDS, "hops": list(hops), "seeds": list(seeds),
        "shares": {name: plain(share) for name, share in shares(runs).items()},
        "runs": [run.model_dump(mode="json", exclude={"stations", "settings"}) for run in runs],
    }  # fmt: skip
    bad = [*stalled(runs, against), *collapsed(runs, against, nearest(hops)), *stuck(waiting)]
    for task in (task for task in wanted if bad and name_of(task) == bad[0].run):
        bad[0] = replace(bad[0], pcapng=str(moment.of_run(lab, task.specification, folder / "moment")))
    return Report(Stage.COMPARE, tuple(bad), tuple(notes), time.monotonic() - began, data)


def probe(lab: Lab, module: Module, folder: Path) -> list[str]:
    """Return the congestion controls that a module provides, found by loading it. Raises LaneError if that fails."""
    heard: list[str] = []
    needed = {one.name: one.path for one in module.before}
    where = folder / "probe"
    where.mkdir(parents=True, exist_ok=True)
    command = ["script", str(PROBE), module.name, shown(module, where)]
    lab.lane.run(lab.kernel, needed, where, command, wall_limit_s=PROBE_LIMIT_S, listener=Listener(heard.append))
    return [str(name) for name in parsed(heard[-1])]


def failure_findings(error: LaneError, seed: int | None, refused: Name | None = None) -> tuple[Finding, ...]:
    """Return why a lane died, as findings; `refused` names the finding if only a program failed. Raises the error again
    if the module cannot have caused it."""
    said = splats.find(error.console, seed)
    names = {Reason.CRASHED: Name.OOPS, Reason.WALL_LIMIT: Name.HANG, Reason.PROGRAM: refused}
    name = names.get(error.reason)
    if not said and name is None:
        raise error
    found = said or [Finding(Stage.COMPARE, name or Name.OOPS, error.detail, seed, error.console)]
    return tuple(replace(one, stage=Stage.COMPARE) for one in found)


def ended_with(folder: Path, console: Sequence[str]) -> bool:
    """Return whether a run's console ended with these lines."""
    log = folder / "console.log"
    lines = log.read_text(errors="replace").splitlines() if console and log.is_file() else []
    return lines[-len(console) :] == list(console)


def stalled(runs: Sequence[Run], against: str) -> list[Finding]:
    """Return contenders that delivered almost nothing on a string where the baseline did: the first seed of each."""
    findings = []
    for case, variants in by_case([run for run in runs if run.case not in (SHARED, LONG)]).items():
        baseline = {run.seed: run.goodput_kbps for run in variants[against]}
        for name, group in variants.items():
            bad = [run for run in group if run.goodput_kbps < STALLED * baseline[run.seed]]
            if bad:
                mine, theirs = bad[0].goodput_kbps, baseline[bad[0].seed]
                text = f"over {case} hops {name} delivered {mine:.1f} kb/s, {against} {theirs:.1f}"
                findings.append(Finding(Stage.COMPARE, Name.STALLED_TRAFFIC, text, bad[0].seed, run=name_of(bad[0])))
    return findings


def collapsed(runs: Sequence[Run], against: str, hops: int) -> list[Finding]:
    """Return contenders that deliver ever less on the long run. Its start equals the short run with the same seed and
    length, so the rest is compared with that. Those that deliver almost nothing beside the baseline by then count
    too."""
    found = []
    rates = {run.variant: rates_of(run, runs, hops) for run in runs if run.case == LONG}
    for name, (first, later) in rates.items():
        kept = rates[against][1] >= KEPT * rates[against][0]
        fell = (kept and later < COLLAPSED * first) or later < LEAST * rates[against][1]
        if name != against and fell and first > STALLED * rates[against][0]:
            text = (
                f"{name} delivered {first:.0f} kb/s in the first {SECONDS:g} s and {later:.0f} kb/s after that, until "
                f"{LONG_SECONDS:g} s; {against} {rates[against][0]:.0f} and {rates[against][1]:.0f}"
            )
            run = next(run for run in runs if (run.case, run.variant) == (LONG, name))
            found.append(Finding(Stage.COMPARE, Name.COLLAPSE, text, run.seed, run=name_of(run)))
    return found


def rates_of(long: Run, runs: Sequence[Run], hops: int) -> tuple[float, float]:
    """Return a long run's goodput in its first minute, which equals a short run, and after it, in kb/s."""
    twin = next(r for r in runs if (r.case, r.variant, r.seed) == (str(hops), long.variant, long.seed))
    whole = LONG_SECONDS * long.goodput_kbps - SECONDS * twin.goodput_kbps
    return twin.goodput_kbps, whole / (LONG_SECONDS - SECONDS)


def slower(runs: Sequence[Run], against: str) -> dict[str, str]:
    """Return contenders that deliver clearly less than the baseline, with the largest difference and its string."""
    said: dict[str, tuple[float, str]] = {}
    for case, variants in by_case([run for run in runs if run.case not in (SHARED, LONG)]).items():
        baseline = {run.seed: run.goodput_kbps for run in variants[against]}
        for name, group in variants.items():
            if name == against or not all(baseline.values()):
                continue
            change = statistics.relative_change([r.goodput_kbps for r in group], [baseline[r.seed] for r in group])
            sure = change.samples < 2 or change.mean + change.half_width < 0
            if change.mean <= -SLOWER and sure and change.mean < said.get(name, (0.0, ""))[0]:
                said[name] = change.mean, f"{-100 * change.mean:.0f} % less than {against} over {case} hops"
    return {name: text for name, (_, text) in said.items()}


def stuck(waiting: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Return a finding for a qdisc that lets almost nothing through at a bottleneck."""
    if not (bad := bottleneck.stalled(waiting)):
        return []
    text = f"{bad['kind']} let {bad['goodput_kbps']:.1f} kb/s through {bottleneck.SITUATION}"
    return [Finding(Stage.COMPARE, Name.STALLED_TRAFFIC, text, bad["seed"])]


def nearest(hops: Sequence[int]) -> int:
    """Return the length nearest to SHARED_HOPS."""
    return min(hops, key=lambda length: abs(length - SHARED_HOPS))


def shares(runs: Sequence[Run]) -> dict[str, Estimate]:
    """Return the contender's part of both flows' goodput on the shared string; 0.5 is fair."""
    shared = by_case([run for run in runs if run.case == SHARED]).get(SHARED, {})
    parts = {name: [run.flows[0].share for run in group if run.flows[0].share is not None]
             for name, group in shared.items()}  # fmt: skip
    return {name: statistics.mean(values) for name, values in parts.items() if values}


def flows_over_time(folder: Path, data: Mapping[str, Any]) -> dict[str, Flow]:
    """Return each variant's flow over time under the first seed, on the string whose length is nearest to
    SHARED_HOPS."""
    length = nearest(data["hops"])
    found = {}
    for name in dict.fromkeys(run["variant"] for run in data["runs"]):
        where = folder / f"{length}-{name}-{data['seeds'][0]}"
        found[f"{name}, {length} hops"] = tcp_flows(where, *read_both(where))["flow1"]
    return found


def plain(estimate: Estimate) -> dict[str, Any]:
    return {"mean": estimate.mean, "half_width": estimate.half_width if estimate.samples > 1 else None}
