# SPDX-License-Identifier: BSD-3-Clause
"""What is checked: a folder with a Kbuild file, or one C file, for which a Kbuild file is made.

What a folder builds is not guessed from its text: make evaluates `obj-m`. The kind of a module follows from its calls:
one that calls `tcp_register_congestion_control` is a congestion control. Only the kernel knows the registered names,
after loading.
"""

from __future__ import annotations

import enum
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from emulation.lane.errors import Misuse
from emulation.setup import modules, packages

# Names of functions, as object files have them; a name's end is shared with longer ones.
CLASSES = b"qdisc_class_hash_init\0"
REGISTER = {b"tcp_register_congestion_control": "congestion control", b"register_qdisc": "qdisc"}
INFO = re.compile(rb"(?<![ -~])(name|depends|alias|description|parm|parmtype)=([^\0]*)(?=\0)")
QDISC_ID = re.compile(r"struct\s+Qdisc_ops\s+\w+[^=]*=\s*\{[^}]*?\.id\s*=\s*\"(\w+)\"")
ASK = "include {}\ndcflab-obj-m:\n\t@echo $(obj-m)\n"


class Kind(enum.StrEnum):
    """Kinds of modules that the bench distinguishes."""

    CONGESTION = "congestion control"
    QDISC = "qdisc"
    OTHER = "module"


@dataclass(frozen=True)
class Subject:
    """What the user named: its folder, the relevant files, and the modules that it builds.

    `kbuild` is the text of a Kbuild file that the folder lacks. The folder `suites` has KUnit's tests of files.
    """

    path: Path
    folder: Path
    files: tuple[Path, ...]
    modules: tuple[str, ...]
    kbuild: str | None = None
    suites: Path | None = None

    def copy(self, to: Path, tested: bool = False) -> None:
        """Copy the files to a folder, in which they are built; leave those alone that are the same there. The suites of
        those that are `tested` are compiled as their last part, so that they may call static functions."""
        for file in self.files:
            target, content = to / file.relative_to(self.folder), file.read_bytes()
            if tested and (suite := self.suite_of(file)):
                content += f'\n#include "{suite}"\n'.encode()
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_file() or target.read_bytes() != content:
                target.write_bytes(content)
        if self.kbuild:
            (to / "Kbuild").write_text(self.kbuild)

    def suite_of(self, file: Path) -> Path | None:
        """Return the suite of a C file: it has the same path in its folder."""
        suite = self.suites / file.relative_to(self.folder) if self.suites and file.suffix == ".c" else None
        return suite if suite and suite.is_file() else None


@dataclass(frozen=True)
class Module:
    """A built module: its name in the kernel, its file, its kind, and the names of the modules that it needs. Those of
    the same folder come `before` it. A qdisc has a name, and may have classes, which its user makes, and options that
    it cannot be without, in hex."""

    name: str
    path: Path
    kind: Kind
    needs: tuple[str, ...] = ()
    qdisc: str | None = None
    classful: bool = False
    options: str = ""
    before: tuple[Module, ...] = ()


def find(path: Path, module: str | None = None) -> Subject:
    """Return the subject at a path; `module` selects one of several. Raises Misuse if there is none, or Failure."""
    whole = Path(os.path.abspath(path))
    if path.is_dir():
        folder, names, kbuild = whole, built_by(whole), None
        files = modules.sources(whole)
        if not any(file.suffix == ".c" for file in files):
            raise Misuse(f"{path}: there is no C file in it; give the folder of the module's source")
    elif path.is_file() and path.suffix == ".c":
        folder, names, kbuild = whole.parent, [path.stem], f"obj-m := {path.stem}.o\n"
        files = [whole, *sorted(folder.glob("*.h"))]
    else:
        raise Misuse(f"{path}: neither a folder nor a C file" if path.exists() else f"there is no {path}")
    names = [kernels_name(name) for name in names]
    if module and kernels_name(module) not in names:
        raise Misuse(f"{path} builds no module {module!r}; it builds: {', '.join(names)}")
    picked = [kernels_name(module)] if module else names
    return Subject(path, folder, tuple(files), tuple(picked), kbuild)


def with_suites(subject: Subject, folder: Path) -> Subject:
    """Return the subject with the suites of KUnit in a folder. Raises Misuse if there are none."""
    tested = replace(subject, suites=Path(os.path.abspath(folder)))
    if any(map(tested.suite_of, tested.files)):
        return tested
    raise Misuse(f"{folder}: no C file there has the path of one in {subject.folder}; {folder}/x.c tests x.c")


def kernels_name(name: str) -> str:
    return name.replace("-", "_")


def built_by(folder: Path) -> list[str]:
    """Return the modules that a folder builds. Raises Misuse if there are none."""
    description = next((folder / name for name in modules.DESCRIPTIONS if (folder / name).is_file()), None)
    if description is None:
        raise Misuse(f"{folder}: neither a Kbuild file nor a Makefile is there; name the C file if there is only one")
    packages.ensure(packages.Group.MODULE)
    variables = ["KERNELRELEASE=6.12.0", f"KBUILD_EXTMOD={folder}", f"src={folder}", f"obj={folder}"]
    asked = subprocess.run(
        ["make", "-s", "--no-print-directory", "-C", str(folder), "-f", "-", *variables, "dcflab-obj-m"],
        input=ASK.format(description.name), capture_output=True, text=True,
    )  # fmt: skip
    if asked.returncode:
        raise Misuse(f"{description}: make does not understand it: {asked.stderr.strip().splitlines()[-1]}")
    objects = asked.stdout.split()
    below = [name for entry in objects if entry.endswith("/") for name in built_by(folder / entry)]
    if found := [entry.removesuffix(".o") for entry in objects if entry.endswith(".o")] + below:
        return found
    raise Misuse(f"{description}: it builds no module: obj-m is empty; write obj-m := NAME.o")


def examine(path: Path, sources: Iterable[Path] = ()) -> Module:
    """Read a built module. The qdisc's name comes from its alias, or else its sources, or its own name."""
    content = path.read_bytes()
    info: dict[str, list[str]] = {}
    for key, value in INFO.findall(content):
        info.setdefault(key.decode(), []).append(value.decode(errors="replace"))
    name = info.get("name", [kernels_name(path.stem)])[0]
    kind = next((Kind(kind) for call, kind in REGISTER.items() if call + b"\0" in content), Kind.OTHER)
    needs = tuple(filter(None, info.get("depends", [""])[0].split(",")))
    qdisc = qdisc_name(name, info.get("alias", []), sources) if kind is Kind.QDISC else None
    return Module(name, path, kind, needs, qdisc, CLASSES in content)


def qdisc_name(module: str, aliases: Iterable[str], sources: Iterable[Path]) -> str:
    """Return the name that `tc` uses for the qdisc of a module."""
    named = [alias.removeprefix("net-sch-") for alias in aliases if alias.startswith("net-sch-")]
    texts = (source.read_text(errors="replace") for source in sources if source.suffix == ".c")
    read = [match[1] for text in texts if (match := QDISC_ID.search(text))]
    return [*named, *read, module.removeprefix("sch_")][0]


def in_order(built: Mapping[str, Module], name: str) -> list[Module]:
    """Return a module, preceded by the modules of the same folder that it needs."""
    before = [module for need in built[name].needs if need in built for module in in_order(built, need)]
    return list(dict.fromkeys([*before, built[name]]))
