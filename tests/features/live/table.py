# SPDX-License-Identifier: BSD-3-Clause
"""A network in a lane, with a user at its page, who is a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emulation.features.live import verbs
from emulation.features.live.play import Lanes, trace_of
from emulation.features.live.session import Session
from emulation.features.live.verbs import LONGEST_NS
from emulation.lanes import Lane, virtual
from emulation.plan import plan
from emulation.play.script import SCRIPT_COPY
from emulation.setup import Prepared
from emulation.specification import specify

WALL_LIMIT_S = 120.0


class Table:
    """A network, and the user at its page."""

    def __init__(self, prepared: Prepared, folder: Path, topology: str, options: dict[str, Any]) -> None:
        self.prepared, self.folder, self.failed = prepared, folder, list[BaseException]()
        self.topology, self.options, asked = topology, options, specify(topology, options)
        chosen = asked.network.model_copy(update={"own": asked.network.standing(), "topology": None, "parameters": {}})
        self.asked = asked.model_copy(update={"network": chosen})
        self.session = Session(topology, self.asked, plan(self.asked), trace_of(folder, 1), folder / SCRIPT_COPY)

    def do(self, verb: str, **what: Any) -> None:
        self.session.do(verbs.ADAPTER.validate_python({"do": verb, **what}))

    def wait(self, holds: Callable[[Session], bool]) -> None:
        """Wait until this holds for the session, or it has ended."""
        with self.session.changed:
            self.session.changed.wait_for(lambda: holds(self.session) or bool(self.session.ended), WALL_LIMIT_S)
        assert holds(self.session)

    def until(self, t_ns: int) -> None:
        """Advance to this time at full speed."""
        while self.session.t_ns < t_ns:
            here = min(t_ns, self.session.t_ns + LONGEST_NS)
            self.do("step", to="ns", ns=here - self.session.t_ns)
            self.wait(lambda session, here=here: session.t_ns >= here)

    def run(self, program: str) -> None:
        """Run this program as a script in a lane, without a page."""
        (self.folder / SCRIPT_COPY).write_text(program)
        self.boot(virtual.LANE)

    def again(self, program: str | None = None) -> Table:
        """Run the session's script, or this one, in another lane, where it makes the same trace."""
        folder = self.folder.with_name(f"{self.folder.name}-again")
        folder.mkdir()
        made = Table(self.prepared, folder, self.topology, self.options)
        made.run(program or self.session.script())
        assert made.trace() == self.trace()
        return made

    def boot(self, lane: Lane) -> None:
        modules, kernel = self.prepared.modules, self.prepared.kernel.linux
        command = ["script", str(self.folder / SCRIPT_COPY)]
        assert lane.run(kernel, modules, self.folder, command, wall_limit_s=WALL_LIMIT_S).status == 0

    def play(self, played: Callable[[Table], None]) -> None:
        """Let a user do this at the page; then end the network."""

        def sit() -> None:
            try:
                self.wait(lambda session: bool(session.latest))
                played(self)
            except BaseException as error:
                self.failed.append(error)
            finally:
                self.session.end()

        page = threading.Thread(target=sit)
        page.start()
        try:
            self.boot(Lanes(virtual.LANE, self.session))
        finally:
            self.session.fail("the test is over")
            page.join()
        if self.failed:
            raise self.failed[0]

    def trace(self) -> bytes:
        return self.session.trace.read_bytes()
