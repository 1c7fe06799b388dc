# SPDX-License-Identifier: BSD-3-Clause
"""System packages: what must be on the machine, by what needs it, and how to get it.

A need is a program or a file, not a package: where it is there, nobody asks how it came. Packages have
Debian 12's names here, and `distribution` what other distributions call them.
"""

from __future__ import annotations

import enum
import glob
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from emulation.lane import programs
from emulation.setup import distribution
from emulation.setup.errors import SetupError, say

KERNEL_SOURCE = "/usr/src/linux-source-6.12.tar.*"
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not in the path of an ordinary user of Debian


class Group(enum.Enum):
    """What needs packages: the Python environment, a lab on a distribution's kernel, one on this machine's, people
    at the prompt, building modules for a kernel that is there, building that, too, checking modules, looking at one in
    a debugger, the tests, the benchmarks."""

    ENVIRONMENT = "environment"
    VM = "vm"
    HOST = "host"
    PROMPT = "prompt"
    MODULE = "module"
    BUILD = "build"
    CHECK = "check"
    DEBUG = "debug"
    TEST = "test"
    BENCH = "bench"


@dataclass(frozen=True)
class Need:
    """A package, and how to tell that what we want of it is there."""

    package: str
    present: Callable[[], bool]


def program(name: str, package: str = "") -> Need:
    """A need for a program; its package is the one that is known to have it, unless said otherwise."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))
    return Need(package or programs.package(name), lambda: shutil.which(name, path=path) is not None)


def files(pattern: str, package: str) -> Need:
    """A need for at least one file that matches a pattern."""
    return Need(package, lambda: bool(glob.glob(pattern, recursive=True)))


# What some networks call, and people and their scripts. A run that calls one is refused where it is not there.
REGDB = files("/lib/firmware/regulatory.db", "wireless-regdb")  # for `iw reg set`; networks bring rules of their own
BY_HAND = tuple(map(program, ("iperf3", "babeld", "hostapd", "wpa_supplicant", "ovs-vswitchd", "iw", "ip", "ping")))

HWSIM = "/lib/modules/*/kernel/drivers/net/wireless/**/mac80211_hwsim.ko*"
RUNNING = f"/lib/modules/{os.uname().release}"
OF_STOCK = (program("modprobe", "kmod"), program("gcc"), program("make"), REGDB)
STOCK = (
    program("qemu-system-x86_64", "qemu-system-x86"),
    program("zstd"),  # with which Linux 6.12's image is packed
    files(HWSIM, "linux-image-amd64"),
    files("/lib/modules/*/build/Makefile", "linux-headers-amd64"),
    *OF_STOCK,
)  # a lane of the distribution's kernel

BUILDS = (program("gcc"), program("make"), files("/usr/include/stdio.h", "libc6-dev"))

NEEDS: dict[Group, tuple[Need, ...]] = {
    Group.ENVIRONMENT: (Need("python3-venv", lambda: importlib.util.find_spec("ensurepip") is not None),),
    Group.VM: STOCK,
    Group.HOST: (*OF_STOCK, files(f"{RUNNING}/build/Makefile", f"linux-headers-{os.uname().release}")),
    Group.PROMPT: (*BY_HAND, REGDB),
    Group.MODULE: BUILDS,
    Group.BUILD: (
        *BUILDS,
        program("flex"),
        program("bison"),
        program("bc"),
        program("patch"),
        program("xz", "xz-utils"),
        Need("linux-source-6.12", lambda: bool(os.environ.get("DCFLAB_LINUX_SOURCE") or glob.glob(KERNEL_SOURCE))),
    ),
    Group.CHECK: (program("sparse"), program("perl")),
    Group.DEBUG: (program("gdb"), program("objcopy", "binutils")),
    Group.TEST: (
        *BY_HAND,
        program("gcc"),
        program("gdb"),
        program("perl"),
        files("/usr/lib/gcc/*/*/libasan.so", "gcc"),
        files("/usr/include/stdio.h", "libc6-dev"),
        program("tshark"),
        program("chromium"),  # plays films
        program("ns", "ns2"),  # the air's rules of ns-2 are held to it
        program("sparse"),
        *STOCK,
        program("busybox", "busybox-static"),
        program("cpio"),
        program("file"),  # virtme-ng asks it
        files("/usr/src/linux-headers-6.12*-amd64/Makefile", "linux-headers-6.12-amd64"),
    ),
    Group.BENCH: (
        program("ns", "ns2"),
        program("g++"),
        files("/usr/include/ns3*/**/wifi-module.h", "libns3-dev"),
    ),
}


def missing(*groups: Group) -> list[str]:
    """The packages that are not there, in order and each once, by what they are called here. What no package here has
    is left out, save what has to be got otherwise then: the kernel's source."""
    return lacking(need for group in groups for need in NEEDS[group])


def lacking(needs: Iterable[Need]) -> list[str]:
    """The same of these needs."""
    names = (distribution.name(need.package) for need in needs if not need.present())
    return list(dict.fromkeys(name for name in names if name))


def command(packages: Sequence[str]) -> str:
    """What a person types, as root, to get the packages; and how to get what is in none."""
    apt = [package for package in packages if package != distribution.NO_SOURCE]
    lines = [shlex.join(["apt-get", "install", "-y", "--no-install-recommends", *apt])] if apt else []
    return "\n  ".join([*lines, *([distribution.HOW] if len(apt) < len(packages) else [])])


def ensure(*groups: Group) -> None:
    """Install what is missing: at once if we are root, through sudo if somebody is there to be asked.

    Raises SetupError with the command that installs it otherwise.
    """
    obtain([need for group in groups for need in NEEDS[group]])


def obtain(needs: Sequence[Need], why: str = "some packages are not installed") -> None:
    """The same of these needs; `why` is what the error says."""
    if not (wanted := lacking(needs)):
        return
    if packages := [package for package in wanted if package != distribution.NO_SOURCE]:
        if shutil.which("apt-get") is None:
            raise SetupError(f"{why}; please install what Debian calls {', '.join(packages)}")
        if os.geteuid() == 0:
            install([], packages)
        elif shutil.which("sudo") and agreed(f"dcflab: install {', '.join(packages)} with sudo? [y/N] "):
            install(["sudo"], packages)
        else:
            raise SetupError(f"{why}. As root:\n  {command(wanted)}")
    if (left := lacking(needs)) == [distribution.NO_SOURCE]:
        raise SetupError(distribution.HOW)
    if left:
        raise SetupError(f"installed, but what was wanted of it is not there: {', '.join(left)}")


def agreed(question: str) -> bool:
    """Whether the person at the terminal says yes; no if nobody is there."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def install(become_root: list[str], packages: Sequence[str]) -> None:
    """Install packages with apt; its lists are fetched anew if it fails, as they may be old or not there at all."""
    say(f"installing {', '.join(packages)}")
    apt = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    arguments = ["install", "-y", "--no-install-recommends", *packages]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run([*apt, *arguments], **quiet).returncode == 0:  # type: ignore[call-overload]
        return
    subprocess.run([*apt, "update"], stdout=sys.stderr)
    if subprocess.run([*apt, *arguments], stdout=sys.stderr).returncode:
        raise SetupError(f"apt-get failed; what it said is above. It was asked for:\n  {command(packages)}")
