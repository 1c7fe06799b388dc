# SPDX-License-Identifier: BSD-3-Clause
"""Functions that scripts import from `mininet.util`."""

from __future__ import annotations

import select
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from subprocess import PIPE, STDOUT, Popen, run
from typing import Any

from emulation.features.mininet.log import output


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
    """Wait until a node listens on a TCP port. Return whether it does."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while deadline is None or time.monotonic() < deadline:
        if f":{port} " in server.cmd("ss -ltnH"):
            return True
        time.sleep(0.1)
    return False


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
    number = ipBaseNum + i
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def macColonHex(mac: int) -> str:
    return mac.to_bytes(6, "big").hex(":")


def splitArgs(argstr: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Split `name,arg,key=value` into name, arguments and keywords."""
    name, *rest = argstr.split(",")
    values = [part.partition("=") for part in rest]
    return (name, [number(key) for key, equals, _ in values if not equals],
            {key: number(value) for key, equals, value in values if equals})  # fmt: skip


def number(word: str) -> Any:
    """Convert to int or float if possible."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def buildTopo(topos: Mapping[str, Callable[..., Any]], topoStr: str) -> Any:
    """Return a topology by name and arguments: `linear,3`."""
    name, args, params = splitArgs(topoStr)
    return topos[name](*args, **params)


def ensureRoot() -> None:
    """No effect: a lane's programs are root of their kernel."""


def decode(data: Any) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else str(data)
