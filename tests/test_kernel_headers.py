# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's headers are read once: GCC starts from their stored state, and nothing else changes for a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from emulation.setup import headers, uml

MODULE = ["-DMODULE"]
WATCHED = ["-fsanitize=address"]


@pytest.fixture
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A prepared kernel of three headers, with their stored state. A parameter says whether it is a debug kernel."""
    for folders in headers.PARTS.values():
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True)
    for folder in ("scripts", "include/linux", "init", *(str(Path(file).parent) for file in headers.EXCEPTIONS)):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "scripts/Makefile.lib").write_text("a = -DKBUILD_MODNAME=x \\\n -D__KBUILD_MODNAME=y -DOTHER\n")
    (tmp_path / headers.FIRST).write_text("/* nothing */\n")
    guarded = "#ifndef LONG\n#define LONG\nstatic inline const char *whose(void) { return KBUILD_MODNAME; }\n"
    (tmp_path / "include/linux/long.h").write_text(
        guarded + "#ifdef MODULE\n#define MINE 1\n#else\n#define MINE 0\n#endif\n#define NAME KBUILD_MODNAME\n"
        "#ifdef __SANITIZE_ADDRESS__\n#define WATCHED\n#endif\n#endif\n"
    )
    own = tmp_path / "own"
    own.mkdir()
    for part in headers.PARTS:
        (own / f"{part}.h").write_text('#include "linux/long.h"\n')
    debug = getattr(request, "param", False)
    made = headers.prepare(tmp_path, own, watched=debug)
    lines = (line.split(" := ") for line in (tmp_path / "init/Makefile").read_text().splitlines() if line)
    settings = dict(lines)
    for target in (each for each in made if each not in headers.UNNAMED):
        flags = settings[f"CFLAGS_{Path(target).name}"].split()
        flags += WATCHED if debug and settings[f"KASAN_SANITIZE_{Path(target).name}"] == "y" else []
        compile(tmp_path, [*flags, "-c", "-o", target, f"{target.removesuffix('.o')}.c"])
    headers.store(tmp_path)
    return tmp_path


def compile(tree: Path, arguments: list[str]) -> str:
    """Run GCC as the kernel's build does; return the headers that it read, with `!` before stored ones."""
    command = ["gcc", "-H", "-Iinclude", "-include", f"./{headers.FIRST}", *headers.FLAGS.split(), *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stderr


def said(tree: Path, *flags: str) -> tuple[str, str]:
    """Return the output of a program compiled with these flags, and the headers that were read."""
    (tree / "file.c").write_text(
        '#include "linux/long.h"\nint printf(const char *, ...);\n'
        'int main(void) { printf("%s %d", NAME, MINE); return 0; }\n'
    )
    read = compile(tree, [*flags, '-DLAB_KBUILD_MODNAME="mine"', "-o", "program", "file.c"])
    return subprocess.run([tree / "program"], capture_output=True, text=True, check=True).stdout, read


def began(read: str) -> str:
    """Return what a file started from, of all that GCC looked at."""
    return "".join(line for line in read.splitlines(keepends=True) if line.startswith("! "))


@pytest.mark.parametrize("part", headers.PARTS)
def test_a_file_begins_with_what_was_kept_for_its_folder_and_has_its_own_name(tree: Path, part: str) -> None:
    folder = headers.PARTS[part][0]
    assert headers.define(part) in (tree / folder / "Makefile").read_text()
    program, read = said(tree, headers.define(part))
    assert program == "mine 0"
    assert f"/{headers.PRECOMPILED}/lab-{part}\n" in began(read)


def test_a_module_begins_with_what_was_kept_for_modules(tree: Path) -> None:
    program, read = said(tree, headers.define("net"), *MODULE)
    assert program == "mine 1"
    assert f"/{headers.PRECOMPILED}/lab-net-module\n" in began(read)
    program, read = said(tree, headers.define("core"), *MODULE)
    assert program == "mine 1" and not began(read)  # nothing was kept for it: it reads its headers


@pytest.mark.parametrize("tree", [True], indirect=True)
@pytest.mark.parametrize(
    ("part", "flags", "kept"), [("core", [], "core"), ("core", WATCHED, "core-watched"), ("net", WATCHED, "net")]
)
def test_what_a_debug_kernel_watches_begins_with_watched_headers(
    tree: Path, part: str, flags: list[str], kept: str
) -> None:
    program, read = said(tree, headers.define(part), *flags)
    assert program == "mine 0"
    assert f"/{headers.PRECOMPILED}/lab-{kept}\n" in began(read)


def test_other_files_read_their_headers(tree: Path) -> None:
    program, read = said(tree)
    assert program == "mine 0" and not began(read) and "long.h" in read


def test_a_file_that_goes_alone_reads_its_headers(tree: Path) -> None:
    [file] = map(Path, headers.EXCEPTIONS)
    lines = (tree / file.parent / "Makefile").read_text().splitlines()
    [flag] = (line.split("+= ")[1] for line in lines if line.startswith(f"CFLAGS_{file.name}.o"))
    assert not began(said(tree, headers.define("net"), flag)[1])


def test_what_is_built_later_knows_nothing_of_it(tree: Path) -> None:
    assert (tree / headers.PRECOMPILED).is_dir()
    headers.remove(tree)
    assert not (tree / headers.PRECOMPILED).exists()
    flags = (tree / "scripts/Makefile.lib").read_text()
    assert flags.replace("$(LAB_NAMES)", "") == "a = -DKBUILD_MODNAME=x \\\n -D__KBUILD_MODNAME=y -DOTHER\n"


def test_each_part_has_its_headers_and_no_folder_is_in_two() -> None:
    assert {file.stem for file in uml.HEADERS.iterdir()} == set(headers.PARTS)
    folders = [Path(folder) for part in headers.PARTS.values() for folder in part]
    assert not [each for each in folders if any(each != other and each.is_relative_to(other) for other in folders)]
