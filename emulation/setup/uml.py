# SPDX-License-Identifier: BSD-3-Clause
"""Build User-Mode Linux from a kernel's source archive, as the recipe in emulation/kernel says.

The first run waits for this build, so it does no more than necessary. It unpacks only what a network kernel needs, and
precompiles common headers (`headers`). It turns off what only improves the compiler's messages, and optimises less
where no frame of a plain lab passes. It keeps the kernel, `linux`, its modules, and what other modules are built with.

The name of a kernel in the cache has a hash of the recipe, of this file and of `headers`.
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
# Patches that every run needs: for exact time, for randomness from the seed, and to start on some hosts at all.
MEANING = ("seeded-randomness", "exact-clock", "wide-registers")
# Patches that only save time: traces are the same without them (tests/lane/test_golden.py). Some need earlier ones.
SPEED = (
    *("fewer-faults", "huge-pages", "direct-ticks", "fast-copies", "light-barriers", "unused-entropy"),
    *("numbered-events", "short-code", "inline-flags", "lasting-fpu", "large-writes", "shown-clock"),
)
SOURCES, KEPT = RECIPE / "sources.list", RECIPE / "kept.list"
HEADERS = RECIPE / "headers"
BUILD_FILES = ("Kbuild*", "Kconfig*", "Makefile*")
DEEPEST = 8  # folders above a build file
FASTER = "-w -ftrack-macro-expansion=0"  # compiler flags that save a twelfth of the time
LESS = "-O1 -g1"  # those that save a quarter more; for the debug kernel, whose speed matters less than its build's
# Modules for make alone. In the configuration, they would reserve 48 more bytes in each packet of TCP (MAX_HEADER in
# linux/netdevice.h), and traces would change.
TUNNELS = [f"CONFIG_{name}=m" for name in ("INET_TUNNEL", "NET_IPIP", "NET_IPGRE_DEMUX", "NET_IPGRE")]
RARELY_RUN = (
    *("crypto", "drivers/base", "drivers/net/bonding", "drivers/net/vxlan", "drivers/tty", "fs", "security"),
    *("net/batman-adv", "net/bridge", "net/netfilter", "net/openvswitch", "net/wireless"),
)
BUILT = (
    *("*.[oa]", "*.ko", "*.cmd"),
    *("./include/generated", "./include/config", "./arch/*/include/generated", "./.config"),
)
KEY_FILES = ("linux", ".config", "Makefile", "Module.symvers", "include/generated/autoconf.h", "scripts/mod/modpost")


def build(folder: Path, source: Path, configuration: tuple[Path, ...], what: str = "kernel") -> Iterable[str]:
    """Build a kernel into the folder and return its key files. `what` names it in messages. Raises SetupError."""
    tree, log = folder / "tree", folder / "build.log"
    tree.mkdir()
    unpack(source, tree)
    for patch in patches(configuration):
        with patch.open("rb") as opened:
            applied = subprocess.run(["patch", "-s", "-p1"], cwd=tree, stdin=opened, capture_output=True, text=True)
        if applied.returncode:
            raise SetupError(f"{patch.name} does not apply to {source}", (applied.stdout + applied.stderr).splitlines())
    for name in RARELY_RUN:
        headers.append(tree / name, "subdir-ccflags-y += -O1")
    asked = tree / "lab.config"
    asked.write_bytes(b"\n".join(file.read_bytes() for file in configuration))
    make(["ARCH=um", f"KCONFIG_ALLCONFIG={asked.name}", "allnoconfig"], tree, log, what)
    if missing := missing_options(asked.read_text(), (tree / ".config").read_text()):
        raise SetupError(f"this kernel source lacks {', '.join(missing)}, which {RECIPE} asks for")
    watched = configuration != CONFIGURATION
    options = ["ARCH=um", f"KCFLAGS={FASTER} {LESS if watched else ''} {headers.FLAGS}", headers.RENAMED]
    precompiled = headers.prepare(tree, HEADERS, watched)
    make([*options, *precompiled], tree, log, what)
    headers.store(tree)
    make([*options, *([] if watched else TUNNELS), "linux", "modules"], tree, log, what)
    headers.remove(tree)
    keep(tree, folder)
    return KEY_FILES


def patches(configuration: tuple[Path, ...]) -> list[Path]:
    """Return the patches of a configuration: those that every run needs, and those that save time for the lab's kernel,
    or those in the folders named as the fragments of another configuration."""
    meaning = [RECIPE / "meaning" / f"{name}.patch" for name in MEANING]
    if configuration == CONFIGURATION:
        return meaning + [RECIPE / "speed" / f"{name}.patch" for name in SPEED]
    return meaning + [patch for one in configuration for patch in sorted(one.with_suffix("").glob("*.patch"))]


def unpack(source: Path, tree: Path) -> None:
    """Copy what SOURCES lists from an archive, without its top folder, or from a folder. Raises SetupError."""
    patterns = read_list(SOURCES)
    wanted = [f"{'*/' * depth}{name}" for depth in range(1, DEEPEST) for name in BUILD_FILES]
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


def read_list(file: Path) -> list[str]:
    """Return the lines of a list, without comments."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def missing_options(asked: str, got: str) -> list[str]:
    """Return the options that a configuration asks for and the resulting one does not have."""
    options = dict(line.split("=", 1) for line in asked.splitlines() if line.startswith("CONFIG_"))
    lines = set(got.splitlines())
    return [name for name, value in options.items() if value != "n" and f"{name}={value}" not in lines]


def keep(tree: Path, folder: Path) -> None:
    """Move what KEPT lists out of the build tree, and delete the rest."""
    for pattern in read_list(KEPT):
        for path in tree.glob(pattern):
            target = folder / path.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    shutil.rmtree(tree)
    for path in folder.rglob("*"):
        if path.suffix in (".o", ".cmd", ".d") and path.is_file():
            path.unlink()
