# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of scripts and prompts expect of a machine, and a plan's run does not need."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import site
import sys
import tempfile
import time

from emulation.lane import hostap, stand_ins, syscalls
from emulation.lane.node import LOOPBACK
from emulation.lane.rtnetlink import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# 2026-01-01, in seconds since 1970. A multiple of 1,024, so that beacons keep their times: hwsim derives them from it.
DATE_S = 1_767_226_368
CPUINFO = "/proc/cpuinfo"
IPV4 = "/proc/sys/net/ipv4"
TMP, OLD_TMP = "/tmp", "/run/tmp"
NEIGHBOURS = {"gc_thresh1": "1024", "gc_thresh2": "2048", "gc_thresh3": "4096"}  # Mininet's limits
AVAILABLE, ALLOWED = f"{IPV4}/tcp_available_congestion_control", f"{IPV4}/tcp_allowed_congestion_control"


def prepare(packages: Sequence[str], own_kernel: bool) -> None:
    """Set up the first namespace and the environment of programs. `packages` are folders of the user's packages."""
    with Route() as route:
        route.set_link(LOOPBACK, up=True)
    show_packages(packages)
    if own_kernel:
        prepare_kernel()
        stand_ins.provide()
    hostap.controlled = True


def prepare_kernel() -> None:
    """Set what is of the whole kernel: limits, the date, and /proc/cpuinfo."""
    for name, value in NEIGHBOURS.items():  # for all namespaces together
        set_global(f"{IPV4}/neigh/default/{name}", value)
    with open(AVAILABLE) as file:
        set_global(ALLOWED, file.read())  # by nodes, which are not the first namespace
    if time.time() < DATE_S:
        time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + DATE_S * 1_000_000_000)
    end_cpuinfo()


def set_global(path: str, value: str) -> None:
    """Write a variable that only the first namespace of a kernel has; without effect elsewhere."""
    with contextlib.suppress(FileNotFoundError), open(path, "r+") as file:
        file.write(value)


def end_cpuinfo() -> None:
    """Append an empty line to /proc/cpuinfo. ps and vmstat fail without it, and User-Mode Linux omits it."""
    with open(CPUINFO) as file:
        lines = file.read()
    if not lines.endswith("\n\n"):
        with open(f"/run/{os.path.basename(CPUINFO)}", "w") as file:
            file.write(f"{lines}\n")
        syscalls.mount("", CPUINFO, file.name, syscalls.MS_BIND)


def make_tmp_writable() -> None:
    """Mount an empty /tmp, in which links lead to what was there: hostapd_cli and wpa_cli have their sockets in it.
    Without effect where it is writable. Raises OSError."""
    if os.access(TMP, os.W_OK):
        return
    os.makedirs(OLD_TMP)
    syscalls.mount("", OLD_TMP, TMP, syscalls.MS_BIND | syscalls.MS_REC)
    syscalls.mount("tmpfs", TMP)
    for name in os.listdir(OLD_TMP):
        os.symlink(f"{OLD_TMP}/{name}", f"{TMP}/{name}")


def make_folder(place: str) -> None:
    """Make a folder, also where the machine's file system is read-only. There, a tmpfs covers the nearest folder that
    exists, and shows the same entries. Raises OSError."""
    try:
        os.makedirs(place, exist_ok=True)
        return
    except OSError as error:
        parent = place
        while not os.path.isdir(parent):
            parent = os.path.dirname(parent)
        if error.errno != errno.EROFS or parent == "/":
            raise
    cover = tempfile.mkdtemp(dir="/run")
    syscalls.mount("tmpfs", cover)
    for entry in os.scandir(parent):
        shown = f"{cover}/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), shown)
            continue
        if entry.is_dir():
            os.mkdir(shown)
        else:
            os.mknod(shown)
        syscalls.mount("", shown, entry.path, syscalls.MS_BIND | syscalls.MS_REC)
    syscalls.mount("", parent, cover, syscalls.MS_BIND | syscalls.MS_REC)
    os.makedirs(place)


def show_packages(packages: Sequence[str]) -> None:
    """Let `python3` in a node find the user's packages, and those of the environment, such as Scapy, if it is the
    Python of that environment."""
    program = shutil.which("python3")
    for folder in packages:  # of a virtual environment: also its programs, unless the machine has them
        if os.path.isdir(programs := os.path.normpath(f"{folder}/../../../bin")):
            os.environ["PATH"] += f":{programs}"
    same = bool(program) and os.path.realpath(str(program)) == os.path.realpath(sys.executable)
    if folders := [*packages, *(site.getsitepackages() if same else ())]:
        os.environ["PYTHONPATH"] = os.pathsep.join(folders)
