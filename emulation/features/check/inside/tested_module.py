# SPDX-License-Identifier: BSD-3-Clause
"""The module under test in the lane: loading and unloading, parameters, users, and leaks.

Everything comes from the kernel, /sys/module and kmemleak; only the module's name is known.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import socket
import struct
import time

from emulation.lane import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CONTROLS = "/proc/sys/net/ipv4/tcp_available_congestion_control"
SHRINK = "/sys/kernel/slab/*/shrink"
KMEMLEAK = "/sys/kernel/debug/kmemleak"
FAILSLAB, FAIL_PERCENT = "/sys/kernel/debug/failslab", 40
FAIL_NTH = "/proc/thread-self/fail-nth"  # the number of this thread's allocation that fails; 0 after it failed
MODULES_REACH = 1 << 28  # bytes from any module's code within which all modules are, and not the kernel
THIS_MODULE = b".gnu.linkonce.this_module"  # the section that contains its struct module
SECTION = struct.Struct("=IIQQQQ")  # Elf64_Shdr: name, type, flags, address, offset, size
COPY = "copy.ko"
ORACLE = "oracle"  # our module that checks each call of the one under test
POLICY = f"/sys/module/{ORACLE}/parameters/policy"
REGISTERED = f"/sys/module/{ORACLE}/parameters/registered"  # how many operations were registered
FILES, MOST_FILES, MOST_READ = ("/sys/kernel/debug", "/proc/net"), 50, 1 << 16
NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.:])")
WRAPPED = range(2**64 - 2**20, 2**64 - 1)  # what counting below 0 gives; 2^64 - 1 often means "unlimited"
GRACE_S = 6.0  # kmemleak ignores objects younger than 5 s
# The limits of integer types, and invalid values.
INTEGERS = (0, 1, -1, 2, 2**8 - 1, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
BOUNDARIES = (*map(str, INTEGERS), "Y", "N", "", "x" * 200)
WORDS = re.compile(r"[A-Za-z0-9_/+.-]+")
PARAMETER = re.compile(rb"\0parm=(\w+):([^\0]*)")
MOST_WORDS = 40


class Module:
    """The module under test. `controls` are the congestion controls that it provides, once loaded."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.folder = f"/sys/module/{name}"
        self.controls: list[str] = []
        self.files: list[tuple[str, str]] = []
        self.registers = True
        self.links: list[int] = []  # that it brings

    def load(self) -> None:
        """Load it. Raises OSError if the kernel refuses."""
        before, registered, files, links = read(CONTROLS).split(), registrations(), places(), socket.if_nameindex()
        syscalls.load_module(self.path)
        self.controls = [name for name in read(CONTROLS).split() if name not in before]
        self.files = [place for place in places() if place not in files]
        self.links[:] = [link[0] for link in socket.if_nameindex() if link not in links]
        self.registers = registered is None or registered != registrations()

    def numbers(self) -> Iterator[tuple[str, list[str], list[int]]]:
        """Yield the files that it made in debugfs and in this namespace's /proc/net: path, lines, and numbers."""
        paths = [f"{folder}/{name}" for folder, name in self.files]
        inner = [f"{top}/{name}" for path in paths for top, _, names in os.walk(path) for name in names]
        for path in (*filter(os.path.isfile, paths), *inner[:MOST_FILES]):
            with contextlib.suppress(OSError):
                file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    shown = os.read(file, MOST_READ).decode(errors="replace")
                finally:
                    os.close(file)
                yield path, shown.splitlines(), [int(number) for number in NUMBER.findall(shown)]

    def unload(self, timeout_s: float = 0.0) -> None:
        """Unload it once nobody uses it; wait at most this long in the lane's time. Raises OSError if the kernel
        refuses."""
        deadline = time.monotonic() + timeout_s
        while self.reference_count() and time.monotonic() < deadline:
            time.sleep(1)
        syscalls.unload_module(self.name)

    def reference_count(self) -> int:
        return int(read(f"{self.folder}/refcnt"))

    def sections(self) -> dict[str, str]:
        """Return the addresses of its sections in the kernel."""
        paths = glob.glob(f"{self.folder}/sections/.*")
        return {os.path.basename(path): read(path) for path in sorted(paths)}

    def text(self, section: str = ".text") -> str:
        """Return the address of its code, or of another section; 0 if there is none."""
        path = f"{self.folder}/sections/{section}"
        return read(path) if os.path.exists(path) else "0"

    @contextlib.contextmanager
    def failing_allocations(self) -> Iterator[None]:
        """Let some allocations by its code fail; without effect in a kernel that cannot do this."""
        start = int(self.text(), 16)
        end = start + int(read(f"{self.folder}/coresize"))
        set_failures(start, end, FAIL_PERCENT)
        try:
            yield
        finally:
            set_failures(start, end, 0)

    def load_with_failure(self, nth: int, text: int) -> bool:
        """Load it while the nth allocation of the load fails; unload it if it was loaded. Return whether there was an
        nth allocation; False in a kernel that cannot do this. Its code was at `text` before. Raises OSError if it
        cannot be unloaded."""
        if not os.path.isdir(FAILSLAB):
            return False
        set_failures(text - MODULES_REACH, text + MODULES_REACH, 0)
        write(FAIL_NTH, str(nth))
        loaded = True
        try:
            self.load()
        except OSError:
            loaded = False
        failed = read(FAIL_NTH) == "0"
        write(FAIL_NTH, "0")
        if loaded:
            self.unload()
        return failed

    def copy(self, folder: str) -> Module:
        """Return a copy with another name, in a file of this folder."""
        name = self.name[:-1] + ("y" if self.name.endswith("z") else "z")
        old, new = self.name.encode(), name.encode()
        with open(self.path, "rb") as file:
            content = file.read()
        content = content.replace(b"\0name=%s\0" % old, b"\0name=%s\0" % new)
        begin, size = section(content, THIS_MODULE)
        content = content[:begin] + content[begin : begin + size].replace(old, new) + content[begin + size :]
        with open(f"{folder}/{COPY}", "wb") as file:
            file.write(content)
        return Module(name, f"{folder}/{COPY}")

    def parameters(self) -> list[str]:
        """Return the parameters that root may write."""
        found = sorted(glob.glob(f"{self.folder}/parameters/*"))
        return [os.path.basename(path) for path in found if os.stat(path).st_mode & 0o200]

    def get(self, parameter: str) -> str | None:
        """Return a parameter's value; None if it cannot be read."""
        try:
            return read(f"{self.folder}/parameters/{parameter}")
        except OSError:
            return None

    def set(self, parameter: str, value: str) -> None:
        """Set a parameter. Raises OSError if the module refuses."""
        path = os.open(f"{self.folder}/parameters/{parameter}", os.O_WRONLY)
        try:
            os.write(path, value.encode() + b"\n")
        finally:
            os.close(path)

    def values(self, parameter: str) -> list[str]:
        """Return values to try: the limits of integers, and the words in the parameter's description."""
        with open(self.path, "rb") as file:
            described = dict(PARAMETER.findall(file.read()))
        words = WORDS.findall(described.get(parameter.encode(), b"").decode(errors="replace"))
        return list(dict.fromkeys([*BOUNDARIES, *words[:MOST_WORDS]]))


