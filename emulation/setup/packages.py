# SPDX-License-Identifier: BSD-3-Clause
"""System packages: what must be on the machine, by what needs it, and how to get it. Features add groups of their own
(`of_setup`).

A need is a program or a file, not a package: how it was installed does not matter. Packages have Debian 12's names
here; `distribution` has those of other distributions.
"""

import contextlib
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


@dataclass(frozen=True)
class Need:
    """A package, and how to tell that the needed part of it is present."""

    package: str
    present: Callable[[], bool]


class Group(enum.Enum):
    """What needs packages: the Python environment, a lab on a distribution's kernel, a lab on this machine's kernel,
    people at the prompt, building modules for an existing kernel, building the kernel, the tests, the benchmarks."""

    ENVIRONMENT = "environment"
    VM = "vm"
    HOST = "host"
    PROMPT = "prompt"
    MODULE = "module"
    BUILD = "build"
    TEST = "test"
    BENCH = "bench"

    @property
    def needs(self) -> tuple[Need, ...]:
        return NEEDS[self]


@dataclass(frozen=True)
class OfFeature:
    """What of a feature needs packages: its name in `setup`, the needs, and what to `build` with them. Packages of
    dcflab suggest what is `suggested`."""

    value: str
    needs: tuple[Need, ...]
    build: Callable[[], object] | None = None
    suggested: bool = False


AnyGroup = Group | OfFeature


def program(name: str, package: str = "") -> Need:
    """Return the need for a program; its package is by default the one known to contain it."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))
    return Need(package or programs.package(name), lambda: shutil.which(name, path=path) is not None)


def files(pattern: str, package: str) -> Need:
    """Return the need for at least one file that matches a pattern."""
    return Need(package, lambda: bool(glob.glob(pattern, recursive=True)))


# Programs that some networks call, and people and their scripts. A run that calls a missing one is refused.
REGDB = files("/lib/firmware/regulatory.db", "wireless-regdb")  # for `iw reg set`; networks bring their own rules
OPENFLOW = ("ovs-vswitchd", "ovs-testcontroller")
BY_HAND = tuple(
    map(program, ("iperf3", "babeld", "hostapd", "wpa_supplicant", *OPENFLOW, "iw", "iwconfig", "ip", "ping"))
)

# Set-up as root has them.
SMALL = {"iperf3", "hostapd", "wpasupplicant", "iw", "iproute2", "iputils-ping", "wireless-regdb", "wireless-tools"}

HWSIM = "/lib/modules/*/kernel/drivers/net/wireless/**/mac80211_hwsim.ko*"
RUNNING = f"/lib/modules/{os.uname().release}"
OF_STOCK = (program("modprobe", "kmod"), program("gcc"), program("make"), REGDB)
STOCK = (
    program("qemu-system-x86_64", "qemu-system-x86"),
    program("zstd"),  # Linux 6.12's image is packed with it
    files(HWSIM, "linux-image-amd64"),
    files("/lib/modules/*/build/Makefile", "linux-headers-amd64"),
    *OF_STOCK,
)  # a lane with the distribution's kernel

BUILDS = (program("gcc"), program("make"), files("/usr/include/stdio.h", "libc6-dev"))
BUILDS_KERNEL = (
    *(*BUILDS, *map(program, ("flex", "bison", "bc", "patch")), program("xz", "xz-utils")),
    Need("linux-source-6.12", lambda: bool(os.environ.get("DCFLAB_LINUX_SOURCE") or glob.glob(KERNEL_SOURCE))),
)

NEEDS: dict[Group, tuple[Need, ...]] = {
    Group.ENVIRONMENT: (Need("python3-venv", lambda: importlib.util.find_spec("ensurepip") is not None),),
    Group.VM: STOCK,
    Group.HOST: (*OF_STOCK, files(f"{RUNNING}/build/Makefile", f"linux-headers-{os.uname().release}")),
    Group.PROMPT: (*BY_HAND, REGDB),
    Group.MODULE: BUILDS,
    Group.BUILD: BUILDS_KERNEL,
    Group.TEST: (
        *(*BY_HAND, *map(program, ("gcc", "gdb", "perl"))),
        files("/usr/lib/gcc/*/*/libasan.so", "gcc"),
        files("/usr/include/stdio.h", "libc6-dev"),
        program("tshark"),
        program("chromium"),  # plays films
        program("osken-manager"),  # a controller
        program("ns", "ns2"),  # the air's rules of ns-2 are tested against it
        program("sparse"),
        *STOCK,
        program("busybox", "busybox-static"),
        program("cpio"),
        program("file"),  # virtme-ng calls it
        files("/usr/src/linux-headers-6.12*-amd64/Makefile", "linux-headers-6.12-amd64"),
    ),
    Group.BENCH: (program("ns", "ns2"), program("g++"), files("/usr/include/ns3*/**/wifi-module.h", "libns3-dev")),
}


def missing(*groups: AnyGroup) -> list[str]:
    """Return the missing packages, in order, once each, by their names here. What no package here contains is omitted,
    except the kernel's source, which can be obtained otherwise."""
    return missing_of(need for group in groups for need in group.needs)


