# SPDX-License-Identifier: BSD-3-Clause
"""The Python environment: a virtual environment with exactly what requirements.lock names, each file checked by hash.

The launcher looks for `venv-*-KEY` by itself, where KEY is the start of the lock file's SHA-256, so that a second use
costs no Python before the real one. The environment's interpreter is named by its version (/usr/bin/python3.11): when
the system's Python is replaced by another, the link dangles, and the launcher asks for a new environment.

A wheel has no lock file (`wheel`): whoever installed it made the environment, and it is looked at, but never changed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from emulation.setup import cache, packages
from emulation.setup.errors import SetupError, say

KIND = "venv"  # for which the launcher looks
PYTHON = "bin/python"
SHOWN = 12  # lines of what pip says


def name(lock_file: Path, kind: str = KIND) -> str:
    """The name of the environment's cache entry."""
    return f"{kind}-python{sys.version_info[0]}.{sys.version_info[1]}-{cache.digest(lock_file)[:16]}"


def is_ours(lock_file: Path) -> bool:
    """Whether this program makes its environment itself, as a checkout and a Debian package do."""
    return lock_file.exists()


def obtain(lock_file: Path, thoroughly: bool = False, kind: str = KIND) -> Path:
    """The environment's interpreter; the environment is made if it is not there. One that is not the program's own has
    another kind. Raises SetupError."""
    if not is_ours(lock_file):
        raise SetupError(f"{lock_file.name} is not here, of which an environment is made: this takes a checkout")
    entry = name(lock_file, kind)
    python = cache.obtain(entry, lambda folder: build(folder, lock_file, entry), thoroughly) / PYTHON
    if not thoroughly and not os.access(python, os.X_OK):  # of an environment whose manifest does not name it
        return obtain(lock_file, thoroughly=True, kind=kind)
    return python


def build(folder: Path, lock_file: Path, entry: str) -> Iterable[str]:
    """Make the environment in a folder that will be renamed to its entry; returns its key files. Raises SetupError."""
    packages.ensure(packages.Group.ENVIRONMENT)
    whose = "" if entry.startswith(KIND) else f" for {entry.partition('-')[0]}"
    say(f"making the Python environment{whose}; this happens once, and takes half a minute")
    python = folder / PYTHON
    run([os.path.realpath(sys._base_executable), "-m", "venv", str(folder)])  # type: ignore[attr-defined]
    options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "--no-input"]
    run([str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", *options, "-r", str(lock_file)])
    run([str(python), "-m", "compileall", "-q", "-j", "0", str(folder / "lib")], must=False)
    move(folder, folder, folder.parent / entry)
    beginnings = (f"lib/python*/site-packages/{each}" for each in ("*/RECORD", "*/__init__.py", "*.py"))
    found = (file for pattern in beginnings for file in folder.glob(pattern))
    return [PYTHON, "pyvenv.cfg", *(str(file.relative_to(folder)) for file in found)]


def move(folder: Path, here: Path, there: Path) -> None:
    """Let its programs, if it has any, know that it will not be here but there."""
    for script in folder.glob("bin/*"):
        if not script.is_symlink() and bytes(here) in (text := script.read_bytes()):
            script.write_bytes(text.replace(bytes(here), bytes(there)))


def run(command: list[str], must: bool = True) -> None:
    """Run a command; raises SetupError with the end of its output if it fails and must not."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if must and done.returncode:
        output = (done.stdout + done.stderr).splitlines()
        raise SetupError("cannot make the Python environment; pip needs the network for it", output[-SHOWN:])


def mend(lock_file: Path, thoroughly: bool, lacking: str) -> None:
    """Start this program again in a sound environment if this one is damaged, else return. One that is not of the cache
    is looked at only `thoroughly`, when it lacks something: a module of this name, if that is known. Raises SetupError,
    also if it is not for us to mend."""
    here = Path(sys.prefix)
    if not is_ours(lock_file):
        module = lacking.partition(".")[0]
        if wanted := [each for each in missing(lock_file) if package(each) == module]:
            raise SetupError(f"this needs {module}, which is not installed. Install it, and try again:\n"
                             f"  {pip(wanted)}")  # fmt: skip
        return
    ours = (here / cache.MANIFEST).is_file()
    if (ours or thoroughly) and cache.inspect(here, thoroughly)[0] is cache.State.DAMAGED:
        python = obtain(lock_file, thoroughly=True)
        os.execv(python, [str(python), *sys.orig_argv[1:]])


def requirements(lock_file: Path) -> list[str]:
    """What a wheel's program asks for, its extra included, as pip is told."""
    import tomllib

    project = tomllib.loads(lock_file.with_name("pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["all"]]


def package(requirement: str) -> str:
    """The package that a requirement is for; all of ours are imported by that name."""
    return re.split(r"[^\w-]", requirement, maxsplit=1)[0]


def missing(lock_file: Path) -> list[str]:
    """The requirements that this environment does not meet, as far as a package is not there at all."""
    return [each for each in requirements(lock_file) if importlib.util.find_spec(package(each)) is None]


def pip(wanted: Iterable[str]) -> str:
    """What a person types to install these requirements in this environment; those that uv makes have no pip."""
    command = [sys.executable, "-m", "pip", "install"]
    if importlib.util.find_spec("pip") is None:
        command = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*command, *wanted])
