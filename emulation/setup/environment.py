# SPDX-License-Identifier: BSD-3-Clause
"""Python environments: virtual environments with exactly what a lock file lists, each file checked by its hash.

There are two. The first use waits for the small one, `run-*-KEY`, with what every run loads (requirements-run.lock).
The full one, `venv-*-KEY`, has what any command loads, and the tests' tools (requirements.lock). A command that needs
it has it made and restarts in it; from then on, every command runs in it.

The launcher finds them itself: KEY is the start of the lock file's SHA-256, so no other Python has to start first. An
environment's interpreter has its version in its name (/usr/bin/python3.11). When the system's Python is replaced, the
link dangles, and the launcher asks for a new environment.

A wheel has no lock file (`wheel`): its installer made the environment, which is checked but never changed.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from emulation.setup import cache, packages
from emulation.setup.errors import SetupError, say
from emulation.setup.tools import end_with_us

WHOLE = "venv"  # the kind of the full environment
DESCRIPTIONS = {WHOLE: "with all packages", "run": "for runs"}  # of an environment, by its kind
TOOLS = r"/(pip|setuptools|pkg_resources|_distutils_hack)/"  # no command of ours loads these
PYTHON = "bin/python"
LOG_LINES = 12  # lines of pip's output


def kind(lock_file: Path) -> str:
    """Return the kind of the environment's cache entry: `run` for requirements-run.lock."""
    return lock_file.stem.partition("-")[2] or WHOLE


def name(lock_file: Path) -> str:
    return f"{kind(lock_file)}-python{sys.version_info[0]}.{sys.version_info[1]}-{cache.digest(lock_file)[:16]}"


def is_ours(lock_file: Path) -> bool:
    """Return whether this program makes its environment itself, as in a checkout and in a Debian package."""
    return lock_file.exists()


def obtain(lock_file: Path, thoroughly: bool = False) -> Path:
    """Return the environment's interpreter; make the environment if it is missing. Raises SetupError if that fails."""
    if not is_ours(lock_file):
        raise SetupError(
            f"{lock_file.name} is missing, but the Python environment is made from it; run this in a checkout"
        )
    entry = name(lock_file)
    python = cache.obtain(entry, lambda folder: build(folder, lock_file, entry), thoroughly) / PYTHON
    if not thoroughly and not os.access(python, os.X_OK):  # in an environment whose manifest does not name it
        return obtain(lock_file, thoroughly=True)
    return python


def build(folder: Path, lock_file: Path, entry: str) -> Iterable[str]:
    """Make the environment in a folder that will be renamed to its entry. Return its key files. Raises SetupError."""
    packages.ensure(packages.Group.ENVIRONMENT)
    which = DESCRIPTIONS.get(kind(lock_file), f"for {kind(lock_file)}")
    say(f"creating the Python environment {which}; this happens once")
    python = folder / PYTHON
    run([os.path.realpath(sys._base_executable), "-m", "venv", str(folder)])  # type: ignore[attr-defined]
    options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "--no-input"]
    run([str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", *options, "-r", str(lock_file)])
    run([str(python), "-m", "compileall", "-q", "-j", "0", "-x", TOOLS, str(folder / "lib")], must=False)
    move(folder, folder, folder.parent / entry)
    beginnings = (f"lib/python*/site-packages/{each}" for each in ("*/RECORD", "*/__init__.py", "*.py"))
    found = (file for pattern in beginnings for file in folder.glob(pattern))
    return [PYTHON, "pyvenv.cfg", *(str(file.relative_to(folder)) for file in found)]


def move(folder: Path, here: Path, there: Path) -> None:
    for script in folder.glob("bin/*"):
        if not script.is_symlink() and bytes(here) in (text := script.read_bytes()):
            script.write_bytes(text.replace(bytes(here), bytes(there)))


def run(command: list[str], must: bool = True) -> None:
    """Run a command. Raises SetupError with the end of its output if it fails and `must` is true."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", preexec_fn=end_with_us
    )
    if must and done.returncode:
        output = (done.stdout + done.stderr).splitlines()
        raise SetupError("cannot make the Python environment; pip needs the network for it", output[-LOG_LINES:])


def is_here(lock_file: Path) -> bool:
    """Return whether this program runs in this lock file's environment."""
    return is_ours(lock_file) and Path(sys.prefix).name == name(lock_file)


def repair(lock_file: Path, run_lock_file: Path, thoroughly: bool, missing_module: str) -> None:
    """Restart this program in a sound environment if this one is damaged; restart it in the full one if this is the one
    for runs and lacks the module `missing_module`; otherwise return. An environment outside the cache is checked only
    `thoroughly`, when something is missing. Raises SetupError, also if the environment is not ours to fix."""
    here, module = Path(sys.prefix), missing_module.partition(".")[0]
    if not is_ours(lock_file):
        if wanted := [each for each in missing(lock_file) if package(each) == module]:
            raise SetupError(f"this needs {module}, which is not installed. Install it, and try again:\n"
                             f"  {pip(wanted)}")  # fmt: skip
        return
    ours = (here / cache.MANIFEST).is_file()
    if (ours or thoroughly) and cache.inspect(here, thoroughly)[0] is cache.State.DAMAGED:
        restart(obtain(run_lock_file if is_here(run_lock_file) else lock_file, thoroughly=True))
    if module and is_here(run_lock_file) and importlib.util.find_spec(module) is None:
        say(f"this needs {module}, which the Python environment for runs does not have")
        restart(obtain(lock_file))


def restart(python: Path) -> NoReturn:
    """Restart this program with this interpreter."""
    os.execv(python, [str(python), *sys.orig_argv[1:]])


def requirements(lock_file: Path) -> list[str]:
    """Return a wheel's requirements, including its extra, in pip's form."""
    import tomllib

    project = tomllib.loads(lock_file.with_name("pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["all"]]


def package(requirement: str) -> str:
    """Return the package of a requirement; all of ours are imported by that name."""
    return re.split(r"[^\w-]", requirement, maxsplit=1)[0]


def missing(lock_file: Path) -> list[str]:
    """Return the requirements whose package is missing from this environment."""
    return [each for each in requirements(lock_file) if importlib.util.find_spec(package(each)) is None]


def pip(wanted: Iterable[str]) -> str:
    """Return the command that installs these requirements in this environment. Environments made by uv have no pip."""
    command = [sys.executable, "-m", "pip", "install"]
    if importlib.util.find_spec("pip") is None:
        command = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*command, *wanted])
