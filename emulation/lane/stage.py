# SPDX-License-Identifier: BSD-3-Clause
"""A network that is played: its flows run, time passes when it is told to, and anything may be done in between.

    with net.play() as stage:
        stage.until(1_500_000_000)
        net["sta3"].position = 500, 0, 0
        stage.until(10_000_000_000)

Whoever makes the same calls at the same nanosecond makes the same trace, to the byte: to look changes nothing (LOOK in
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
LONGEST_S = 86_400.0  # that a flow may be told to last which has no end
MOST_NS = 100_000_000  # of a step to a frame, or to the end of an exchange
COARSE_NS = 1_000_000  # at a time, where nothing is in sight
STEPS = ("slot", "frame", "exchange")
SENDS = DOINGS.index("send")
EXCHANGING = tuple(DOINGS.index(doing) for doing in ("send", "sifs", "wait_cts", "wait_ack"))


class Flow:
    """An application that runs, or has run, on a stage; `plan` is as docs/interfaces.md, section 1, has it."""

    def __init__(self, stage: Stage, plan: dict[str, Any]) -> None:
        self.stage, self.plan, self.part = stage, dict(plan), Part(stage.loop)
        nodes = stage.net.nodes
        lasts_s = LONGEST_S if plan["stop_s"] is None else plan["stop_s"] - plan["start_s"]
        mine = {**plan, "seconds": lasts_s, "seed": stage.net.plan["seed"]}
        made = applications.find(plan["kind"])
        self.application = made(mine, nodes[plan["source"]], nodes[plan["destination"]], self.part, stage.net.folder)
        self.report: dict[str, Any] = {}  # when it has stopped
        self.found: dict[str, Any] = {}  # of it, last

    @property
    def running(self) -> bool:
        return bool(self.application.started_ns) and not self.part.over

    def start(self) -> None:
        self.application.started_ns = time.monotonic_ns()
        self.application.start()

    def stop(self) -> None:
        """Its time is up: what it achieved is its report. Nothing, if that was said before."""
        if self.part.over:
            return
        self.look()
        said = self.application.finish()
        outcome, why = judge(bool(self.application.started_ns), {**applications.UNSAID, "delivered_bytes": 1, **said})
        self.report = {"name": self.plan["name"], **applications.UNSAID, **said, "outcome": outcome.value, "why": why}
        self.close()

    def close(self) -> None:
        if not self.part.over:
            self.part.over = True
            self.application.close()

    def look(self) -> dict[str, Any]:
        """How it stands, as `traffic.samples` has it."""
        if self.running:
            self.found = self.application.sample()
        return self.found

    def state(self) -> dict[str, Any]:
        names = ("source", "destination", "kind", "congestion")
        return {**{name: self.plan[name] for name in names}, "running": self.running, **self.look()}


class Stage:
    """What is played, from its start on; times are ns since then. To be closed, however it ends."""

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
        """Let time pass, to this moment. Raises ValueError if that is over, and what ends a recorder."""
        if ns < self.now_ns:
            raise ValueError(f"until: {ns} ns is over: it is {self.now_ns} ns")
        if ns > self.now_ns:  # a timer for now is due a nanosecond later
            self.loop.run(self.began_ns + ns)

    def breathe(self) -> None:
        """Let the least time pass that there is. Who asks for the time over and over without waiting is let on in steps
        (exact-clock.patch of the kernel); how often is counted from the last wait on: so there is one before and after
        whatever is done."""
        self.loop.run(time.monotonic_ns() + 1)

    def step(self, to: str) -> None:
        """Let time pass: a slot; to the end of the next frame; or to that of the exchange that is, or comes next."""
        if to not in STEPS:
            raise ValueError(f"step: to the next {', '.join(STEPS)}, not {to}")
        if to == "slot":
            return self.until(self.now_ns + self.net.plan["air"]["slot_ns"])
        last_ns, blind_ns, begun = self.now_ns + MOST_NS, int(self.net.plan["air"]["slot_ns"]), False
        while self.now_ns < last_ns:
            looks = [look for look in self.looks() if look["until_ns"] > self.began_ns + self.now_ns]
            sent = [look["until_ns"] for look in looks if look["doing"] == SENDS]
            next_ns = min(look["until_ns"] for look in looks) - self.began_ns if looks else self.now_ns + blind_ns
            if to == "frame" and sent and min(sent) - self.began_ns == next_ns:  # nobody may begin, and end, before
                return self.until(next_ns)
            on = any(look["doing"] in EXCHANGING for look in looks)
            if to == "exchange" and begun and not on:
                return None
            begun, blind_ns = begun or on, min(2 * blind_ns, COARSE_NS) if not looks else blind_ns
            self.until(min(next_ns, last_ns))
        return None

    def looks(self) -> list[dict[str, int]]:
        """What each station of the air is doing now (`struct dcf_look`); none without an air."""
        return self.net.air.look() if self.net.air else []

    def start(self, source: str, destination: str, name: str = "") -> str:
        """A flow from now on, as the network's are, or with the TCP of this name; returns its name. Raises ValueError,
        OSError."""
        if name:
            self._parameters(find_tcp(name))
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
            raise ValueError(f"stop: {flow} does not run")
        found.stop()
        found.plan["stop_s"] = self.now_ns / 1e9

    def tcp(self, flow: str, name: str) -> None:
        """Let a flow go on with another TCP, if that differs in its congestion control alone. Raises ValueError,
        OSError."""
        found, variant = self.flow(flow), find_tcp(name)
        sender = getattr(found.application, "sender", None)
        if not found.running or sender is None:
            raise ValueError(f"tcp: {flow} has no TCP that could be changed now")
        for end in (found.plan["source"], found.plan["destination"]):
            with self.net.nodes[end]:
                other = [variable for variable, value in variant.sysctl.items() if _variable(variable) != value]
            if other:
                raise ValueError(f"tcp: {name} needs another {other[0]} from a flow's start on: stop it, and start one")
        self._parameters(variant)
        sockets.set_congestion(sender, variant.congestion, flow)
        found.plan["congestion"] = variant.congestion

    def _parameters(self, variant: Variant) -> None:
        """Let its module have them; all flows with it do."""
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
        """How each flow stands, into `flows.csv`."""
        for flow in self.flows.values():
            if flow.running and (found := flow.look()):
                began_s = (flow.application.started_ns - self.began_ns) / 1e9
                self.samples.add(flow.plan["name"], self.now_ns / 1e9, found, began_s)

    def finish(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Time is up: the flows there were, as a plan has them, and what became of each."""
        self.sample()
        self.samples.write(self.net.folder)
        for flow in self.flows.values():
            flow.stop()
        return [flow.plan for flow in self.flows.values()], [flow.report for flow in self.flows.values()]

    def close(self) -> None:
        for flow in self.flows.values():
            flow.close()

    def copy(self) -> None:
        """Let the host have what has been recorded so far."""
        for recorder in self.measurement.recorders:
            if isinstance(recorder, Relay):
                recorder.copy()

    def state(self) -> dict[str, Any]:
        """How all is now."""
        now_ns = time.monotonic_ns()
        return {
            "t_ns": now_ns - self.began_ns,
            "nodes": {
                name: {"position": [round(value, 3) for value in node.way.at(now_ns)]}
                | ({"rts": node.rts, "rate": node.rate, "tx_power_dbm": node.tx_power_dbm} if node.on_air else {})
                for name, node in self.net.nodes.items()
            },
            "air": [list(look.values()) for look in self.looks()],
            "flows": {name: flow.state() for name, flow in self.flows.items()},
        }


def _variable(name: str) -> str:
    """Of the namespace that this thread is in."""
    with open("/proc/sys/" + name.replace(".", "/")) as file:
        return " ".join(file.read().split())
