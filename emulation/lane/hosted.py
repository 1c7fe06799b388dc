# SPDX-License-Identifier: BSD-3-Clause
"""The lane `host`, on this machine's own kernel: a first process in namespaces of its own.

The namespaces hold all that a run makes, and disappear with it. The PID namespace ends with its first process. The
mount namespace also holds the names of nodes. Radios are made in the network namespace, so other networks of this
machine, and their managers, do not see them.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from emulation.lane import first_process, guest, outside, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEW_PROCESSES = 0x20000000  # CLONE_NEWPID
PRIVATE = 1 << 18 | syscalls.MS_REC


def main() -> None:
    """Run as the parent of the first process, and end with it."""
    boot_file, _, terminal, reports, trunk = sys.argv[1:]
    with open(boot_file) as file:
        boot = json.load(file)
    syscalls.unshare(NEW_PROCESSES)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        syscalls.die_with_parent(signal.SIGKILL)
        run_first_process(boot, terminal, f"/proc/self/fd/{reports}", int(trunk))
        os._exit(0)
    assert parent == os.getpid()
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


def run_first_process(boot: dict[str, Any], terminal: str, reports: str, trunk: int) -> None:
    syscalls.unshare(syscalls.CLONE_NEWNS | syscalls.CLONE_NEWNET)
    syscalls.mount("", "/", flags=PRIVATE)
    mount_folders(boot)
    os.environ.update(boot["environment"])
    os.set_inheritable(trunk, False)
    guest.console, guest.own_kernel, outside.descriptor = terminal, False, trunk
    first_process.serve(boot, reports)


def mount_folders(boot: dict[str, Any]) -> None:
    """Mount what programs expect, and what boot.json names. The sources are opened first, as they may be below /run."""
    places = {guest.CHECKOUT: boot["checkout"], guest.RUN: boot["folder"]}
    places |= {f"{guest.MODULES}/{name}": folder for name, (folder, _) in boot["modules"].items()}
    places |= {f"{guest.PLUGINS}/{number}": folder for number, folder in enumerate(boot["plugins"])}
    if "copy" in boot:
        places[guest.COPY] = boot["copy"]
    opened = {place: os.open(source, os.O_PATH) for place, source in places.items()}
    syscalls.mount("proc", "/proc")
    syscalls.mount("sysfs", "/sys")
    syscalls.mount("debugfs", "/sys/kernel/debug")
    syscalls.mount("tmpfs", "/run")
    for place, source in opened.items():
        os.makedirs(place)
        syscalls.mount("", place, f"/proc/self/fd/{source}", syscalls.MS_BIND)
        os.close(source)
    sys.path_importer_cache.clear()  # the files at these paths have changed
