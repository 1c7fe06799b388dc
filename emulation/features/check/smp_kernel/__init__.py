# SPDX-License-Identifier: BSD-3-Clause
"""The debug kernel with several CPUs: x86-64, for the lane `vm`, from the source archive of the lab's kernels.

`kernel.config` says what it checks. KCSAN's calls are compiled into modules only, not into the kernel.
In the cache are the kernel, with what modules are built against; and a copy of it beside the root file system that it
unpacks. The latter has this machine's Python, and so another name after an update.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from emulation.lanes.virtual.boot import PYTHON
from emulation.setup import cache, kernel, packages, stock, uml
from emulation.setup.errors import SetupError, say
from emulation.setup.stock import LINUX, RELEASE, ROOT
from emulation.setup.tools import compiler, end_with_us, fingerprint, make

CONFIGURATION = Path(__file__).parent / "kernel.config"
PATCHES = sorted(CONFIGURATION.parent.glob("*.patch"))
NEEDS = packages.OfFeature("smp", (*packages.STOCK, *packages.BUILDS_KERNEL), lambda: obtain())
ARGUMENTS = ("ARCH=x86_64", f"KCFLAGS={uml.FASTER}", "KCSAN_SANITIZE=n")  # the last is for the kernel itself
WHAT, MINUTES = "debug kernel with several CPUs", "three or four"
# Sources that are not unpacked; all build files are, as they refer to each other.
SOURCES = "*.[chS]", "*.dts*"
WITHOUT = (
    *("arch/[!x]*", "sound", *(f"drivers/{name}" for name in ("clk", "gpu", "hwmon", "iio", "infiniband", "input"))),
    *(f"drivers/{name}" for name in ("media", "net/ethernet", "net/wireless", "pinctrl", "scsi", "staging", "usb")),
)
EXCLUDED = (
    *(f"*/{folder}/{name}" for folder in WITHOUT for name in SOURCES),
    *("*/Documentation/*/*", "*/tools/testing/*", "*/tools/perf/*"),
)
KEPT = (
    *(".config", "Makefile", "Module.symvers", "modules.builtin", "scripts", "include"),
    *("arch/x86/Makefile*", "arch/x86/include"),
)


@dataclass(frozen=True)
class Debug(stock.Stock):
    """The kernel, ready to boot, in `folder`. Modules are built against what is in `built`."""

    built: Path
    builders = packages.Group.MODULE

    @property
    def headers(self) -> Path:
        return self.built

    @property
    def key(self) -> str:
        return self.built.name

    @property
    def modules(self) -> dict[str, Path]:
        """All are built in."""
        names = map(stock.module_name, (self.built / "modules.builtin").read_text().splitlines())
        return {name: self.linux for name in names if name.startswith(stock.OF_NETWORKS)}


def name() -> str | None:
    """Return the kernel's name in the cache, from its recipe and source. None if it cannot be built here."""
    if (source := kernel.archive()) is None or (gcc := compiler()) is None:
        return None
    recipe = (CONFIGURATION, *PATCHES, Path(__file__))
    return f"smp-{cache.key(*(file.read_bytes() for file in recipe), fingerprint(source), gcc)}"


def obtain() -> Debug:
    """Return the kernel; build it if it is not in the cache. Raises SetupError if that fails."""
    packages.ensure(NEEDS)
    source, wanted = kernel.archive(), name()
    if source is None or wanted is None:
        raise SetupError("there is no kernel source: $DCFLAB_LINUX_SOURCE does not name an archive")
    if not cache.find(wanted):
        say(f"building the {WHAT}; this happens once and takes {MINUTES} minutes on two cores with nothing else to do")
    built = cache.obtain(wanted, lambda folder: build(folder, source))
    files = [PYTHON, *map(stock.program_path, stock.PROGRAMS)]
    ready = f"stock-{cache.key(Path(stock.__file__).read_bytes(), wanted, *map(fingerprint, files))}"
    return Debug(release(built), cache.obtain(ready, lambda folder: make_ready(folder, built)), built)


def release(built: Path) -> str:
    return (built / RELEASE).read_text().strip()


def build(folder: Path, source: Path) -> Iterable[str]:
    """Build the kernel into the folder and return its key files. Raises SetupError."""
    tree, log = folder / "tree", folder / cache.LOG
    tree.mkdir()
    unpack(source, tree)
    for patch in PATCHES:
        command = ["patch", "-s", "-p1", "-i", str(patch)]
        applied = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        if applied.returncode:
            raise SetupError(f"{patch.name} does not apply to {source}", (applied.stdout + applied.stderr).splitlines())
    shutil.copyfile(CONFIGURATION, tree / CONFIGURATION.name)
    make([*ARGUMENTS, f"KCONFIG_ALLCONFIG={CONFIGURATION.name}", "allnoconfig"], tree, log, WHAT)
    if missing := uml.missing_options(CONFIGURATION.read_text(), (tree / ".config").read_text()):
        raise SetupError(f"this kernel source lacks {', '.join(missing)}, which {CONFIGURATION} asks for")
    make([*ARGUMENTS, "vmlinux", "modules"], tree, log, WHAT)
    (tree / "vmlinux").rename(folder / LINUX)
    for path in (found for pattern in KEPT for found in tree.glob(pattern)):
        target = folder / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    shutil.rmtree(tree)
    for path in folder.rglob("*"):
        if path.suffix in (".o", ".cmd", ".d") and path.is_file():
            path.unlink()
    return [LINUX, ".config", "Makefile", "Module.symvers", RELEASE, "scripts/mod/modpost"]


def unpack(source: Path, tree: Path) -> None:
    """Copy an archive, without its top folder, or a folder. Raises SetupError."""
    leave_out = ["--anchored", "--wildcards", *(f"--exclude={name}" for name in EXCLUDED)]
    packed = ["-f", str(source), *(["-I", "xz -dT0"] if source.suffix == ".xz" else [])]
    command = ["tar", "-x", "-C", str(tree), "--strip-components=1", "--no-same-owner", *leave_out]
    with contextlib.ExitStack() as stack:
        pipe = None
        if source.is_dir():
            packed = ["-f", "-"]
            pack = ["tar", "-c", "--exclude-vcs", *(f"--exclude={name}" for name in uml.BUILT), "-C", str(source), "."]
            pipe = stack.enter_context(subprocess.Popen(pack, stdout=subprocess.PIPE, preexec_fn=end_with_us)).stdout
        done = subprocess.run([*command, *packed], stdin=pipe, capture_output=True, text=True, preexec_fn=end_with_us)
    if done.returncode:
        raise SetupError(f"cannot unpack {source}", done.stderr.splitlines())


def make_ready(folder: Path, built: Path) -> Iterable[str]:
    """Fill a folder with what a lane boots, and return its key files."""
    shutil.copy(built / LINUX, folder / LINUX)
    (folder / ROOT).write_bytes(stock.root(release(built), [(b"", "modules.dep")]))
    return [LINUX, ROOT]
