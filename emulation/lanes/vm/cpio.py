# SPDX-License-Identifier: BSD-3-Clause
"""Archives in cpio's `newc` format, which a kernel unpacks one after the other as its initial root file system.

The format is that of Documentation/driver-api/early-userspace/buffer-format.rst. An archive has only names, modes and
contents of the host's files, so that the same files make the same bytes.
"""

import stat
from collections.abc import Mapping
from pathlib import Path

END = "TRAILER!!!"
CONSOLE = 5, 1  # the device


class Archive:
    """Folders, files and links by their paths; parent folders are made as needed.

    Links at the top must come first. `links` are those of an earlier archive.
    """

    def __init__(self, links: Mapping[str, str] | None = None) -> None:
        self.parts: list[bytes] = []
        self.there: set[str] = set()
        self.links = dict(links or {})  # to folders: a path below a link is stored below its target

    def folder(self, path: str) -> None:
        self._add(path, stat.S_IFDIR | 0o755)

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._add(path, stat.S_IFREG | mode, data)

    def copy(self, source: Path) -> None:
        """Add a file of the host, at the same path."""
        self.file(str(source), source.read_bytes(), source.stat().st_mode & 0o777)

    def link(self, path: str, target: str) -> None:
        self._add(path, stat.S_IFLNK | 0o777, target.encode())
        self.links[path.strip("/")] = target.strip("/")

    def device(self, path: str, number: tuple[int, int]) -> None:
        self._add(path, stat.S_IFCHR | 0o600, rdev=number)

    def whole(self) -> bytes:
        """Return the archive, to which another one can be appended."""
        return b"".join([*self.parts, _entry(END, 0, b"", (0, 0))])

    def _add(self, path: str, mode: int, data: bytes = b"", rdev: tuple[int, int] = (0, 0)) -> None:
        first, below, rest = path.strip("/").partition("/")
        name = f"{self.links.get(first, first)}/{rest}" if below else first
        if name in self.there:
            return
        above = name.rpartition("/")[0]
        if above:
            self.folder(above)
        self.there.add(name)
        self.parts.append(_entry(name, mode, data, rdev))


def into_usr() -> dict[str, str]:
    """Return this machine's links from the root into /usr, such as lib to usr/lib, with their targets."""
    links = {top.name: str(top.readlink()).strip("/") for top in sorted(Path("/").iterdir()) if top.is_symlink()}
    return {name: target for name, target in links.items() if target.startswith("usr/")}


def _entry(name: str, mode: int, data: bytes, rdev: tuple[int, int]) -> bytes:
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)
