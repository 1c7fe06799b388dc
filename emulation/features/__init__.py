# SPDX-License-Identifier: BSD-3-Clause
"""Features: what one can do with networks and runs beside running them. Each is a folder here: it is found by being
there, and to remove the folder removes it. The rest of the program is the road that every run takes; it names none.

A feature may have

    commands/NAME.py    a command: `COMMAND`, and a docstring that begins with what it is for; commands/NAME/ is a group
    of_runs.py          options of all that plays runs, and what follows the runs (emulation.cli.playing); the same for
                        a script's (`Net.after`); and the page that a command makes of a run, for the report
    of_files.py         kinds of files that `run` and `shell` take (emulation.cli.groups)
    of_scripts.py       options of commands that run a script: `OPTIONS` (emulation.cli.script)
    of_networks.py      what scripts have of it (emulation.net)
    media/NAME.py       a medium beside the project's own air: its plan, and a check of what it needs (emulation.plan)
    of_benchmarks.py    what `bench` runs of the folder `benchmarks`, with a line of help: `BENCHMARKS`
    of_setup.py         groups of packages for `setup`, kernels for `package`, and `checks` of the doctor: `GROUPS`,
                        `KERNELS`; it imports the standard library, `emulation.setup` and itself
    inside/             what of it runs inside a lane: it imports the standard library, `emulation.lane`, `traffic` and
                        itself
    packages.py         packages that scripts import by names of their own, as `mininet`: `install()`

A lane loads this file, too, so it imports the standard library only.
"""

from __future__ import annotations

import importlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

HERE = os.path.dirname(os.path.abspath(__file__))


def names() -> list[str]:
    """Return the names of all features."""
    return sorted(name for name in os.listdir(HERE) if os.path.isfile(os.path.join(HERE, name, "__init__.py")))


def parts(part: str, of: Sequence[str] | None = None) -> Iterator[ModuleType]:
    """This part of each feature, or of each of these, that has it."""
    for name in names():
        if (of is None or name in of) and os.path.isfile(os.path.join(HERE, name, f"{part}.py")):
            yield importlib.import_module(f"{__name__}.{name}.{part}")


def media() -> dict[str, str]:
    """The modules of the features' media, by the media's names."""
    found = {}
    for name in names():
        folder = os.path.join(HERE, name, "media")
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if entry.endswith(".py") and entry != "__init__.py":
                module = entry.removesuffix(".py")
                found[module.replace("_", "-")] = f"{__name__}.{name}.media.{module}"
    return found


def medium(name: str) -> ModuleType:
    """Return a medium. Raises KeyError if no feature has it."""
    return importlib.import_module(media()[name])


def commands() -> dict[str, str]:
    """The files of the features' commands, by the commands' names; of a group it is the group's own file."""
    found = {}
    for name in names():
        folder = os.path.join(HERE, name, "commands")
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            inner = os.path.join(folder, entry, "__init__.py")
            if entry.endswith(".py") and entry != "__init__.py":
                found[entry.removesuffix(".py")] = os.path.join(folder, entry)
            elif os.path.isfile(inner):
                found[entry] = inner
    return found
