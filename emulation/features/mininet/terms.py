# SPDX-License-Identifier: BSD-3-Clause
"""Functions that scripts call around a network: terminals, which a lane lacks; cleanup, which a lane does not need; and
checks for programs."""

from __future__ import annotations

import shutil
from typing import Any

from emulation.features.mininet.node import Node
from emulation.features.mininet.refusals import note
from emulation.lane.errors import Misuse


def makeTerm(node: Node, title: str = "Node", term: str = "xterm", display: Any = None, cmd: str = "bash") -> list[Any]:
    """Run a program without its terminal; a file in the run folder has its output. Note that interactive terminals do
    not exist."""
    if cmd == "bash":
        note(f"makeTerm({node.name}): a lane has no terminals: at CLI(net), {node.name} COMMAND runs a program")
        return []
    file = f"{node.name}-{title.split()[0] if title else 'term'}.log".replace("/", "-")
    note(f"makeTerm({node.name}): a lane has no terminals; the output of {cmd!r} says is in {file}")
    with open(file, "ab") as said:
        return [node.popen(f"{cmd} </dev/null", shell=True, stdout=said, stderr=said)]


def makeTerms(nodes: Any, title: str = "Node", term: str = "xterm") -> list[Any]:
    return [process for node in nodes for process in makeTerm(node, title, term)]


def runX11(node: Node, cmd: str) -> tuple[None, Any]:
    return None, makeTerm(node, cmd=cmd)


def tunnelX11(node: Node, display: str | None = None) -> tuple[str, None]:
    """Return no display."""
    note(f"tunnelX11({node.name}): a lane has no display")
    return "", None


def cleanUpScreens() -> None:
    """No effect: there are no terminals."""


def cleanup() -> None:
    """No effect: a lane leaves nothing behind."""


class Cleanup:
    """Cleanup as a class."""

    @classmethod
    def cleanup(cls) -> None:
        """No effect, as for the function."""

    cleanup_wifi = cleanup


def pathCheck(*names: str, **_: Any) -> None:
    """Raises Misuse for a missing program."""
    if missing := [name for name in names if not shutil.which(name)]:
        raise Misuse(f"there is no program {missing[0]} on this machine: install it")
