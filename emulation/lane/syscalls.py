# SPDX-License-Identifier: BSD-3-Clause
"""The few system calls that a lane needs and Python 3.11 has no function for.

Each raises OSError with what was attempted.
"""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x20000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE, MNT_DETACH = 0x1, 0x20, 0x1000, 0x4000, 0x80000, 0x2
POWER_OFF = 0x4321FEDC
FINIT_MODULE, DELETE_MODULE = 313, 176  # x86-64
PR_SET_PDEATHSIG = 1
POLLFD, POLLIN = struct.Struct("=ihh"), 1  # poll(2)
ADDR_NO_RANDOMIZE = 0x0040000
RLIMIT_NOFILE, RLIMIT = 7, struct.Struct("=QQ")  # prlimit(2): soft and hard

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    """`result` if it is no error. Raises OSError."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def mount(kind: str, target: str, source: str = "none", flags: int = 0, data: str = "") -> None:
    """Mount a file system of this kind (empty for a bind mount)."""
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode(), flags, os.fsencode(data) or None)
    check(libc.mount(*arguments), f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    check(libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def unshare(what: int) -> None:
    """Have these namespaces for this thread alone."""
    check(libc.unshare(what), "unshare")


def new_network_namespace() -> None:
    """Put this thread into a network namespace of its own."""
    unshare(CLONE_NEWNET)


def show_devices_of_namespace() -> None:
    """Let this process, and none but its children, see in /sys what its network namespace has: programs look there."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("", "/", flags=MS_REC | MS_SLAVE)
    mount("sysfs", "/sys")
    mount("debugfs", "/sys/kernel/debug")


def enter_network_namespace(descriptor: int) -> None:
    """Put this thread into the network namespace of an open file."""
    check(libc.setns(descriptor, CLONE_NEWNET), "setns")


def load_module(path: str, parameters: str = "") -> None:
    """Load a kernel module; one that is already there is left alone. Raises OSError: EEXIST if it wants to register
    what the kernel has already."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        check(libc.syscall(FINIT_MODULE, descriptor, parameters.encode(), 0), f"load {path}")
    except FileExistsError:
        name = os.path.basename(path).removesuffix(".ko").replace("-", "_")
        if not os.path.exists(f"/sys/module/{name}/initstate"):  # which those that are built in have not
            raise
    finally:
        os.close(descriptor)


def unload_module(name: str) -> None:
    """Unload a kernel module. Raises OSError: EWOULDBLOCK while it is in use."""
    check(libc.syscall(DELETE_MODULE, name.encode(), os.O_NONBLOCK), f"unload {name}")


def is_readable(descriptor: int) -> bool:
    """Whether something can be read. In virtual time a system call that fails takes a microsecond
    (arch/um/kernel/skas/syscall.c), and `select` asks for the time, which may take some, too: this takes none."""
    asked = ctypes.create_string_buffer(POLLFD.pack(descriptor, POLLIN, 0), POLLFD.size)
    return check(libc.poll(asked, 1, 0), "poll") > 0


def allow_open_files(most: int) -> None:
    """Let this process, and those that it starts, have so many files open; or as many as it may."""
    limit = RLIMIT.pack(most, most)
    if libc.prlimit(0, RLIMIT_NOFILE, limit, None):
        now = ctypes.create_string_buffer(RLIMIT.size)
        check(libc.prlimit(0, RLIMIT_NOFILE, None, now), "limit of open files")
        allowed = RLIMIT.unpack(now)[1]
        check(libc.prlimit(0, RLIMIT_NOFILE, RLIMIT.pack(allowed, allowed), None), f"allow {allowed} open files")


def power_off() -> None:
    libc.reboot(POWER_OFF)


def die_with_parent(signal: int) -> None:
    """Have this signal sent to this process when the thread that started it ends, however it ends."""
    check(libc.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def keep_addresses_fixed() -> None:
    """Switch address-space randomisation off for the program that this process executes next."""
    check(libc.personality(ADDR_NO_RANDOMIZE), "personality")
