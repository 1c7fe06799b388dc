# SPDX-License-Identifier: BSD-3-Clause
"""A fake of the lane's program: it carries out requests at once. For tests of the host's side alone."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emulation.features.live.session import BackError, Session
from emulation.plan import plan
from emulation.specification import specify

WITHIN_S = 60
IDLE = [0, 0, 0, 31, 0xFFFF, 0]


class Puppet:
    """The lane's program; `asked` has all requests, those in `refuses` fail, and `kept` is the file of the script."""

    def __init__(self, session: Session, kept: Path) -> None:
        self.session, self.kept, self.asked, self.refuses = session, kept, list[dict[str, Any]](), dict[str, str]()
        self.places = {node["name"]: node["position"] for node in session.plan["nodes"]}
        self.t_ns = 0
        self.at_until, self.may_go = threading.Event(), threading.Event()  # it has begun to let time pass; it may end
        self.may_go.set()

    def state(self, error: str | None) -> str:
        flow = {"source": "sta1", "destination": "sta3", "kind": "bulk", "congestion": "reno", "running": True}
        nodes = {
            name: {"position": at, "rts": "none", "rate": 2.0, "tx_power_dbm": None} for name, at in self.places.items()
        }
        return json.dumps({"error": error, "result": None, "t_ns": self.t_ns, "nodes": nodes, "flows": {"flow1": flow},
                           "air": [IDLE] * len(nodes)})  # fmt: skip

    def run(self) -> None:
        """Run to the end, as often as the session goes back."""
        while True:
            with contextlib.suppress(BackError):
                return self.serve()
            self.session.take()
            self.t_ns = 0

    def serve(self) -> None:
        error: str | None = None
        while (asked := json.loads(self.session.answer(self.state(error))))["do"] != "end":
            self.asked.append(asked)
            error = self.refuses.get(asked["do"])
            if asked["do"] == "until":
                self.at_until.set()
                assert self.may_go.wait(WITHIN_S)
                self.t_ns = asked["ns"]
            elif asked["do"] == "move" and not error:
                self.places[asked["node"]] = asked["position"]


@contextlib.contextmanager
def puppet(folder: Path) -> Iterator[Puppet]:
    """A paused session of three stations, and its program."""
    asked = specify("string", {"stations": 3})
    kept = folder / "script.py"
    session = Session("string", asked, plan(asked), folder / "air.trace", kept)
    session.running = False
    made = Puppet(session, kept)
    lane = threading.Thread(target=made.run)
    lane.start()
    try:
        with session.changed:
            session.changed.wait_for(lambda: bool(session.latest))
        yield made
    finally:
        session.fail("the test is over")
        lane.join()
