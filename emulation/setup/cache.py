# SPDX-License-Identifier: BSD-3-Clause
"""The cache: folders named `KIND-KEY`, where the key is a hash of what the folder was built from.

Because of the hash, no entry is ever out of date, and none is changed: it is built in a scratch folder and renamed into
place. All users share what a package brings (`setup.package`) and what root built in /var/cache/dcflab; a user's builds
are their own. A manifest in each entry lists its key files. Each use compares their sizes and times, which takes
microseconds and finds truncated or changed files. Links lead to programs of the system, which must exist. `inspect(…,
thoroughly=True)` reads everything.
"""

import contextlib
import enum
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from emulation.setup.errors import SetupError, say
from emulation.setup.tools import report_while_waiting

PACKAGED = Path("/usr/lib/dcflab/cache")
BESIDE = Path(__file__).resolve().parents[2] / "cache"  # likewise, for a package that is unpacked anywhere
SYSTEM = Path("/var/cache/dcflab")
MANIFEST = "manifest.json"
LOCK, SCRATCH = "lock-", ".building-"
LOG = "build.log"  # of make, in the folder that is being filled
SPACE = 1 << 30  # bytes that the largest build, the kernel's, needs

Build = Callable[[Path], Iterable[str]]


class State(enum.Enum):
    """The state of an entry."""

    SOUND = "sound"
    ABSENT = "absent"
    DAMAGED = "damaged"


def roots() -> list[Path]:
    """Return the folders to search for entries; this user builds in the last one. $DCFLAB_CACHE replaces them all."""
    if own := os.environ.get("DCFLAB_CACHE"):
        return [Path(own).absolute()]
    common = [*packaged(), SYSTEM]
    if os.geteuid() == 0:
        return common
    base = os.environ.get("XDG_CACHE_HOME", "")
    return [*common, (Path(base) if base.startswith("/") else Path.home() / ".cache") / "dcflab"]


def packaged() -> list[Path]:
    """Return the folders that packages brought."""
    return [root for root in dict.fromkeys((BESIDE, PACKAGED)) if root.is_dir()]


def key(*parts: bytes | str) -> str:
    """Return a name for what is built from these parts, in this order: 64 bits of SHA-256."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def find(name: str, thoroughly: bool = False) -> Path | None:
    """Return the sound entry with this name, or None."""
    return next((r / name for r in roots() if inspect(r / name, thoroughly)[0] is State.SOUND), None)


def obtain(name: str, build: Build, thoroughly: bool = False, space: int = 0) -> Path:
    """Return the sound entry with this name; build it if there is none, which takes `space` bytes, by default SPACE.

    `build` fills the empty folder that it gets, and returns the paths of its key files in that folder. One entry of a
    kind is built at a time, so two callers at once build once, and no module waits for another user's kernel. Raises
    SetupError if the cache cannot be written, and what `build` raises.
    """
    if entry := find(name, thoroughly):
        return entry
    root, kind = roots()[-1], name.partition("-")[0]
    try:
        root.mkdir(parents=True, exist_ok=True)
        with lock(root / (LOCK + kind)):
            if entry := find(name, thoroughly):
                return entry
            for left in root.glob(f"{SCRATCH}{kind}-*"):  # of a builder that was killed: we hold the lock of its kind
                shutil.rmtree(left, ignore_errors=True)
            for entry in (root / name for root in roots()):
                state, reason = inspect(entry, thoroughly)
                if state is State.DAMAGED:
                    say(f"{entry} is damaged ({reason}); it is built again")
            space = space or SPACE
            if (free := shutil.disk_usage(root).free) < space:
                raise SetupError(f"{root} has {free >> 20} MB left, but up to {space >> 20}: make room")
            with scratch(root, kind) as folder:
                place(folder, root / name, build(folder))
    except OSError as error:
        what = f"{error.filename or root}: {error.strerror}"
        raise SetupError(f"cannot build {name}: {what}. $DCFLAB_CACHE can name another folder") from None
    return root / name


def place(folder: Path, entry: Path, key_files: Iterable[str]) -> None:
    """Write the manifest of a finished folder and rename the folder to its entry, replacing a damaged one."""
    files, programs = {}, []
    for file in key_files:
        if (folder / file).is_symlink():  # to a program of the system
            programs.append(file)
            continue
        stat = (folder / file).stat()
        files[file] = [stat.st_size, stat.st_mtime_ns, digest(folder / file)]
    manifest = {"files": files, "programs": programs, "tree": tree_digest(folder)}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    folder.chmod(0o755)
    if os.path.lexists(entry):
        with scratch(entry.parent, entry.name.partition("-")[0]) as grave:
            entry.rename(grave / "damaged")
    folder.rename(entry)


def inspect(entry: Path, thoroughly: bool = False) -> tuple[State, str]:
    """Return the state of an entry and, if it is damaged, the reason."""
    try:
        manifest = json.loads((entry / MANIFEST).read_bytes())
        for name, (size, mtime_ns, sha256) in manifest["files"].items():
            stat = (entry / name).stat()
            if stat.st_size != size:
                return State.DAMAGED, f"{name} has {stat.st_size} bytes instead of {size}"
            if stat.st_mtime_ns != mtime_ns and digest(entry / name) != sha256:
                return State.DAMAGED, f"{name} was changed"
        for name in manifest.get("programs", ()):
            if not os.access(entry / name, os.X_OK):
                return State.DAMAGED, f"{name} cannot be executed"
        if thoroughly and tree_digest(entry) != manifest["tree"]:
            return State.DAMAGED, "its files are not those that were built"
    except FileNotFoundError as error:
        missing = Path(error.filename).relative_to(entry)
        return (State.DAMAGED, f"{missing} is missing") if entry.is_dir() else (State.ABSENT, "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return State.DAMAGED, str(error)
    return State.SOUND, ""


def digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def known_digest(file: Path) -> str:
    """Return the same from the manifest of the file's entry, if the file's size and time match it."""
    try:
        size, mtime_ns, sha256 = json.loads((file.parent / MANIFEST).read_bytes())["files"][file.name]
        stat = file.stat()
        if (stat.st_size, stat.st_mtime_ns) == (size, mtime_ns):
            return str(sha256)
    except (OSError, ValueError, KeyError, TypeError):  # not in an entry, or not listed
        pass
    return digest(file)


def tree_digest(folder: Path) -> str:
    """Return the SHA-256 of all names and contents, except the manifest and bytecode, which changes."""
    whole = hashlib.sha256()
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            file = Path(path, name)
            inside = str(file.relative_to(folder))
            if inside != MANIFEST:
                content = os.readlink(file) if file.is_symlink() else digest(file)
                whole.update(f"{inside}\0{content}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


@contextlib.contextmanager
def lock(file: Path) -> Iterator[None]:
    """Hold the lock file. Print a line before waiting for another process, and that process's progress."""
    with file.open("ab") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another dcflab that builds in {file.parent}")
            logs = f"{SCRATCH}{file.name.removeprefix(LOCK)}-*/{LOG}"
            with report_while_waiting("another dcflab", lambda: file.parent.glob(logs)):
                fcntl.flock(opened, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def scratch(root: Path, kind: str) -> Iterator[Path]:
    """Yield a folder beside the entries; remove what is left of it at the end."""
    umask = os.umask(0o022)  # what root builds must be readable for all
    folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{kind}-", dir=root))
    try:
        yield folder
    finally:
        os.umask(umask)
        shutil.rmtree(folder, ignore_errors=True)
