# SPDX-License-Identifier: BSD-3-Clause
"""Precompiled headers for the kernel: half of its build would read the same headers in each file again.

GCC looks for a precompiled header beside the first header that its command line includes. For every file of the kernel
this is FIRST. There is one for each part of the kernel, one for the network's modules, and one for what the debug
kernel watches in its core. A macro, `define`, says which part the files of a folder use, and one of GCC's, which the
kernel's headers mention, what KASAN watches. Other files, and modules built later, read their headers as usual.

GCC uses a precompiled header only if all macros that it mentions are defined as before. Macros with the names of the
file and its module differ, so the command line renames them, and LAST, which is included last, defines them again.
While headers are precompiled, these names are "kernel"; so a few messages of headers say that instead of their module.
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
EXCEPTIONS = {"net/ipv4/ping": "net"}  # files that do not compile with their folder's headers, and the part
FIRST, LAST = "include/linux/compiler-version.h", "include/linux/lab-names.h"
PRECOMPILED = f"{FIRST}.gch"
NAMES = ("KBUILD_MODFILE", "KBUILD_BASENAME", "KBUILD_MODNAME", "__KBUILD_MODNAME")
FLAGS = f"-include {LAST}"  # for the compiler, with each file
RENAMED = "LAB_NAMES=LAB_"  # for make; not for modules that are built later
UNNAMED = ("modfile_flags=", "basename_flags=", "modname_flags=")  # for make, while it precompiles
FOLDER = "init"  # the kernel's build can compile any file in this folder


def prepare(tree: Path, headers: Path, watched: bool) -> list[str]:
    """Prepare an unpacked kernel to precompile what each PART.h in the folder `headers` includes. Return the arguments
    of make that do it; `store` must follow. `watched` says that KASAN watches some files of the core."""
    flags = tree / "scripts/Makefile.lib"
    flags.write_text(re.sub(r"-D(_*KBUILD_)", r"-D$(LAB_NAMES)\1", flags.read_text()))
    (tree / LAST).write_text("".join(f'#define {name} "kernel"\n' for name in NAMES))
    made = {part: (part, define(part)) for part in PARTS} | {"net-module": ("net", f"{define('net')} -DMODULE")}
    made |= {"core-watched": ("core", define("core"))} if watched else {}
    for name, (part, flag) in made.items():
        included = (headers / f"{part}.h").read_text()
        (tree / FOLDER / f"lab-{name}.c").write_text(f"#ifdef {define(part).removeprefix('-D')}\n{included}#endif\n")
        append(tree / FOLDER, f"CFLAGS_lab-{name}.o := -x c-header {flag}")
        append(tree / FOLDER, f"KASAN_SANITIZE_lab-{name}.o := {'n' if name == 'core' else 'y'}")
    for part, folders in PARTS.items():
        for folder in folders:
            append(tree / folder, f"subdir-ccflags-y += {define(part)}")
    for file, part in EXCEPTIONS.items():
        append(tree / Path(file).parent, f"CFLAGS_{Path(file).name}.o += {define(part).replace('-D', '-U')}")
    return [*UNNAMED, *(f"{FOLDER}/lab-{name}.o" for name in made)]


def append(folder: Path, line: str) -> None:
    """Add a line to the folder's Makefile."""
    with (folder / "Makefile").open("a") as makefile:
        makefile.write(f"\n{line}\n")


def store(tree: Path) -> None:
    """Move the precompiled headers to where GCC looks for them."""
    (tree / PRECOMPILED).mkdir()
    for file in (tree / FOLDER).glob("lab-*.o"):
        file.rename(tree / PRECOMPILED / file.stem)
    (tree / LAST).write_text("".join(f"#undef {name}\n#define {name} LAB_{name}\n" for name in NAMES))


def remove(tree: Path) -> None:
    """Remove them, so that no module that is built later uses them."""
    shutil.rmtree(tree / PRECOMPILED)


def define(part: str) -> str:
    """Return the compiler's flag for files that use a part's precompiled header."""
    return f"-DLAB_HEADERS_{part}"
