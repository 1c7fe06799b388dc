# SPDX-License-Identifier: BSD-3-Clause
"""A live session: what the lane's program is told to do next, and what the page is told of it.

The lane's program asks what to do whenever it has done something, as a prompt asks for a line, and its question says
how all is then. Who answers is `answer`, in the lane's thread; it waits until time is to pass, or somebody at the page
asks for something (`do`, in the server's threads). Everything else hangs on that: pause is not to answer, a step is one
answer, and to go back is to end this lane and to answer another one as this one was answered.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from emulation import files
from emulation.features.live import actions, show, verbs
from emulation.features.live.air import COLLISION, Air
from emulation.features.live.pace import FRAME_S, Pace
from emulation.features.live.paths import CurrentPaths, by_names
from emulation.features.live.requests import requests
from emulation.features.live.script_file import ScriptFile
from emulation.features.live.state import States
from emulation.lane.errors import Misuse
from emulation.lanes import LaneError, Reason
from emulation.plan import plan as make_plan
from emulation.play.traces import reading_lane
from emulation.specification import Specification

STRIDE_NS = 200_000_000  # at a time, on the way back to a moment, and in a long step
SHOWN_SLOW = 0.05  # up to this pace all frames are shown, and as they begin
MOST_FRAMES, MOST_SLOW = 70, 5_000  # of a look: some 2,000 a second
MOST_BYTES = 1 << 28  # of a look
SEARCH_NS = 10_000_000_000  # at most, for the next collision
ARRIVES_NS = 4_000  # after a frame's end it has arrived everywhere, and no answer has begun: SIFS is longer
ALIVE_S = 0.5  # while time stands, until the pages are told so again
PATIENCE_S = 60.0  # for the lane to do what was asked
BEHIND = 256  # events that a page may be behind, before it misses some
END, NEXT_FRAME = {"do": "end"}, {"do": "step", "to": "frame"}
BEGINNING = "start"  # the first moment
OFFERED = ("static", "aodv", "dsr", "olsr", "dsdv")  # routings that need nothing besides the lab


class BackError(Exception):
    """This lane is to end, as the network goes back to a moment."""


@dataclass(frozen=True)
class Moment:
    """What was done until a time, and the kind of routing under which that was."""

    t_ns: int
    actions: Sequence[actions.Action]
    routing: str


@dataclass
class Job:
    """Something for the lane to do, and what came of it."""

    requests: list[dict[str, Any]]
    done: threading.Event = field(default_factory=threading.Event)
    error: str | None = None

    def finish(self, error: str | None = None) -> None:
        self.error = error
        self.done.set()


class Session:
    """One network at a page, from the first look to the end, in as many lanes as going back takes; kept as a script."""

    def __init__(
        self, title: str, specification: Specification, plan: dict[str, Any], trace: Path, script_path: Path,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.title, self.specification, self.plan, self.trace, self.now_s = title, specification, plan, trace, now_s
        self.routings = routings(specification, plan)
        self.changed = threading.Condition()
        self.pace, self.running, self.ending = Pace(), True, False
        self.striding = False  # time passes, and it is not known yet how far
        self.stale = False  # more is to be shown of how all is, as who looks does so otherwise
        self.search_until_ns: int | None = None  # for a collision, frame by frame
        self.search: Literal["on", "in vain"] | None = None  # that search, or the latest one; None: it has found one
        self.published_s = 0.0  # when pages were last told
        self.busy: str | None = None
        self.ended: str | None = None
        self.actions: list[actions.Action] = []
        self.moments = {BEGINNING: Moment(0, (), self.routing)}
        self.jobs, self.steps = deque[Job](), deque[dict[str, Any]]()
        self.current: Job | None = None
        self.back: Moment | None = None
        self.target: Moment | None = None  # of a lane that has not come there yet
        self.network = show.network(title, specification, plan, list(self.routings))
        self.pages: list[deque[str]] = []
        self.latest: dict[str, Any] = {}
        self.begin(())
        self.script_file = ScriptFile(script_path, self.script())

    def begin(self, replaying: Sequence[dict[str, Any]] | Iterator[dict[str, Any]]) -> None:
        """A lane begins, which is first to do this again."""
        self.replaying, self.t_ns, self.sent = iter(replaying), 0, dict[str, Any]()
        self.sent_s, self.read = self.now_s(), 0
        radios = show.radios(self.plan)
        ways = CurrentPaths(self.plan, radios)
        self.air, self.states = Air(radios, ways), States(self.specification, self.plan, ways)

    @property
    def routing(self) -> str:
        """Its kind, now."""
        return str(self.plan["routing"]["kind"])

    def answer(self, question: str) -> str:
        """In the lane's thread: what its program is to do next. Raises BackError, OSError, and LaneError for a question
        that is not that of our program."""
        if self.sent == END:
            raise LaneError(Reason.PROGRAM, "it was told to end, but asks for more input")
        with reading_lane(self.trace.parent):
            self._on_state(json.loads(question))
        self.sent = self._next()
        self.sent_s = self.now_s()
        return json.dumps(self.sent)

    def _on_state(self, state: dict[str, Any]) -> None:
        """What the lane says, now that it has done what it was sent."""
        t_ns, took_s = int(state["t_ns"]), self.now_s() - self.sent_s
        if hops := state["result"] if self.sent.get("do") == "reroute" else None:
            self.air.paths.routes = by_names(self.plan, hops)
        rows = self._frames(t_ns)
        latest = self.states.update(state, self.air)
        if rows and not self.busy:
            self.publish({"event": "frames", "frames": rows})
        with self.changed:  # the time, how all is then, and what was done until then belong together
            before_ns, self.t_ns, self.latest = self.t_ns, t_ns, latest
            if self.sent.get("do") == "until":
                self.pace.record(t_ns - before_ns, took_s)
            elif self.sent.get("do", "step") != "step":
                self.actions.append(actions.Action(before_ns, self.sent, state["error"]))
                if not self.busy:  # else it was done before, in another lane
                    self.script_file.add(self.actions[-1])
            self.striding = False
            if self.search_until_ns is not None and self.sent.get("do") in ("step", "until"):
                if any(outcome == COLLISION for *_, outcome, _, _ in rows):
                    self.search_until_ns = self.search = None
                elif t_ns >= self.search_until_ns:
                    self.search_until_ns, self.search = None, "in vain"
            if self.current:
                self.current.requests[: None if state["error"] else 1] = []
                if not self.current.requests:
                    self.current.finish(state["error"])
                    self.current = None
        if self.search_until_ns is None or self.now_s() - self.published_s >= FRAME_S:
            self.publish_state()

    def _frames(self, t_ns: int) -> list[Any]:
        """Those that have come since, by this time."""
        try:
            with files.opened(self.trace, self.trace.parents[1]) as file:
                file.seek(self.read)
                data = file.read(MOST_BYTES)
        except FileNotFoundError:  # not yet
            return []
        self.read += len(data)
        slow = not self.busy and (not self.running or self.pace.pace <= SHOWN_SLOW)
        return self.air.feed(data, t_ns, MOST_SLOW if slow else MOST_FRAMES, slow)

    def _next(self) -> dict[str, Any]:
        """What is to be done next; waits until there is something. Raises BackError."""
        with self.changed:
            while True:
                if self.ending:
                    return END
                if self.back:
                    raise BackError
                if self.busy:
                    if asked := next(self.replaying, None):
                        return asked
                    self.busy = self.target = None
                    self.publish_state()
                if self.jobs and not self.current:
                    self.current = self.jobs.popleft()
                if self.current:
                    return self.current.requests[0]
                if self.steps:
                    self.striding = True
                    return self.steps.popleft()
                if self.search_until_ns is not None:
                    self.striding = True
                    ended = self.sent == NEXT_FRAME
                    return actions.until(self.t_ns + ARRIVES_NS) if ended else NEXT_FRAME
                if self.stale:
                    self.stale = False
                    return actions.until(self.t_ns)
                if (stride := self._stride()) is not None:
                    self.striding = True
                    return actions.until(self.t_ns + stride)

    def _stride(self) -> int | None:
        """How much time is to pass now, in ns; None, having waited, if something else may be to do. While time stands
        the pages are told so now and then; and a lane that is gone is asked for nothing, so that this is noticed."""
        due_s = self.pace.due_s(self.now_s()) if self.running else ALIVE_S
        if due_s > 0:
            if self.changed.wait(due_s) or self.running:
                return None
            self.publish_state()
            return 0 if ended_children() else None
        return self.pace.stride(self.now_s()) or None

    def do(self, verb: verbs.AnyVerb) -> None:
        """At the page somebody asks for this. Returns when it is done, or begun; raises Misuse."""
        match verb:
            case verbs.Pace(pace=pace):
                self._set(pace=pace)
            case verbs.Pause():
                self._set(running=False)
            case verbs.Run():
                self._set(running=True)
            case verbs.Step(to=to, ns=ns):
                if to == "ns" and not ns:
                    raise Misuse("step: by how many ns?")
                if self.running:
                    self._set(running=False)
                self._step(to, ns or 0)
            case verbs.Save(name=name):
                self._save(name)
            case verbs.Back(moment=name):
                self._go_back(name)
            case verbs.Routing(kind=kind) if kind != self.routing:
                self._route_by(kind)
            case verbs.End():
                self.end()
            case _:
                self._run(requests(verb, self.plan, self.latest))

    def _set(self, pace: float | None = None, running: bool | None = None) -> None:
        with self.changed:
            if pace is not None:
                self.pace.pace, self.pace.owed_ns = pace, 0.0
            if running is not None:
                self.running = running
                self.pace.halt()
                self._drop_steps()
                self.changed.notify_all()
            if running is False:  # the time that is said then is where it stands
                self.changed.wait_for(lambda: not self.striding or self.ending, PATIENCE_S)
            self.stale = True
            self.changed.notify_all()
        self.publish_state()

    def _step(self, to: str, ns: int) -> None:
        """After those that are to be made already."""
        with self.changed:
            self.search_until_ns = self.search = None
            if to == "collision":
                self.search_until_ns, self.search = self.t_ns + SEARCH_NS, "on"
            elif ns:
                ends = (each["ns"] for each in (self.sent, *self.steps) if each.get("do") == "until")
                now_ns = max([self.t_ns, *ends])
                self.steps.extend(actions.strides(now_ns, now_ns + ns, STRIDE_NS))
            else:
                self.steps.append({"do": "step", "to": to})
            self.stale = True
            self.changed.notify_all()

    def _save(self, name: str | None) -> None:
        with self.changed:
            number = len(self.moments)
            while name is None:
                name, number = (None, number + 1) if str(number) in self.moments else (str(number), number)
            if name in self.moments:
                raise Misuse(f"save: there is a moment {name} already")
            self.moments[name] = Moment(self.t_ns, tuple(self.actions), self.routing)
        self.publish_state()

    def _go_back(self, name: str) -> None:
        with self.changed:
            if name not in self.moments:
                raise Misuse(f"back: there is no moment {name}; there are: {', '.join(self.moments)}")
            self._go_to(self.moments[name], "back")
        self.publish_state()

    def _route_by(self, kind: str) -> None:
        """Another routing from the start on: a network that does the same under it comes to where this one is."""
        with self.changed:
            if kind not in self.routings:
                raise Misuse(f"routing: {kind} is not for this network under way; {', '.join(self.routings)} are")
            if self.busy:
                raise Misuse(f"the network is on its way {self.busy}: wait until it is there")
            self._go_to(Moment(self.t_ns, tuple(self.actions), kind), f"by {kind} from the start")
        self.publish_state()

    def _go_to(self, moment: Moment, way: str) -> None:
        self.back = moment
        self.running, self.busy = False, f"{way} to {moment.t_ns / 1e9:g} s"
        self._drop("the network goes elsewhere")
        self.changed.notify_all()

    def take(self) -> None:
        """After BackError: another lane begins, which is to come to where the network goes to."""
        assert self.back
        self.target = moment = self.back
        self.back = None
        self.specification, self.plan = self.routings[moment.routing]
        self.actions = []
        self.keep()
        self.begin(actions.replay(moment.actions, moment.t_ns, STRIDE_NS))

    def _run(self, requests: list[dict[str, Any]]) -> None:
        job = Job(requests)
        with self.changed:
            if self.busy:
                raise Misuse(f"the network is on its way {self.busy}: wait until it is there")
            if self.ending or self.ended:
                raise Misuse("the network has ended")
            if requests:
                self._overtake(requests[0])
                self.jobs.append(job)
                self.changed.notify_all()
            else:
                job.finish()
        if not job.done.wait(PATIENCE_S):
            raise Misuse(f"the lane has not answered in {PATIENCE_S:g} s")
        if job.error:
            raise Misuse(job.error)

    def _overtake(self, request: dict[str, Any]) -> None:
        """Of a node that is dragged only the latest place counts."""
        for job in list(self.jobs) if request["do"] == "move" else ():
            if job.requests[0]["do"] == "move" and job.requests[0]["node"] == request["node"]:
                self.jobs.remove(job)
                job.finish()

    def _drop(self, why: str) -> None:
        """Nothing that has been asked for will be done."""
        for job in (*self.jobs, *([self.current] if self.current else [])):
            job.finish(why)
        self.jobs.clear()
        self._drop_steps()
        self.current = None

    def _drop_steps(self) -> None:
        """Make no more steps."""
        self.steps.clear()
        self.search_until_ns = self.search = None

    def end(self) -> None:
        """The lane's program is to end, as soon as it asks."""
        with self.changed:
            self.ending = True
            self._drop("the network has ended")
            self.changed.notify_all()

    def fail(self, why: str) -> None:
        """It has ended, however it did; the pages are told, last of all."""
        self.end()
        self.ended = why
        self.publish_state()

    def script(self) -> str:
        """What was done so far, or until the moment to which the network is on its way."""
        with self.changed:
            done, t_ns = (self.target.actions, self.target.t_ns) if self.target else (list(self.actions), self.t_ns)
        return actions.script(self.title, self.specification.model_dump_json(exclude_defaults=True), done, t_ns)

    def keep(self) -> None:
        """Have all of it in its file, the time after the last deed too. Raises OSError."""
        self.script_file.rewrite(self.script())

    def publish_state(self) -> None:
        """Tell the pages how all is."""
        if self.latest:
            self.published_s = self.now_s()
            self.publish(self.state())

    def state(self) -> dict[str, Any]:
        moments = [{"name": name, "t_ns": moment.t_ns} for name, moment in self.moments.items()]
        return {
            "event": "state", "pace": self.pace.pace, "running": self.running, "busy": self.busy, "ended": self.ended,
            "search": self.search, "routing": self.routing, "moments": moments, "deeds": len(self.actions),
            **self.latest,
        }  # fmt: skip

    def publish(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, separators=(",", ":"))
        with self.changed:
            for page in self.pages:
                page.append(line)
            self.changed.notify_all()

    def join(self) -> deque[str]:
        """A page: its events, as they come, which it takes from the left; to be given to `leave`."""
        with self.changed:
            page = deque([json.dumps(self.network)], BEHIND)
            if self.latest:
                page.append(json.dumps(self.state()))
            self.pages.append(page)
        return page

    def leave(self, page: deque[str]) -> None:
        with self.changed:
            self.pages = [each for each in self.pages if each is not page]


def routings(specification: Specification, plan: dict[str, Any]) -> dict[str, tuple[Specification, dict[str, Any]]]:
    """A network as it is, of which this plan was made, and with each other routing that it can have; by kind."""
    there = {str(plan["routing"]["kind"]): (specification, plan)}
    for kind in OFFERED:
        if kind not in there:
            network = specification.network.model_copy(update={"routing": {"kind": kind}})
            other = specification.model_copy(update={"network": network})
            with suppress(Misuse):
                there[kind] = other, make_plan(other)
    return there


def ended_children() -> bool:
    """Whether a child of this process has ended that nobody has waited for."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False
