# SPDX-License-Identifier: BSD-3-Clause
"""A live session: the requests to the lane's program, and the events for the page.

After each request the lane's program asks for the next one, as a prompt asks for a line; its question is the network's
state. `answer` answers in the lane's thread. It waits until time must pass, or until a user at the page asks for
something (`do`, in the server's threads). To pause is not to answer, and a step is one answer. To go back is to end
this lane, and to give another one the same answers.
"""

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from emulation import files
from emulation.features.live import actions, show, verbs
from emulation.features.live.air import COLLISION, Air
from emulation.features.live.pace import FRAME_S, Pace
from emulation.features.live.paths import CurrentPaths, by_names
from emulation.features.live.state import States
from emulation.lane.errors import Misuse
from emulation.lanes import LaneError, Reason
from emulation.plan import plan as make_plan
from emulation.play.traces import reading_lane
from emulation.specification import Specification

STRIDE_NS = 200_000_000  # the longest request while it goes back to a moment, and in a long step
SHOWN_SLOW = 0.05  # up to this pace, all frames are shown, also when they begin
MOST_FRAMES, MOST_SLOW = 70, 5_000  # frames an event: some 2,000 a second
MOST_BYTES = 1 << 28  # of the trace, read at a time
SEARCH_NS = 10_000_000_000  # the longest search for a collision
ARRIVES_NS = 4_000  # after its end, a frame has arrived everywhere, and no answer has begun: SIFS is longer
ALIVE_S = 0.5  # interval of states while time stands
PATIENCE_S = 60.0  # for the lane to carry out a request
BEHIND = 256  # events that wait for a page; older ones are dropped
END, NEXT_FRAME = {"do": "end"}, {"do": "step", "to": "frame"}
BEGINNING = "start"  # the first moment
OFFERED = ("static", "aodv", "dsr", "olsr", "dsdv")  # routings that need no programs of the distribution


class BackError(Exception):
    """Ends this lane, because the network goes back to a moment."""


@dataclass(frozen=True)
class Moment:
    """The actions until a time, and the kind of routing then."""

    t_ns: int
    actions: Sequence[actions.Action]
    routing: str


@dataclass
class Job:
    """Requests for the lane, and their result."""

    requests: list[dict[str, Any]]
    done: threading.Event = field(default_factory=threading.Event)
    error: str | None = None

    def finish(self, error: str | None = None) -> None:
        self.error = error
        self.done.set()


