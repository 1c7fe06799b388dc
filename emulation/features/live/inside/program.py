# SPDX-License-Identifier: BSD-3-Clause
"""A network that carries out the host's requests, one a line.

A script can make the same calls at the same nanosecond (`emulation.lane.stage`). So the script of a session makes the
same trace, to the byte.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from emulation.lane import guest
from emulation.lane.stage import Stage


def live(playing: AbstractContextManager[Stage]) -> None:
    """Carry out the host's requests on a network (`Net.play`)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host ends it
    with playing as stage:
        serve(stage)


def serve(stage: Stage) -> None:
    """Carry out requests, a JSON object a line, until `end`. Answer each with `state()`, and `error` if it failed."""
    verbs: dict[str, Callable[..., object]] = {
        "until": stage.until, "step": stage.step, "start": stage.start, "stop": stage.stop, "tcp": stage.tcp,
        "move": partial(_move, stage), "set": partial(_set, stage), "reroute": stage.net.reroute,
        "switch": lambda node, on: stage.net.switch(stage.net.nodes[node], on),
    }  # fmt: skip
    error: str | None = None
    result: object = None
    while True:
        state = stage.state()  # this brings the air and its trace up to date
        stage.copy()
        line = guest.read_line(json.dumps({"error": error, "result": result, **state}, separators=(",", ":")))
        if line is None or (asked := json.loads(line))["do"] == "end":
            return
        try:
            error = result = None
            verb = verbs[asked.pop("do")]
            if verb in (stage.until, stage.step):
                verb(**asked)
                continue
            stage.pass_one_ns()
            result = verb(**asked)
        except (OSError, ValueError) as refused:
            error = getattr(refused, "strerror", None) or str(refused)
        stage.pass_one_ns()


def _move(stage: Stage, node: str, position: list[float]) -> None:
    stage.net.nodes[node].position = position


def _set(stage: Stage, node: str, name: str, value: object) -> None:
    setattr(stage.net.nodes[node], name, value)
