# SPDX-License-Identifier: BSD-3-Clause
"""A network that is played step by step: its flows run, time passes on request, and the caller may act in between.

    with net.play() as stage:
        stage.until(1_500_000_000)
        net["sta3"].position = 500, 0, 0
        stage.until(10_000_000_000)

The same calls at the same nanoseconds make the same trace, byte for byte. Looking changes nothing (LOOK in
dcf80211.yaml).
"""

from __future__ import annotations

import time

from emulation.lane.node import set_file
from emulation.lane.protocol import DOINGS
from emulation.lane.recorders import Relay
from traffic import applications, sockets
from traffic.loop import Part
from traffic.outcome import judge
from traffic.samples import Samples
from traffic.tcp import find as find_tcp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.measurement import Measurement
    from emulation.lane.network import Live
    from traffic.tcp import Variant

PARAMETERS = "/sys/module/{}/parameters/{}"
LONGEST_S = 86_400.0  # duration of a flow without an end
LONGEST_STEP_NS = 100_000_000  # of a step to the end of a frame or an exchange
COARSE_STEP_NS = 1_000_000  # step if no event is in sight
STEPS = ("slot", "frame", "exchange")
SENDING = DOINGS.index("send")
EXCHANGING = tuple(DOINGS.index(doing) for doing in ("send", "sifs", "wait_cts", "wait_ack"))


class Flow:
    """An application on a stage, running or over. `plan` is as in docs/interfaces.md, section 1."""

    def __init__(self, stage: Stage, plan: dict[str, Any]) -> None:
        self.stage, self.plan, self.part = stage, dict(plan), Part(stage.loop)
        nodes = stage.net.nodes
        lasts_s = LONGEST_S if plan["stop_s"] is None else plan["stop_s"] - plan["start_s"]
        mine = {**plan, "seconds": lasts_s, "seed": stage.net.plan["seed"]}
        made = applications.find(plan["kind"])
        self.application = made(mine, nodes[plan["source"]], nodes[plan["destination"]], self.part, stage.net.folder)
        self.report: dict[str, Any] = {}  # set by `stop`
        self.last_sample: dict[str, Any] = {}

    @property
    def running(self) -> bool:
        return bool(self.application.started_ns) and not self.part.over

    def start(self) -> None:
        self.application.started_ns = time.monotonic_ns()
        self.application.start()

    def stop(self) -> None:
        """End the flow and store its report; without effect if it is over."""
        if self.part.over:
            return
        self.latest()
        report = self.application.finish()
        absent = applications.UNREPORTED
        outcome, why = judge(bool(self.application.started_ns), {**absent, "delivered_bytes": 1, **report})
        self.report = {"name": self.plan["name"], **absent, **report, "outcome": outcome.value, "why": why}
        self.close()

    def close(self) -> None:
        if not self.part.over:
            self.part.over = True
            self.application.close()

    def latest(self) -> dict[str, Any]:
        """Return the current sample, as defined in `traffic.samples`."""
        if self.running:
            self.last_sample = self.application.sample()
        return self.last_sample

    def state(self) -> dict[str, Any]:
        names = ("source", "destination", "kind", "congestion")
        return {**{name: self.plan[name] for name in names}, "running": self.running, **self.latest()}


