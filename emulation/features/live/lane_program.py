# SPDX-License-Identifier: BSD-3-Clause
"""In the lane: a network that does what the host says, a line at a time.

What is done here a script can do by the same calls at the same nanosecond (`emulation.lane.stage`), so a script of what
was done at a page makes the same trace, to the byte.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from emulation.lane import guest
from emulation.lane.stage import Stage
from emulation.net.stepping import play

if TYPE_CHECKING:
    from emulation.net import Net


def live(net: Net) -> None:
    """Let the host play."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host sees to its end
    with play(net) as stage:
        serve(stage, guest.read_line)


def serve(stage: Stage, read: Callable[[str], str | None]) -> None:
    """Do what the host says, a JSON object a line, until it says end: each is answered with `state()`, and an `error`
    if it could not be done."""
    verbs: dict[str, Callable[..., object]] = {
        "until": stage.until, "step": stage.step, "start": stage.start, "stop": stage.stop, "tcp": stage.tcp,
        "move": partial(_move, stage), "set": partial(_set, stage), "reroute": stage.net.reroute,
        "switch": partial(_switch, stage),
    }  # fmt: skip
    error: str | None = None
    result: object = None
    while True:
        state = stage.state()  # to look brings the air up to date, and so its trace
        stage.copy()
        line = read(json.dumps({"error": error, "result": result, **state}, separators=(",", ":")))
        if line is None or (asked := json.loads(line))["do"] == "end":
            return
        try:
            error = result = None
            verb = verbs[asked.pop("do")]
            if verb in (stage.until, stage.step):
                verb(**asked)
                continue
            stage.breathe()
            result = verb(**asked)
        except (OSError, ValueError) as refused:
            error = getattr(refused, "strerror", None) or str(refused)
        stage.breathe()


def _move(stage: Stage, node: str, position: list[float]) -> None:
    stage.net.nodes[node].position = position


def _switch(stage: Stage, node: str, on: bool) -> None:
    stage.net.switch(stage.net.nodes[node], on)


def _set(stage: Stage, node: str, name: str, value: object) -> None:
    setattr(stage.net.nodes[node], name, value)
