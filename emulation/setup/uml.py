# SPDX-License-Identifier: BSD-3-Clause
"""Building User-Mode Linux from a kernel's source archive: the recipe in emulation/kernel, carried out.

A cold set-up waits for this build, so it does no more than is needed. It unpacks only what a network kernel is made of.
The compiler reads what most files include only once (`headers`). It does not keep what serves only its messages (where
a macro came from), and spends less effort on code that no frame of a plain lab passes through. What stays is the kernel
itself, `linux`, and the headers and tools that modules are built against.

The kernels in the cache are named by a hash of the recipe, of this file and of `headers`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from emulation.setup import headers
from emulation.setup.errors import SetupError
from emulation.setup.tools import end_with_us, make

RECIPE = Path(__file__).resolve().parents[1] / "kernel"
CONFIGURATION = (RECIPE / "uml.config",)
# Without these a run is not what it is: its time is not exact, its randomness not the seed's; some hosts start none.
MEANING = ("seeded-randomness", "exact-clock", "wide-registers")
# These only make it faster: traces are the same without them (tests/lane/test_golden.py). Some need earlier ones.
SPEED = (
    *("fewer-faults", "huge-pages", "direct-ticks", "fast-copies", "light-barriers", "unused-entropy"),
    *("numbered-events", "short-code", "inline-flags", "lasting-fpu", "large-writes", "shown-clock"),
)
SOURCES, KEPT = RECIPE / "sources.list", RECIPE / "kept.list"
HEADERS = RECIPE / "headers"
DESCRIPTIONS = ("Kbuild*", "Kconfig*", "Makefile*")
DEEPEST = 8  # folders above a description
FASTER = "-w -ftrack-macro-expansion=0"  # compiler flags: a twelfth of the time
HARDLY_RUN = (
    *("crypto", "drivers/base", "drivers/tty", "fs", "security"),
    *("net/batman-adv", "net/bridge", "net/netfilter", "net/openvswitch", "net/wireless"),
)
BUILT = (
    "*.[oa]",
    "*.ko",
    "*.cmd",
    "./include/generated",
    "./include/config",
    "./arch/*/include/generated",
    "./.config",
)
KEY_FILES = ("linux", ".config", "Makefile", "Module.symvers", "include/generated/autoconf.h", "scripts/mod/modpost")


def build(folder: Path, source: Path, configuration: tuple[Path, ...], what: str = "kernel") -> Iterable[str]:
    """Build the kernel and fill the folder with it; returns its key files. `what` it is called. Raises SetupError."""
    tree = folder / "tree"
    tree.mkdir()
    unpack(source, tree)
    for patch in patches(configuration):
        with patch.open("rb") as opened:
            applied = subprocess.run(["patch", "-s", "-p1"], cwd=tree, stdin=opened, capture_output=True, text=True)
        if applied.returncode:
            raise SetupError(f"{patch.name} does not apply to {source}", (applied.stdout + applied.stderr).splitlines())
    for name in HARDLY_RUN:
        with (tree / name / "Makefile").open("a") as makefile:
            makefile.write("\nsubdir-ccflags-y += -O1\n")
    whole = tree / "lab.config"
    whole.write_bytes(b"\n".join(file.read_bytes() for file in configuration))
    make(["ARCH=um", f"KCONFIG_ALLCONFIG={whole.name}", "allnoconfig"], tree, folder / "build.log", what)
    if missing := unmet(whole.read_text(), (tree / ".config").read_text()):
        raise SetupError(f"this kernel source lacks {', '.join(missing)}, which {RECIPE} asks for")
    options, once = [f"KCFLAGS={FASTER}"], configuration == CONFIGURATION  # others were not tried
    if once:
        first = headers.prepare(tree, HEADERS)
        options = [f"KCFLAGS={FASTER} {headers.FLAGS}", headers.RENAMED]
        make(["ARCH=um", *options, *first], tree, folder / "build.log", what)
        headers.keep(tree)
    make(["ARCH=um", *options, "linux", "modules"], tree, folder / "build.log", what)
    if once:
        headers.drop(tree)
    keep(tree, folder)
    return KEY_FILES


def patches(configuration: tuple[Path, ...]) -> list[Path]:
    """Those that give runs their meaning. And those that make the lab's kernel faster; or those in the folders beside
    other configurations' fragments, which have their names."""
    meaning = [RECIPE / "meaning" / f"{name}.patch" for name in MEANING]
    if configuration == CONFIGURATION:
        return meaning + [RECIPE / "speed" / f"{name}.patch" for name in SPEED]
    return meaning + [patch for one in configuration for patch in sorted(one.with_suffix("").glob("*.patch"))]


def unpack(source: Path, tree: Path) -> None:
    """Unpack what is needed of the archive, whose single top folder is left out; or take it from a folder."""
    patterns = listed(SOURCES)
    wanted = [f"{'*/' * depth}{name}" for depth in range(1, DEEPEST) for name in DESCRIPTIONS]
    wanted += [f"*/{pattern}" for pattern in patterns if not pattern.startswith("!")]
    unwanted = [f"--exclude=*/{pattern[1:]}" for pattern in patterns if pattern.startswith("!")]
    unpacker = ["-f", "-"] if source.is_dir() else ["-I", "xz -dT0"] if source.suffix == ".xz" else ["-a"]
    command = ["tar", "-x", *unpacker, "-b", "1024", "-C", str(tree), "--strip-components=1"]
    command += [] if source.is_dir() else ["-f", str(source)]
    command += ["--no-same-owner", "--anchored", "--wildcards", "--no-wildcards-match-slash", *unwanted, *wanted]
    with contextlib.ExitStack() as stack:
        packed = None
        if source.is_dir():
            pack = ["tar", "-c", "--exclude-vcs", *(f"--exclude={name}" for name in BUILT), "-C", str(source), "."]
            packed = stack.enter_context(subprocess.Popen(pack, stdout=subprocess.PIPE, preexec_fn=end_with_us)).stdout
        environment = os.environ | {"LC_ALL": "C"}
        done = subprocess.run(
            command, stdin=packed, env=environment, capture_output=True, text=True, preexec_fn=end_with_us
        )
    harmless = (": Not found in archive", "Exiting with failure status")  # not every depth has every kind of file
    if wrong := [line for line in done.stderr.splitlines() if not any(text in line for text in harmless)]:
        raise SetupError(f"cannot unpack {source}", wrong)


def listed(file: Path) -> list[str]:
    """The lines of a list, without comments."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def unmet(asked: str, got: str) -> list[str]:
    """The options that a configuration asks for, and that the resulting one does not have."""
    options = dict(line.split("=", 1) for line in asked.splitlines() if line.startswith("CONFIG_"))
    lines = set(got.splitlines())
    return [name for name, value in options.items() if value != "n" and f"{name}={value}" not in lines]


def keep(tree: Path, folder: Path) -> None:
    """Move out of the build tree what is used later, and drop the rest."""
    for pattern in listed(KEPT):
        for path in tree.glob(pattern):
            target = folder / path.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    shutil.rmtree(tree)
    for path in folder.rglob("*"):
        if path.suffix in (".o", ".cmd", ".d") and path.is_file():
            path.unlink()
