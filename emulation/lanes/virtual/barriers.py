# SPDX-License-Identifier: BSD-3-Clause
"""Barriers that a process can put around itself, by system calls that Python 3.11 has no function for.

Each function raises OSError if this machine does not grant it. None needs a privilege that an ordinary user lacks.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Iterator

from emulation.lane import syscalls
from emulation.lane.syscalls import check, libc

NOBODY = 65534  # user and group

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MS_PRIVATE = 0x1, 0x2, 0x4, 1 << 18

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # Landlock
VERSION, PATH_BENEATH = 1, 1
TRUNCATION = 3  # first version with it
WRITE_FILE, MAKE_CHAR, MAKE_BLOCK, REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in (1, 6, 11, 13, 14, 15))
CHANGES = WRITE_FILE | 0b1_1111_1111_0000  # the rights to write, remove and make: all that version 1 has
ALL_TCP, ALL_SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
X86_64, X32 = 0xC000003E, 0x40000000
ALLOW, DENY = 0x7FFF0000, 0x00050000 | 1  # EPERM
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in seccomp_data
SET_ID = stat.S_ISUID | stat.S_ISGID
MODES = {2: 2, 85: 1, 90: 1, 91: 1, 133: 1, 257: 3, 259: 2, 268: 2, 452: 2}  # open, creat, …: call to mode's argument
OPAQUE = (425, 437)  # io_uring_setup, openat2: their arguments are in memory, not in registers


def mount_read_only(writable: Iterable[str], devices: Iterable[str] = (), alone: bool = True) -> None:
    """Enter a mount namespace in which only these folders are writable, and only these devices exist.

    A process without the right to do so first enters a user namespace. Its only user has the same number there, or is
    nobody if that is 0. So no capability is left when the next program is executed. With `alone` false there is no user
    namespace, because a process that will change its user needs that user, too. Raises OSError.
    """
    try:
        check(libc.unshare(CLONE_NEWNS), "unshare")
    except PermissionError:
        if not alone:
            raise
        user, group = os.geteuid(), os.getegid()
        check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
        maps = {"uid_map": f"{user or NOBODY} {user} 1", "gid_map": f"{group or NOBODY} {group} 1"}
        for name, text in {"setgroups": "deny", **maps}.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    nothing = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
    set_mount("/", attributes=nothing, propagation=MS_PRIVATE, flags=AT_RECURSIVE)
    for allowed, path in [(MOUNT_ATTR_RDONLY, path) for path in writable] + [
        (MOUNT_ATTR_NODEV, path) for path in devices
    ]:
        syscalls.mount("", path, path, syscalls.MS_BIND)
        set_mount(path, without=allowed)


def set_mount(path: str, attributes: int = 0, without: int = 0, propagation: int = 0, flags: int = 0) -> None:
    wanted = struct.pack("=QQQQ", attributes, without, propagation, 0)
    check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), flags, wanted, len(wanted)), f"set mount {path}")


def become(user: int, groups: Iterable[int] = ()) -> None:
    """Become this user permanently, in the group of the same number and in `groups`."""
    os.setgroups(list(groups))
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def give_up_privileges() -> None:
    """Give up privileges: no program that this process executes gets more rights than it has."""
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def landlock_version() -> int:
    """Return the kernel's version of Landlock; 0 if there is none."""
    return max(0, int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)))


def landlock(writable: Iterable[int], devices: Iterable[int] = ()) -> None:
    """Allow changes only in these open folders, and writing only to these devices. Also forbid TCP, and signals to
    processes outside, if the kernel supports that."""
    version = landlock_version()
    changes = CHANGES | sum(right for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)) if version >= since)
    in_folders = changes & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = struct.pack("=QQQ", changes, ALL_TCP, ALL_SCOPES)[:size]
    ruleset = check(libc.syscall(CREATE_RULESET, rules, ctypes.c_size_t(size), 0), "landlock")
    try:
        for right, descriptor in [(in_folders, each) for each in writable] + [
            (WRITE_FILE | changes & IOCTL_DEV, each) for each in devices
        ]:
            rule = struct.pack("=Qi", right, descriptor)
            check(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, rule, 0), "landlock")
        check(libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


def refuse_set_id() -> None:
    """Forbid set-user-ID and set-group-ID bits on files, by seccomp."""
    program = b"".join(set_id_filter())
    kept = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, described, 0, 0), "seccomp")


def set_id_filter() -> Iterator[bytes]:
    """Yield the filter's instructions. `then` and `otherwise` are the jumps if the condition is true, and if not."""

    def instruction(code: int, operand: int, then: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("=HBBI", code, then, otherwise, operand)

    yield instruction(LOAD, ARCHITECTURE)
    yield instruction(EQUAL, X86_64, then=1)
    yield instruction(RETURN, DENY)
    yield instruction(LOAD, NUMBER)
    yield instruction(AT_LEAST, X32, otherwise=1)
    yield instruction(RETURN, DENY)
    for call in OPAQUE:
        yield instruction(EQUAL, call, otherwise=1)
        yield instruction(RETURN, DENY)
    for call, argument in MODES.items():
        yield instruction(EQUAL, call, otherwise=4)
        yield instruction(LOAD, ARGUMENTS + 8 * argument)
        yield instruction(ANY_BIT, SET_ID, otherwise=1)
        yield instruction(RETURN, DENY)
        yield instruction(RETURN, ALLOW)
    yield instruction(RETURN, ALLOW)
