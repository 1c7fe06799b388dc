# SPDX-License-Identifier: BSD-3-Clause
"""Reading the kernel's headers once: half of the time of its build goes into the same headers, in each file anew.

GCC can keep what it has read of headers, and begin a file with it (a precompiled header). It looks for it beside the
first header that it is told to include, which for all files of the kernel is FIRST. One is kept for each part of the
kernel, and one for the network's modules; MACRO says which of them a folder's files begin with. Folders without MACRO,
and files whose flags differ, read their headers as ever, and so do modules that are built later.

GCC takes what was kept only if all macros that its command line defines, and that the headers mention, are as they
were. Those with the names of the file and its module are not. On the command line they have other names, therefore, and
NAMES, which is included last, gives them their own. While headers are kept they are "kernel": this is what a few
messages in headers say that name their module.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

PARTS = {
    "core": (
        *("crypto", "drivers/base", "drivers/char", "drivers/tty", "drivers/virtio", "fs", "ipc", "kernel", "mm"),
        "security",
    ),
    "net": ("drivers/net", "net"),
}
ALONE = ("net/ipv4/ping",)  # files that do not bear what their folder begins with
MACRO = "LAB_HEADERS"
FIRST = "include/linux/compiler-version.h"
KEPT = f"{FIRST}.gch"
NAMES = "include/linux/lab-names.h"
NAMED = ("KBUILD_MODFILE", "KBUILD_BASENAME", "KBUILD_MODNAME", "__KBUILD_MODNAME")
FLAGS = f"-include {NAMES}"  # for the compiler, with each file
RENAMED = "LAB_NAMES=LAB_"  # for make; modules that are built later go without
UNNAMED = ("modfile_flags=", "basename_flags=", "modname_flags=")  # for make, while it makes what is kept
WHERE = "init"  # a folder from which the kernel's build compiles any file


def prepare(tree: Path, headers: Path) -> list[str]:
    """Have an unpacked kernel read its headers once: those that the files PART.h in the folder `headers` include.
    Returns what make has to be asked for first; then comes `keep`."""
    flags = tree / "scripts/Makefile.lib"
    flags.write_text(re.sub(r"-D(_*KBUILD_)", r"-D$(LAB_NAMES)\1", flags.read_text()))
    (tree / NAMES).write_text("".join(f'#define {name} "kernel"\n' for name in NAMED))
    kept = [(part, part, "") for part in PARTS] + [("net-module", "net", "-DMODULE")]
    with (tree / WHERE / "Makefile").open("a") as makefile:
        for name, part, more in kept:
            read = (headers / f"{part}.h").read_text()
            (tree / WHERE / f"lab-{name}.c").write_text(f"#if {MACRO} == {value(part)}\n{read}#endif\n")
            makefile.write(f"\nCFLAGS_lab-{name}.o := -x c-header {define(part)} {more}\n")
    for part, folders in PARTS.items():
        for folder in folders:
            with (tree / folder / "Makefile").open("a") as makefile:
                makefile.write(f"\nsubdir-ccflags-y += {define(part)}\n")
    for file in map(Path, ALONE):
        with (tree / file.parent / "Makefile").open("a") as makefile:
            makefile.write(f"\nCFLAGS_{file.name}.o += -U{MACRO}\n")
    return [*UNNAMED, *(f"{WHERE}/lab-{name}.o" for name, _, _ in kept)]


def keep(tree: Path) -> None:
    """Put what make has made where GCC looks for it."""
    folder = tree / KEPT
    folder.mkdir()
    for file in (tree / WHERE).glob("lab-*.o"):
        file.rename(folder / file.stem)
    (tree / NAMES).write_text("".join(f"#undef {name}\n#define {name} LAB_{name}\n" for name in NAMED))


def drop(tree: Path) -> None:
    """Take it away: no module that is built later begins with it."""
    shutil.rmtree(tree / KEPT)


def value(part: str) -> int:
    """Of MACRO."""
    return 1 + list(PARTS).index(part)


def define(part: str) -> str:
    """The compiler's flag."""
    return f"-D{MACRO}={value(part)}"
