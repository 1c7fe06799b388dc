# SPDX-License-Identifier: BSD-3-Clause
"""What scripts do to the machine around a network: terminals, of which a lane has none; what has to be cleaned, which
is nothing; programs that must be there."""

from __future__ import annotations

import shutil
from typing import Any

from emulation.features.mininet.node import Node
from emulation.features.mininet.words import note
from emulation.lane.errors import Misuse


def makeTerm(node: Node, title: str = "Node", term: str = "xterm", display: Any = None, cmd: str = "bash") -> list[Any]:
    """A program that would run in a terminal runs without one: what it says is in a file of the run folder. A terminal
    for somebody to type in is nothing here, and that is said."""
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


def cleanUpScreens() -> None:
    """There are none."""


def cleanup() -> None:
    """A lane leaves nothing behind."""


class Cleanup:
    """The same, as a class has it."""

    @classmethod
    def cleanup(cls) -> None:
        """Nothing is left."""

    cleanup_wifi = cleanup


def pathCheck(*names: str, **_: Any) -> None:
    """Raises Misuse for a program that is not there."""
    if missing := [name for name in names if not shutil.which(name)]:
        raise Misuse(f"there is no program {missing[0]} on this machine: install it")