class Stage:
    """A network that is played. Times are in ns since its start. The caller must close it."""

    def __init__(self, net: Live, measurement: Measurement) -> None:
        self.net, self.measurement, self.loop, began_ns = net, measurement, measurement.loop, measurement.started_ns
        self.began_ns, self.samples, self.flows = began_ns, Samples(), dict[str, Flow]()
        for plan in net.plan["applications"]:
            self._add(plan)
        for flow in self.flows.values():
            at_ns = began_ns + int(flow.plan["start_s"] * 1e9)
            flow.part.at(at_ns, flow.start)
            if flow.plan["stop_s"] is not None:
                flow.part.at(began_ns + int(flow.plan["stop_s"] * 1e9), flow.stop)
        self._sample_at(1)

    @property
    def now_ns(self) -> int:
        return time.monotonic_ns() - self.began_ns

    def until(self, ns: int) -> None:
        """Let time pass until this moment. Raises ValueError if it is over, and any error of a recorder."""
        if ns < self.now_ns:
            raise ValueError(f"until: {ns} ns is in the past; give a time after {self.now_ns} ns")
        if ns > self.now_ns:  # a timer for the current time expires a nanosecond later
            self.loop.run(self.began_ns + ns)

    def pass_one_ns(self) -> None:
        """Let the least possible time pass.

        The kernel advances a program that reads the clock repeatedly without waiting (exact-clock.patch), and counts
        the reads since the last wait. So each action has such a wait before and after it.
        """
        self.loop.run(time.monotonic_ns() + 1)

    def step(self, to: str) -> None:
        """Let time pass for a slot, to the end of the next frame, or to the end of this or the next exchange."""
        if to not in STEPS:
            raise ValueError(f"step: there is no step {to}; there are: {', '.join(STEPS)}")
        if to == "slot":
            return self.until(self.now_ns + self.net.plan["air"]["slot_ns"])
        last_ns, blind_ns, begun = self.now_ns + LONGEST_STEP_NS, int(self.net.plan["air"]["slot_ns"]), False
        while self.now_ns < last_ns:
            looks = [look for look in self.looks() if look["until_ns"] > self.began_ns + self.now_ns]
            sent = [look["until_ns"] for look in looks if look["doing"] == SENDING]
            next_ns = min(look["until_ns"] for look in looks) - self.began_ns if looks else self.now_ns + blind_ns
            if to == "frame" and sent and min(sent) - self.began_ns == next_ns:  # no frame can begin and end before
                return self.until(next_ns)
            on = any(look["doing"] in EXCHANGING for look in looks)
            if to == "exchange" and begun and not on:
                return None
            begun, blind_ns = begun or on, min(2 * blind_ns, COARSE_STEP_NS) if not looks else blind_ns
            self.until(min(next_ns, last_ns))
        return None

    def looks(self) -> list[dict[str, int]]:
        """Return the current state of each station (`struct dcf_look`); empty without an air."""
        return self.net.air.look() if self.net.air else []

    def start(self, source: str, destination: str, name: str = "") -> str:
        """Start a flow of the network's kind, or with the TCP of this name, and return the flow's name. Raises
        ValueError or OSError."""
        if name:
            self._set_parameters(find_tcp(name))
        kind = f"bulk,tcp={name}" if name else None
        plan = self.net.flow_between(source, destination, kind, len(self.flows))
        plan |= {"name": f"flow{len(self.flows) + 1}", "start_s": self.now_ns / 1e9, "stop_s": None}
        flow = self._add(plan)
        flow.start()
        return str(plan["name"])

    def _add(self, plan: dict[str, Any]) -> Flow:
        flow = Flow(self, plan)
        flow.application.prepare()
        self.flows[plan["name"]] = flow
        return flow

    def stop(self, flow: str) -> None:
        """End a flow now. Raises ValueError if it does not run."""
        found = self.flow(flow)
        if not found.running:
            raise ValueError(f"stop: {flow} is not running; choose a running flow")
        found.stop()
        found.plan["stop_s"] = self.now_ns / 1e9

    def tcp(self, flow: str, name: str) -> None:
        """Switch a running flow to another TCP that differs only in its congestion control. Raises ValueError if that
        is not possible, or OSError."""
        found, variant = self.flow(flow), find_tcp(name)
        sender = getattr(found.application, "sender", None)
        if not found.running or sender is None:
            raise ValueError(f"tcp: {flow} has no TCP connection now; choose a running flow over TCP")
        for end in (found.plan["source"], found.plan["destination"]):
            with self.net.nodes[end]:
                other = [variable for variable, value in variant.sysctl.items() if _sysctl(variable) != value]
            if other:
                raise ValueError(
                    f"tcp: {name} needs another {other[0]} from a flow's start; stop the flow and start one with {name}"
                )
        self._set_parameters(variant)
        sockets.set_congestion(sender, variant.congestion, flow)
        found.plan["congestion"] = variant.congestion

    def _set_parameters(self, variant: Variant) -> None:
        """Set the module's parameters, which all its flows share."""
        for name, value in variant.module_parameters.items():
            module, _, parameter = name.partition(".")
            self.net.settings.append(set_file("kernel", name, PARAMETERS.format(module, parameter), value))

    def flow(self, name: str) -> Flow:
        if name not in self.flows:
            raise ValueError(f"there is no flow {name}; there are: {', '.join(self.flows) or 'none'}")
        return self.flows[name]

    def _sample_at(self, number: int) -> None:
        sample_s = self.net.plan["sample_s"]

        def look() -> None:
            self.sample()
            self._sample_at(number + 1)

        if sample_s:
            self.loop.at(self.began_ns + round(number * sample_s * 1e9), look)

    def sample(self) -> None:
        """Add a sample of each flow, for `flows.csv`."""
        for flow in self.flows.values():
            if flow.running and (found := flow.latest()):
                began_s = (flow.application.started_ns - self.began_ns) / 1e9
                self.samples.add(flow.plan["name"], self.now_ns / 1e9, found, began_s)

    def finish(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """End all flows; return them, as in a plan, and their reports."""
        self.sample()
        self.samples.write(self.net.folder)
        for flow in self.flows.values():
            flow.stop()
        return [flow.plan for flow in self.flows.values()], [flow.report for flow in self.flows.values()]

    def close(self) -> None:
        for flow in self.flows.values():
            flow.close()

    def copy(self) -> None:
        """Make what has been recorded so far visible to the host."""
        for recorder in self.measurement.recorders:
            if isinstance(recorder, Relay):
                recorder.copy()

    def state(self) -> dict[str, Any]:
        """Return the current state of nodes, stations and flows."""
        now_ns = time.monotonic_ns()
        return {
            "t_ns": now_ns - self.began_ns,
            "nodes": {
                name: {"position": [round(value, 3) for value in node.trajectory.at(now_ns)]}
                | ({"rts": node.rts, "rate": node.rate, "tx_power_dbm": node.tx_power_dbm} if node.on_air else {})
                for name, node in self.net.nodes.items()
            },
            "air": [list(look.values()) for look in self.looks()],
            "flows": {name: flow.state() for name, flow in self.flows.items()},
        }


def _sysctl(name: str) -> str:
    """Return the value of a sysctl in the namespace of this thread."""
    with open("/proc/sys/" + name.replace(".", "/")) as file:
        return " ".join(file.read().split())
