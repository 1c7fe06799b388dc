# SPDX-License-Identifier: BSD-3-Clause
"""Functions that scripts import from `mininet.util`, and those that they call around a network: terminals, which a lane
lacks; cleanup, which a lane does not need; and checks for programs."""

from __future__ import annotations

import math
import os
import re
import select
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from ipaddress import IPv4Address
from subprocess import PIPE, STDOUT, Popen, run
from typing import Any

from emulation.features.mininet.log import output
from emulation.features.mininet.node import Node
from emulation.features.mininet.refusals import note
from emulation.lane import programs
from emulation.lane.clock import wait_until
from emulation.lane.errors import Misuse


def quietRun(cmd: Any, shell: bool = False, **_: Any) -> str:
    """Run a program outside the nodes' namespaces, and return its output."""
    words = cmd if shell or not isinstance(cmd, str) else shlex.split(cmd)
    try:
        return run(words, shell=shell, stdout=PIPE, stderr=STDOUT, check=False).stdout.decode(errors="replace")
    except OSError as error:
        return f"{words[0] if words else ''}: {error.strerror}\n"


def errRun(*cmd: Any, shell: bool = False, **_: Any) -> tuple[str, str, int]:
    """Run a program as `quietRun` does; return its output, error output and exit status."""
    words = cmd[0] if len(cmd) == 1 else list(map(str, cmd))
    words = shlex.split(words) if isinstance(words, str) and not shell else words
    done = run(words, shell=shell, capture_output=True, check=False)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode


def custom(cls: Any, **params: Any) -> Any:
    """Return a class with some keywords fixed."""
    made = partial(cls, **params)
    made.__name__ = cls.__name__  # type: ignore[attr-defined]
    return made


def irange(start: int, end: int) -> range:
    """Return a range that includes its end."""
    return range(start, end + 1)


def waitListening(client: Any = None, server: Any = "127.0.0.1", port: int = 80, timeout: float | None = None) -> bool:
    """Connect to a TCP port, from a node or from outside them, until a server listens there. Return whether it does.
    As in Mininet the server sees a connection that sends nothing; some scripts read what it prints of that."""
    seconds, where = math.inf if timeout is None else timeout, server if isinstance(server, str) else server.IP()
    command = f"bash -c 'exec 3<>/dev/tcp/{where}/{port}' 2>/dev/null && echo listens"
    ask = client.cmd if client else partial(quietRun, shell=True)
    return bool(wait_until(lambda: "listens" in ask(command), seconds, every_s=0.5))


def pmonitor(popens: Mapping[Any, Popen[bytes]], timeoutms: float = 500, readline: bool = True,
             readmax: int = 1024) -> Iterator[tuple[Any, str]]:  # fmt: skip
    """Yield lines of output with the key of their program; (None, '') after a timeout without any."""
    poll, whose = select.poll(), {}
    for who, popen in popens.items():
        assert popen.stdout
        whose[popen.stdout.fileno()] = who, popen
        poll.register(popen.stdout, select.POLLIN | select.POLLHUP)
    while whose:
        ready = poll.poll(timeoutms)
        for descriptor, _ in ready:
            who, popen = whose[descriptor]
            assert popen.stdout
            said = popen.stdout.readline() if readline else popen.stdout.read1(readmax)  # type: ignore[attr-defined]
            if said:
                yield who, said.decode(errors="replace")
            else:
                poll.unregister(descriptor)
                del whose[descriptor]
        if not ready:
            yield None, ""


def dumpNodeConnections(nodes: Any) -> None:
    """Print the nodes' interfaces and their peers."""
    for node in nodes:
        output(node.name)
        for intf in node.intfList():
            output(f" {intf}:{intf.beyond()}")
        output("\n")


def dumpNetConnections(net: Any) -> None:
    dumpNodeConnections(net.controllers + net.switches + net.aps + net.hosts + net.stations)


def dumpNodes(nodes: Any) -> None:
    for node in nodes:
        output(f"{node!r}\n")


dumpPorts = dumpNodeConnections


def ipAdd(i: int, prefixLen: int = 8, ipBaseNum: int = 0x0A000000) -> str:
    """Return the i-th address of a network."""
    return ipStr(ipBaseNum + i)


def ipStr(ip: int) -> str:
    """Return the address 10.0.0.1 of its number."""
    return str(IPv4Address(ip))


def ipNum(w: int, x: int, y: int, z: int) -> int:
    return int.from_bytes((w, x, y, z), "big")


def ipParse(ip: str) -> int:
    """Return the number of an address; missing bytes are before the last one: 10.1 is 10.0.0.1."""
    *first, last = (int(part) for part in ip.split("."))
    return int.from_bytes((*first, *[0] * (3 - len(first)), last), "big")


def netParse(ipstr: str) -> tuple[int, int]:
    """Return the number and the length of a prefix, 10.0.0.0/8."""
    ip, _, length = ipstr.partition("/")
    return ipParse(ip), int(length or 0)


def macColonHex(mac: int) -> str:
    return mac.to_bytes(6, "big").hex(":")


def natural(text: Any) -> list[Any]:
    """Return a key by which h2 comes before h10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", str(text))]


def naturalSeq(t: Any) -> tuple[Any, ...]:
    return tuple(natural(each) for each in t)


def numCores() -> int:
    """Return how many processors the lane has."""
    return os.cpu_count() or 1


def splitArgs(argstr: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Split `name,arg,key=value` into name, arguments and keywords."""
    name, *rest = argstr.split(",")
    values = [part.partition("=") for part in rest]
    return (name, [number(key) for key, equals, _ in values if not equals],
            {key: number(value) for key, equals, value in values if equals})  # fmt: skip


def number(text: str) -> Any:
    """Convert to int or float if possible."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def buildTopo(topos: Mapping[str, Callable[..., Any]], topoStr: str) -> Any:
    """Return a topology by name and arguments: `linear,3`."""
    name, args, params = splitArgs(topoStr)
    return topos[name](*args, **params)


def ensureRoot() -> None:
    """No effect: a lane's programs are root of their kernel."""


def decode(data: Any) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else str(data)


VERSION = "2.3.0"  # of Mininet, whose names these are


def makeTerm(node: Node, title: str = "Node", term: str = "xterm", display: Any = None, cmd: str = "bash") -> list[Any]:
    """Run a program without its terminal; a file in the run folder has its output. Note that interactive terminals do
    not exist."""
    if cmd == "bash":
        note(f"makeTerm({node.name}): a lane has no terminals: at CLI(net), {node.name} COMMAND runs a program")
        return []
    file = f"{node.name}-{title.split()[0] if title else 'term'}.log".replace("/", "-")
    note(f"makeTerm({node.name}): a lane has no terminals; the output of {cmd!r} is in {file}")
    for message in programs.new_messages(programs.lacking(cmd)):
        note(f"{node.name}: {message}")
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


def plot(nodes: Any = (), links: Any = None, **said: Any) -> None:
    """Have the host make the film of these nodes' network, as `plotGraph` does."""
    for net in {id(node.net): node.net for node in nodes}.values():
        net.plotGraph(**said)


def cleanUpScreens() -> None:
    """No effect: there are no terminals."""


def cleanup() -> None:
    """No effect: a lane leaves nothing behind."""


class Cleanup:
    """Cleanup as a class."""

    cleanup = cleanup_wifi = staticmethod(cleanup)


def pathCheck(*names: str, **_: Any) -> None:
    """Raises Misuse for a missing program."""
    if missing := [name for name in names if not shutil.which(name)]:
        raise Misuse(f"there is no program {missing[0]} on this machine: install it")
