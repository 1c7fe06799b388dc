# SPDX-License-Identifier: BSD-3-Clause
"""The actions of a session, with their times. They repeat the session to the byte, in another lane or as a script.

The script's file is written when a lane starts, and each action adds to it. So it is complete however the session ends.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulation import files
from emulation.files.whole import at_once

PROGRAM = """# What `./dcflab live` runs: the network of a specification, controlled by the host.
from emulation.features.live.inside.program import live
from emulation.net import Net

with Net.of({specification!r}, moving=True) as net:
    net.start()
    live(net.play())
"""
SCRIPT = '''# What was done in {title}, played live: run, this does the same at the same nanosecond.
#     ./dcflab run THIS_FILE
import contextlib

from emulation.net import Net

NETWORK = r"""
{network}
"""

with Net.of(NETWORK, moving=True) as net:
    net.start()
    with net.play() as stage:
'''


INDENT = " " * 8


@dataclass(frozen=True)
class Action:
    """A request to the lane's program (`inside.program`), `at_ns` after the start. It acts 1 ns later, or refuses."""

    at_ns: int
    request: dict[str, Any]
    error: str | None = None  # a request that fails may take time all the same


def until(ns: int) -> dict[str, Any]:
    return {"do": "until", "ns": ns}


def strides(now_ns: int, end_ns: int, stride_ns: int) -> Iterator[dict[str, Any]]:
    """Yield requests to advance to `end_ns`, at most `stride_ns` at a time."""
    while now_ns < end_ns:
        now_ns = min(now_ns + stride_ns, end_ns)
        yield until(now_ns)


def replay(actions: Sequence[Action], end_ns: int, stride_ns: int) -> Iterator[dict[str, Any]]:
    """Yield the requests that bring a new lane to the state after these actions, in strides of at most `stride_ns`."""
    now_ns = 0
    for at_ns, asked in [*((action.at_ns, action.request) for action in actions), (end_ns, None)]:
        yield from strides(now_ns, at_ns, stride_ns)
        now_ns = at_ns
        if asked:
            yield asked


def program(specification: str) -> str:
    """Return the lane's program for a network, given as JSON."""
    return PROGRAM.format(specification=specification)


def script(title: str, specification: str, actions: Sequence[Action], end_ns: int) -> str:
    """Return a script that repeats the actions, and then runs until `end_ns`."""
    network = json.dumps(json.loads(specification), indent=1)
    begin = SCRIPT.format(title=title, network=network)
    return f"{begin}{''.join(map(lines, actions))}{INDENT}stage.until({end_ns:_})\n"


def lines(action: Action) -> str:
    """Return an action as lines of such a script."""
    made = [f"stage.until({action.at_ns + 1:_})  # ns"]
    made += [f"with contextlib.suppress(OSError, ValueError):  # {action.error}"] * bool(action.error)
    made.append("    " * bool(action.error) + python_call(**action.request))
    return "".join(f"{INDENT}{line}\n" for line in made)


def python_call(do: str, **asked: Any) -> str:
    if do == "move":
        return f"net[{asked['node']!r}].position = {tuple(asked['position'])}"
    if do == "reroute":
        return "net.reroute()"
    if do == "switch":
        return f"net.switch(net[{asked['node']!r}], on={asked['on']})"
    if do == "set":
        return f"net[{asked['node']!r}].{asked['name']} = {asked['value']!r}"
    return f"stage.{do}({', '.join(f'{name}={value!r}' for name, value in asked.items() if value)})"


class ScriptFile:
    """The file of a session's script, in a folder that a lane can write to. Methods raise OSError."""

    def __init__(self, path: Path, script: str) -> None:
        self.path = path
        self.rewrite(script)

    def rewrite(self, script: str) -> None:
        with at_once(self.path.parent) as half:
            self.file = files.made(half / self.path.name)
            files.put(self.file, self.path, script.encode())

    def add(self, action: Action) -> None:
        files.put(self.file, self.path, lines(action).encode())
