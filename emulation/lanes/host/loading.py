# SPDX-License-Identifier: BSD-3-Clause
"""Kernel modules that a lane loaded into this machine's kernel.

There is one lane at a time, which holds the lock, because the air takes all hwsim radios of a kernel. The lane notes
which modules it loads and unloads them at its end. Each note has the inode of the module's file in /sys, which is
different each time the module is loaded. If a lane is killed, its note stays, but not its lock. The next lane, or
`dcflab doctor`, then unloads the modules.
"""

import contextlib
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emulation.lane import syscalls
from emulation.lanes import LaneError, Reason

LOCK, NOTE = Path("/run/dcflab-host.lock"), Path("/run/dcflab-host.json")
HWSIM = "mac80211_hwsim"
RADIOS = Path("/sys/class/mac80211_hwsim")


def others_radios() -> str:
    """Return a message if others have hwsim radios; empty if none do."""
    if radios := sorted(path.name for path in RADIOS.glob("*")) if RADIOS.is_dir() else []:
        return (
            f"others use {HWSIM} on this machine ({', '.join(radios)}), and the air would take their radios: end them; "
            f"if they are nobody's, rmmod {HWSIM}"
        )
    return ""


@contextlib.contextmanager
def loaded(own: Mapping[str, Path], others: Sequence[str]) -> Iterator[None]:
    """Load hwsim, the distribution's modules `others`, and those of the files `own`, in this order. At the end, unload
    those that were not loaded before. Raises LaneError if another lane runs, or if a module cannot be loaded."""
    with LOCK.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LaneError(
                Reason.NOT_STARTED, "another lane of kind host is running, and a kernel has room for one"
            ) from None
        unload_noted()
        try:
            load(own, others)
            yield
        finally:
            unload_noted()


def load(own: Mapping[str, Path], others: Sequence[str]) -> None:
    try:
        for name, options in [(HWSIM, ["radios=0"]), *((name, []) for name in others)]:
            with noted(name):
                done = subprocess.run(["modprobe", name, *options], capture_output=True, text=True)
            if done.returncode:
                raise LaneError(Reason.NOT_STARTED, f"cannot load {name}: {done.stderr.strip()}")
        for name, path in own.items():
            with noted(name):
                syscalls.load_module(str(path))
    except OSError as error:
        raise LaneError(Reason.NOT_STARTED, str(error.strerror)) from None


@contextlib.contextmanager
def noted(name: str) -> Iterator[None]:
    """Note the module that this block loads, unless it was loaded before."""
    before = number_of(name)
    yield
    if before is None and (number := number_of(name)) is not None:
        write_note([*read_note(), [name, number]])


def number_of(name: str) -> int | None:
    """Return an identifier of this instance of a loaded module; None: it is not loaded."""
    try:
        return os.stat(f"/sys/module/{name.replace('-', '_')}/initstate").st_ino
    except OSError:
        return None


def read_note() -> list[list[str | int]]:
    """Return the noted modules with their identifiers, in the order in which they were loaded."""
    try:
        found: list[list[str | int]] = json.loads(NOTE.read_text())
    except (OSError, ValueError):
        return []
    return found


def write_note(modules: Sequence[Sequence[str | int]]) -> None:
    half = NOTE.with_suffix(".new")
    half.write_text(json.dumps(modules))
    half.rename(NOTE)


def unload_noted() -> None:
    """Unload the noted modules, the latest first, if they are the same instances. Modules in use stay noted. Call it
    with the lock held."""
    left: list[list[str | int]] = []
    for name, number in reversed(read_note()):
        if number_of(str(name)) == number:
            try:
                syscalls.unload_module(str(name).replace("-", "_"))
            except OSError:
                left.insert(0, [name, number])
    if left:
        write_note(left)
    else:
        NOTE.unlink(missing_ok=True)