def missing_of(needs: Iterable[Need]) -> list[str]:
    names = (distribution.name(need.package) for need in needs if not need.present())
    return list(dict.fromkeys(name for name in names if name))


def command(packages: Sequence[str]) -> str:
    """Return the command that installs the packages, for root; and how to get what is in none."""
    apt = [package for package in packages if package != distribution.NO_SOURCE]
    lines = [shlex.join(["apt-get", "install", "-y", "--no-install-recommends", *apt])] if apt else []
    return "\n  ".join([*lines, *([distribution.HOW] if len(apt) < len(packages) else [])])


def ensure(*groups: AnyGroup) -> None:
    """Install what is missing: directly as root, or with sudo if a person confirms it. Raises SetupError with the
    command that installs it otherwise."""
    obtain([need for group in groups for need in group.needs])


def ensure_small() -> None:
    """As root, install the small packages that some networks and scripts call; a run that needs none does without."""
    small = [need for need in NEEDS[Group.PROMPT] if need.package in SMALL]
    if os.geteuid() == 0 and shutil.which("apt-get") and (wanted := missing_of(small)):
        with contextlib.suppress(SetupError):  # what is missing is said by the caller
            install([], wanted)


def obtain(needs: Sequence[Need], why: str = "some packages are not installed") -> None:
    """Install what these needs lack, as `ensure` does; `why` begins the error message."""
    if not (wanted := missing_of(needs)):
        return
    if packages := [package for package in wanted if package != distribution.NO_SOURCE]:
        if shutil.which("apt-get") is None:
            raise SetupError(f"{why}; please install the packages that Debian calls {', '.join(packages)}")
        if os.geteuid() == 0:
            install([], packages)
        elif shutil.which("sudo") and confirmed(f"dcflab: install {', '.join(packages)} with sudo? [y/N] "):
            install(["sudo"], packages)
        else:
            raise SetupError(f"{why}. As root:\n  {command(wanted)}")
    if (left := missing_of(needs)) == [distribution.NO_SOURCE]:
        raise SetupError(distribution.HOW)
    if left:
        raise SetupError(f"the packages are installed, but this is still missing: {', '.join(left)}")


def confirmed(question: str) -> bool:
    """Return whether the person at the terminal answers yes; False if there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def install(become_root: list[str], packages: Sequence[str]) -> None:
    """Install packages with apt. If that fails, update its lists and try again: they may be old or missing."""
    say(f"installing {', '.join(packages)}")
    apt = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    arguments = ["install", "-y", "--no-install-recommends", *packages]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run([*apt, *arguments], **quiet).returncode == 0:  # type: ignore[call-overload]
        return
    subprocess.run([*apt, "update"], stdout=sys.stderr)
    if subprocess.run([*apt, *arguments], stdout=sys.stderr).returncode:
        raise SetupError(f"apt-get failed; its output is above. The command was:\n  {command(packages)}")