class Session:
    """One network on a page, from start to end, also over several lanes; its script is kept."""

    def __init__(
        self, title: str, specification: Specification, plan: dict[str, Any], trace: Path, script_path: Path,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.title, self.specification, self.plan, self.trace, self.now_s = title, specification, plan, trace, now_s
        self.routings = routings(specification, plan)
        self.changed = threading.Condition()
        self.pace, self.running, self.ending = Pace(), True, False
        self.striding = False  # a request for time to pass is not answered yet
        self.stale = False  # the page needs a state now: it shows more while time stands
        self.search_until_ns: int | None = None  # the end of a search for a collision, frame by frame
        self.search: Literal["on", "in vain"] | None = None  # the state of the latest search; None: it found one
        self.published_s = 0.0  # when the state was last published
        self.busy: str | None = None
        self.ended: str | None = None
        self.actions: list[actions.Action] = []
        self.moments = {BEGINNING: Moment(0, (), self.routing)}
        self.jobs, self.steps = deque[Job](), deque[dict[str, Any]]()
        self.current: Job | None = None
        self.back: Moment | None = None
        self.target: Moment | None = None  # the moment that a new lane has not reached yet
        self.network = show.network(title, specification, plan, list(self.routings))
        self.pages: list[deque[str]] = []
        self.latest: dict[str, Any] = {}
        self.begin(())
        self.script_file = actions.ScriptFile(script_path, self.script())

    def begin(self, replaying: Sequence[dict[str, Any]] | Iterator[dict[str, Any]]) -> None:
        """Start with a new lane, which first repeats these requests."""
        self.replaying, self.t_ns, self.sent = iter(replaying), 0, dict[str, Any]()
        self.sent_s, self.read = self.now_s(), 0
        radios = show.radios(self.plan)
        paths = CurrentPaths(self.plan, radios)
        self.air, self.states = Air(radios, paths), States(self.specification, self.plan, paths)

    @property
    def routing(self) -> str:
        return str(self.plan["routing"]["kind"])

    def answer(self, question: str) -> str:
        """Return the next request for the lane's program. Called in the lane's thread.

        Raises BackError, OSError, or LaneError if the question is not that of our program.
        """
        if self.sent == END:
            raise LaneError(Reason.PROGRAM, "it asks for more input after it was ended")
        with reading_lane(self.trace.parent):
            self._on_state(json.loads(question))
        self.sent = self._next()
        self.sent_s = self.now_s()
        return json.dumps(self.sent)

    def _on_state(self, state: dict[str, Any]) -> None:
        """Take the lane's state after a request."""
        t_ns, took_s = int(state["t_ns"]), self.now_s() - self.sent_s
        if hops := state["result"] if self.sent.get("do") == "reroute" else None:
            self.air.paths.routes = by_names(self.plan, hops)
        rows = self._frames(t_ns)
        latest = self.states.update(state, self.air)
        if rows and not self.busy:
            self.publish({"event": "frames", "frames": rows})
        with self.changed:  # time, state and actions belong together
            before_ns, self.t_ns, self.latest = self.t_ns, t_ns, latest
            if self.sent.get("do") == "until":
                self.pace.record(t_ns - before_ns, took_s)
            elif self.sent.get("do", "step") != "step":
                self.actions.append(actions.Action(before_ns, self.sent, state["error"]))
                if not self.busy:  # else another lane did it before
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
        """Return the frames that the trace got until this time."""
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
        """Wait for the next request and return it. Raises BackError."""
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
        """Return how much time passes now (ns); None, after waiting, if there may be another request.

        While time stands, publish the state every ALIVE_S. Return 0 if a child process has ended: the lane may have
        died, which the answer shows.
        """
        due_s = self.pace.due_s(self.now_s()) if self.running else ALIVE_S
        if due_s > 0:
            if self.changed.wait(due_s) or self.running:
                return None
            self.publish_state()
            return 0 if ended_children() else None
        return self.pace.stride(self.now_s()) or None

    def do(self, verb: verbs.AnyVerb) -> None:
        """Carry out a verb of the page. Returns when it is done or has begun. Raises Misuse."""
        match verb:
            case verbs.Pace(pace=pace):
                self._set(pace=pace)
            case verbs.Plain(do="end"):
                self.end()
            case verbs.Plain(do=word):
                self._set(running=word == "run")
            case verbs.Step(to=to, ns=ns):
                if to == "ns" and not ns:
                    raise Misuse("step: ns is missing; give the number of nanoseconds")
                if self.running:
                    self._set(running=False)
                self._step(to, ns or 0)
            case verbs.Save(name=name):
                self._save(name)
            case verbs.Back(moment=name):
                self._go_back(name)
            case verbs.Routing(kind=kind) if kind != self.routing:
                self._route_by(kind)
            case _:
                self._run(verbs.requests(verb, self.plan, self.latest))

    def _set(self, pace: float | None = None, running: bool | None = None) -> None:
        with self.changed:
            if pace is not None:
                self.pace.pace, self.pace.owed_ns = pace, 0.0
            if running is not None:
                self.running = running
                self.pace.halt()
                self._drop_steps()
                self.changed.notify_all()
            if running is False:  # the next state has the time at which it stopped
                self.changed.wait_for(lambda: not self.striding or self.ending, PATIENCE_S)
            self.stale = True
            self.changed.notify_all()
        self.publish_state()

    def _step(self, to: str, ns: int) -> None:
        """Add a step after those that wait."""
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
            numbers = map(str, count(len(self.moments)))
            name = name or next(number for number in numbers if number not in self.moments)
            if name in self.moments:
                raise Misuse(f"save: the moment {name} exists; choose another name")
            self.moments[name] = Moment(self.t_ns, tuple(self.actions), self.routing)
        self.publish_state()

    def _go_back(self, name: str) -> None:
        with self.changed:
            if name not in self.moments:
                raise Misuse(f"back: there is no moment {name}; there are: {', '.join(self.moments)}")
            self._go_to(self.moments[name], "back")
        self.publish_state()

    def _route_by(self, kind: str) -> None:
        """Repeat the session from the start under another routing, up to the current time."""
        with self.changed:
            if kind not in self.routings:
                raise Misuse(
                    f"routing: the running network cannot change to {kind}; choose one of: {', '.join(self.routings)}"
                )
            if self.busy:
                raise Misuse(f"the network is still going {self.busy}; try again afterwards")
            self._go_to(Moment(self.t_ns, tuple(self.actions), kind), f"by {kind} from the start")
        self.publish_state()

    def _go_to(self, moment: Moment, direction: str) -> None:
        self.back = moment
        self.running, self.busy = False, f"{direction} to {moment.t_ns / 1e9:g} s"
        self._drop("the network goes elsewhere")
        self.changed.notify_all()

    def take(self) -> None:
        """After BackError, prepare for another lane, which goes to the chosen moment."""
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
                raise Misuse(f"the network is still going {self.busy}; try again afterwards")
            if self.ending or self.ended:
                raise Misuse("the network has ended; start another one with ./dcflab live")
            if requests:
                self._overtake(requests[0])
                self.jobs.append(job)
                self.changed.notify_all()
            else:
                job.finish()
        if not job.done.wait(PATIENCE_S):
            raise Misuse(f"the lane has not answered in {PATIENCE_S:g} s; end it with Ctrl-C in the terminal")
        if job.error:
            raise Misuse(job.error)

    def _overtake(self, request: dict[str, Any]) -> None:
        """Drop earlier moves of a node that wait: only its latest position counts."""
        for job in list(self.jobs) if request["do"] == "move" else ():
            if job.requests[0]["do"] == "move" and job.requests[0]["node"] == request["node"]:
                self.jobs.remove(job)
                job.finish()

    def _drop(self, why: str) -> None:
        """Drop all requests that wait."""
        for job in (*self.jobs, *([self.current] if self.current else [])):
            job.finish(why)
        self.jobs.clear()
        self._drop_steps()
        self.current = None

    def _drop_steps(self) -> None:
        """Drop the steps that wait, and end a search."""
        self.steps.clear()
        self.search_until_ns = self.search = None

    def end(self) -> None:
        """End the lane's program at its next question."""
        with self.changed:
            self.ending = True
            self._drop("the network has ended; start another one with ./dcflab live")
            self.changed.notify_all()

    def fail(self, why: str) -> None:
        """Record the end of the session and its reason, and publish it as the last event."""
        self.end()
        self.ended = why
        self.publish_state()

    def script(self) -> str:
        """Return the script of the actions so far, or up to the moment that the network goes to."""
        with self.changed:
            done, t_ns = (self.target.actions, self.target.t_ns) if self.target else (list(self.actions), self.t_ns)
        return actions.script(self.title, self.specification.model_dump_json(exclude_defaults=True), done, t_ns)

    def keep(self) -> None:
        """Write the script to its file, with the time after the last action. Raises OSError."""
        self.script_file.rewrite(self.script())

    def publish_state(self) -> None:
        if self.latest:
            self.published_s = self.now_s()
            self.publish(self.state())

    def state(self) -> dict[str, Any]:
        moments = [{"name": name, "t_ns": moment.t_ns} for name, moment in self.moments.items()]
        return {
            "event": "state", "pace": self.pace.pace, "running": self.running, "busy": self.busy, "ended": self.ended,
            "search": self.search, "routing": self.routing, "moments": moments, "actions": len(self.actions),
            **self.latest,
        }  # fmt: skip

    def publish(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, separators=(",", ":"))
        with self.changed:
            for page in self.pages:
                page.append(line)
            self.changed.notify_all()

    def join(self) -> deque[str]:
        """Add a page. Return the queue of its events, which `leave` removes."""
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
    """Return the specification and plan of a network under each routing that it can have, by kind."""
    there = {str(plan["routing"]["kind"]): (specification, plan)}
    for kind in OFFERED:
        if kind not in there:
            network = specification.network.model_copy(update={"routing": {"kind": kind}})
            other = specification.model_copy(update={"network": network})
            with suppress(Misuse):
                there[kind] = other, make_plan(other)
    return there


def ended_children() -> bool:
    """Return whether a child of this process has ended and not been waited for."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False