def places() -> list[tuple[str, str]]:
    """Return the entries of the folders in which modules make files."""
    return [(folder, name) for folder in FILES if os.path.isdir(folder) for name in os.listdir(folder)]


def registrations() -> int | None:
    """Return how many congestion controls and qdiscs `oracle` has seen registered; None without it."""
    return int(read(REGISTERED)) if os.path.exists(REGISTERED) else None


def section(elf: bytes, wanted: bytes) -> tuple[int, int]:
    """Return a section's offset and size in an object file. Raises StopIteration if there is none."""
    (headers,), (length, count, names) = struct.unpack_from("=Q", elf, 0x28), struct.unpack_from("=HHH", elf, 0x3A)
    found = [SECTION.unpack_from(elf, headers + length * number) for number in range(count)]
    texts = found[names][4]
    return next((one[4], one[5]) for one in found if elf.startswith(wanted + b"\0", texts + one[0]))


def set_failures(start: int, end: int, percent: int) -> None:
    """Let allocations by code at these addresses fail with this probability; do nothing in a kernel that cannot."""
    settings = {"ignore-gfp-wait": "N", "verbose": "0", "times": "-1", "stacktrace-depth": "32",
                "require-start": hex(start), "require-end": hex(end), "probability": str(percent)}  # fmt: skip
    for name, value in settings.items() if os.path.isdir(FAILSLAB) else ():
        write(f"{FAILSLAB}/{name}", value)


def check_usual_windows(usual: bool) -> None:
    """Check windows against what is usual, too, or not (emulation/features/check/oracle)."""
    if os.path.exists(POLICY):
        write(POLICY, "NY"[usual])


def read(path: str) -> str:
    with open(path) as file:
        return file.read().strip()


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def leaks() -> list[str]:
    """Return kmemleak's lines on leaks since the last `clear_leaks`. Takes some seconds of the lane's time."""
    scan()
    return read(KMEMLEAK).splitlines()


def clear_leaks() -> None:
    """Ignore all leaks seen so far: they are not the module's."""
    write(KMEMLEAK, "clear")


def scan() -> None:
    """Scan twice: kmemleak spares an object whose content changed since the last scan."""
    for _ in range(2):
        time.sleep(GRACE_S)
        write(KMEMLEAK, "scan")


def used_kb() -> int:
    """Return the used memory, kB: kmemleak misses leaked pages, and memory that is kept and pointed to. Each cache is
    shrunk before, as KASAN keeps some megabytes of freed objects, now more and now less."""
    for shrink in glob.glob(SHRINK):
        write(shrink, "1")
    lines = dict(line.split(":") for line in read("/proc/meminfo").splitlines())
    return int(lines["MemTotal"].split()[0]) - int(lines["MemFree"].split()[0])
