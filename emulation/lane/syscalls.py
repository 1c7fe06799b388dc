# SPDX-License-Identifier: BSD-3-Clause
"""System calls that a lane needs and Python 3.11 has no function for. Each raises OSError with what was attempted."""

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
    """Return `result` unless it is negative. Raises OSError otherwise."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def mount(kind: str, target: str, source: str = "none", flags: int = 0, data: str = "") -> None:
    """Mount a file system of this kind (empty: a bind mount)."""
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode(), flags, os.fsencode(data) or None)
    check(libc.mount(*arguments), f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    check(libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def unshare(what: int) -> None:
    """Give this thread these namespaces of its own."""
    check(libc.unshare(what), "unshare")


def new_network_namespace() -> None:
    """Move this thread into a new network namespace."""
    unshare(CLONE_NEWNET)


def own_mounts() -> None:
    """Make further mounts of this process visible to it and its children only."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("", "/", flags=MS_REC | MS_SLAVE)


def show_devices_of_namespace() -> None:
    """Mount a /sys with the devices of this network namespace, for this process and its children only."""
    own_mounts()
    mount("sysfs", "/sys")
    mount("debugfs", "/sys/kernel/debug")


def enter_network_namespace(descriptor: int) -> None:
    """Move this thread into the network namespace of an open file."""
    check(libc.setns(descriptor, CLONE_NEWNET), "setns")


def load_module(path: str, parameters: str = "") -> None:
    """Load a kernel module, unless it is loaded. Raises OSError; EEXIST if the module registers something that the
    kernel already has."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        check(libc.syscall(FINIT_MODULE, descriptor, parameters.encode(), 0), f"load {path}")
    except FileExistsError:
        name = os.path.basename(path).removesuffix(".ko").replace("-", "_")
        if not os.path.exists(f"/sys/module/{name}/initstate"):  # a built-in module has no such file
            raise
    finally:
        os.close(descriptor)


def unload_module(name: str) -> None:
    """Unload a kernel module. Raises OSError; EWOULDBLOCK while it is in use."""
    check(libc.syscall(DELETE_MODULE, name.encode(), os.O_NONBLOCK), f"unload {name}")


def is_readable(descriptor: int) -> bool:
    """Return whether data can be read; in virtual time, this takes no time. A failing system call takes a microsecond
    (arch/um/kernel/skas/syscall.c). `select` reads the clock, which may also take time."""
    asked = ctypes.create_string_buffer(POLLFD.pack(descriptor, POLLIN, 0), POLLFD.size)
    return check(libc.poll(asked, 1, 0), "poll") > 0


def allow_open_files(most: int) -> None:
    """Raise the limit of open files of this process and its children, as far as its hard limit allows."""
    limit = RLIMIT.pack(most, most)
    if libc.prlimit(0, RLIMIT_NOFILE, limit, None):
        now = ctypes.create_string_buffer(RLIMIT.size)
        check(libc.prlimit(0, RLIMIT_NOFILE, None, now), "limit of open files")
        allowed = RLIMIT.unpack(now)[1]
        check(libc.prlimit(0, RLIMIT_NOFILE, RLIMIT.pack(allowed, allowed), None), f"allow {allowed} open files")


def power_off() -> None:
    libc.reboot(POWER_OFF)


def die_with_parent(signal: int) -> None:
    """Send this signal to this process when the thread that started it ends, in whatever way."""
    check(libc.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def keep_addresses_fixed() -> None:
    """Switch off address-space randomisation for the next program that this process executes."""
    check(libc.personality(ADDR_NO_RANDOMIZE), "personality")
