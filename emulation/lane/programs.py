# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's programs that a network may run: where they are, also those that are root's; and those that a node
keeps running, without which it would be another network: their death ends the run."""

from __future__ import annotations

import errno
import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from traffic.loop import Loop

PACKAGES = {
    "wpa_supplicant": "wpasupplicant",
    "ovs-vswitchd": "openvswitch-switch",
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "ping": "iputils-ping",
    "ifconfig": "net-tools",
    "route": "net-tools",
    "arp": "net-tools",
    "nc": "netcat-openbsd",
}  # of Debian, where they are not called as the program is
# What a shell says of a command that it has not found.
NOT_FOUND = r"^\S*sh: (?:line )?(?:\d+: )?(\S+): (?:command )?not found"
NOT_THERE = 127  # its exit status then
TOLD: set[str] = set()  # of which it was said that they are not there
PATH = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


def package(program: str) -> str:
    """Debian's, that has a program."""
    return PACKAGES.get(program, program)


def there(program: str) -> str | None:
    """Where a program is, if it is there."""
    import shutil

    return shutil.which(program, path=PATH)


def find(program: str, of: str = "") -> str:
    """Where a program is. Raises OSError, with the package that it is of, if it is not there."""
    if not (found := there(program)):
        raise OSError(errno.ENOENT, lacking(program, of))
    return found


def lacking(program: str, of: str = "") -> str:
    """What to say of one that is not there."""
    return f"there is no {program} on this machine: install the package {of or package(program)}"


def not_found(said: str) -> Iterator[str]:
    """The same of those that a shell has not found, by what it said; of each once."""
    if "not found" in said:
        import re

        for program in re.findall(NOT_FOUND, said, re.MULTILINE):
            if program not in TOLD:
                TOLD.add(program)
                yield lacking(program)


def of_plan(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The programs that a plan's network calls, by themselves, each with what calls it; of applications they say."""
    if plan["routing"]["kind"] == "babel":
        yield "babeld", "routing babel"
    if any((node["bridge"] or {}).get("kind") == "ovs" for node in plan["nodes"]):
        yield "ovs-vswitchd", "bridges of Open vSwitch"
    interfaces = [interface for node in plan["nodes"] for interface in node["interfaces"]]
    for link in plan["links"]:
        if link["kind"] not in ("infrastructure", "wlan"):
            continue
        of = [{**link, **interface.get("wlan", {})} for interface in interfaces if interface["link"] == link["name"]]
        yield "hostapd", "access points"
        if any(not each.get("master") and each.get("client") == "wpa_supplicant" for each in of):
            yield "wpa_supplicant", "clients that look for their access point, or need a passphrase"


def ended(where: str, program: str, status: int, said: str) -> OSError:
    """What to raise when one has ended that was to go on."""
    how = f"killed by signal {-status}" if status < 0 else f"with status {status}"
    return OSError(errno.ECHILD, f"{where}: {program} has ended, {how}. Its last words: {said or 'nothing'}")


def last_line(log: str) -> str:
    """Of a file that a program writes to."""
    with open(log, errors="replace") as file:
        return ["", *file.read().splitlines()][-1]


class Daemon:
    """A program that a node keeps running; `said` are the last words of one that has ended."""

    def __init__(self, where: str, program: str, process: subprocess.Popen[bytes], said: Callable[[], str]) -> None:
        self.where, self.program, self.process, self.said = where, program, process, said
        self.descriptor = -1

    def check(self) -> None:
        """Raises OSError if it has ended."""
        if self.process.poll() is not None:
            raise ended(self.where, self.program, self.process.returncode, self.said())

    def watch(self, loop: Loop) -> None:
        """Its end ends the run: OSError comes out of the loop."""
        self.check()
        self.descriptor = os.pidfd_open(self.process.pid)
        loop.watch(self.descriptor, select.EPOLLIN, self.check)

    def unwatch(self, loop: Loop) -> None:
        if self.descriptor >= 0:
            loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
