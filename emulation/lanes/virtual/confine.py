# SPDX-License-Identifier: BSD-3-Clause
"""The cell of a lane's kernel: what its process can change and read on this machine.

Root in a lane has the rights of the process that is the lane's kernel: hostfs shows any folder of the host, and a
module can make the host's system calls. So that process is confined when it starts, by every `Barrier` that this
machine grants. It can change only the run folder and its own scratch folder. If root starts it, it becomes nobody, and
can read no more than an ordinary user; the run folder then belongs to nobody. It gets open descriptors of what nobody
could not reach, such as a checkout in root's home.

Before the host writes to the run folder again, it removes what could lead elsewhere (`ownership.take_back`).
"""

import contextlib
import enum
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from emulation.lanes.virtual import barriers
from emulation.lanes.virtual.barriers import NOBODY
from emulation.lanes.virtual.ownership import lent_to_lane


class Barrier(enum.StrEnum):
    """A barrier around a process."""

    NAMESPACE = "a mount namespace, read-only except for the run folder"
    LANDLOCK = "Landlock"
    OLD_LANDLOCK = "Landlock, of a kernel that lets it truncate files"
    SECCOMP = "seccomp"
    NOBODY = "as nobody"


DEVICES = ("/dev/null",)  # the kernel writes to them
PREVENT_CHANGES = {Barrier.NAMESPACE, Barrier.LANDLOCK}  # each of them prevents changes outside


def caution(around: Collection[str]) -> str:
    """Return a warning about running scripts of others; empty if all is well."""
    said = []
    if not PREVENT_CHANGES.intersection(around):
        who = "nobody" if Barrier.NOBODY in around else "you"
        said.append(
            f"neither a mount namespace nor Landlock is to be had here, so a script can write wherever {who} can"
        )
    if is_root() and Barrier.NOBODY not in around:
        said.append("a lane of root's cannot be nobody's here, so a script can read what root can")
    return "; ".join(said)


def is_root() -> bool:
    """Return whether this is the real root, not the root of a user namespace of one's own."""
    users = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    return os.geteuid() == 0 and users > 1


@dataclass(frozen=True)
class Cell:
    """What the kernel's process gets.

    `handed` has files and folders, and their open descriptors. `writable` are the folders among them that it can
    change. `user` is whom it becomes (None: no change).
    """

    passed: Mapping[str, int]
    writable: Sequence[str] = ()
    user: int | None = None
    devices: Sequence[str] = DEVICES

    def place(self, path: Path | str) -> str:
        """Return a path by which the process finds what it was handed."""
        return f"/proc/self/fd/{self.passed[str(path)]}"

    def folder(self, path: Path | str) -> str:
        """Return such a path of a folder for hostfs, which would otherwise take it for a symbolic link."""
        return self.place(path) + "/."

    def descriptors(self, paths: Sequence[str]) -> list[int]:
        return [self.passed[path] for path in paths]

    def enter(self) -> list[Barrier]:
        """Enter the cell, in the child. Return the barriers in force. Raises OSError if something is missing."""
        mount = partial(barriers.mount_read_only, self.writable, self.devices, alone=self.user is None)
        around = try_barrier(Barrier.NAMESPACE, mount)
        for path, descriptor in self.passed.items():  # open again, for this namespace
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            os.dup2(opened, descriptor)
            os.close(opened)
        if self.user is not None:
            groups = {os.stat(device).st_gid for device in self.devices} - {0}
            around += try_barrier(Barrier.NOBODY, partial(barriers.become, self.user, groups))
        barriers.give_up_privileges()
        version = barriers.landlock_version()
        kind = Barrier.LANDLOCK if version >= barriers.TRUNCATION else Barrier.OLD_LANDLOCK
        around += try_barrier(kind, partial(barriers.landlock, *map(self.descriptors, (self.writable, self.devices))))
        return around + try_barrier(Barrier.SECCOMP, barriers.refuse_set_id)


def try_barrier(barrier: Barrier, step: Callable[[], None]) -> list[Barrier]:
    """Try a barrier; return it if this machine grants it."""
    try:
        step()
    except OSError:
        return []
    return [barrier]


@contextlib.contextmanager
def cell(
    passed: Collection[Path | str], writable: Collection[Path | str] = (), as_nobody: bool = False,
    devices: Sequence[str] = (),
) -> Iterator[Cell]:  # fmt: skip
    """Make a cell for one process.

    With `as_nobody`, root's process becomes nobody, if the file system lets root give the writable folders to nobody;
    they are taken back at the end. The process gets `devices`, in their groups. Raises OSError if something is missing,
    and LaneError if a folder cannot be taken back.
    """
    devices = (*DEVICES, *devices)
    with contextlib.ExitStack() as stack:
        descriptors = {}
        for path in dict.fromkeys(map(str, [*devices, *passed, *writable])):
            descriptors[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
            stack.callback(os.close, descriptors[path])
        folders = [str(folder) for folder in writable]
        as_nobody = stack.enter_context(lent_to_lane(folders, as_nobody)) if folders else as_nobody
        yield Cell(descriptors, folders, NOBODY if as_nobody else None, devices)


def open_to_all(path: Path, below: Path = Path("/")) -> bool:
    """Return whether every user who can reach `below` can read the file, or enter the folder, at this path."""
    folders = [path, *path.parents] if path.is_dir() else list(path.parents)
    on_the_way = folders[: folders.index(below) + 1]
    return bool(path.stat().st_mode & stat.S_IROTH) and all(each.stat().st_mode & stat.S_IXOTH for each in on_the_way)


def probe(as_nobody: bool) -> Callable[[], list[Barrier]]:
    """Start to test, in a child, which barriers this machine grants. Return a function that waits for the answer."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        with contextlib.suppress(BaseException), cell([], as_nobody=as_nobody) as around:
            os.write(writer, " ".join(barrier.name for barrier in around.enter()).encode())
        os._exit(0)
    os.close(writer)

    def found() -> list[Barrier]:
        with os.fdopen(reader) as names:
            granted = [Barrier[name] for name in names.read().split()]
        os.waitpid(child, 0)
        return granted

    return found
