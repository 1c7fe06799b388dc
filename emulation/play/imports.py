# SPDX-License-Identifier: BSD-3-Clause
"""Find which modules of the checkout a program loads at any time, without running it: its results depend on them.

Importing a module loads it and its packages; naming it in a command runs it. A package that finds its modules by name,
as plug-ins do, loads all of them.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from emulation.lanes import CHECKOUT, INSIDE, Lane

LANES = CHECKOUT / "emulation/lanes"
FIRST = "emulation.lane.init"  # what a lane starts
# These read what a lane left; the rest is in `analysis`.
MAKE_RUNS = tuple(f"emulation.play.{name}" for name in ("finished", "player", "run", "traces"))
IMPORT = re.compile(r"\n[ \t]*(?:from +([\w.]+) +import +(\([^)]*\)|.+)|import +(.+))$", re.MULTILINE)
WORD = re.compile(r"[\w.]+")
RUN = re.compile(r"[\"/]((?:emulation|traffic)(?:[./]\w+)+)")
BY_NAME = "plugins.find(__name__"


def modules_of_run(*others: str) -> dict[str, Path]:
    """Return the modules that a lane loads to run any plan, and `others`, which the plan names."""
    return reachable([FIRST, *others], modules(*INSIDE))


def modules_of_lane(lane: Lane) -> dict[str, Path]:
    """Return the host's modules that boot a lane; a user's file that does is one of them."""
    name = type(lane).__module__
    return reachable([name], {**modules(LANES), name: Path(str(sys.modules[name].__file__))})


def modules_of_result() -> dict[str, Path]:
    """Return the modules that make a `Run` from what a lane left."""
    there = modules(CHECKOUT / "analysis", CHECKOUT / "emulation/files", CHECKOUT / "emulation/play")
    own = {name: file for name, file in there.items() if not name.startswith("emulation.play.") or name in MAKE_RUNS}
    return reachable(MAKE_RUNS, own)


def modules(*folders: Path) -> dict[str, Path]:
    """Return all modules in these folders of the checkout, by name."""
    found = {}
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        parts = file.relative_to(CHECKOUT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def reachable(roots: Iterable[str], among: Mapping[str, Path]) -> dict[str, Path]:
    """Return which of these modules the roots load, including the roots, sorted by name."""
    waiting, found = list(roots), set[str]()
    while waiting:
        name = waiting.pop()
        if name in among and name not in found:
            found.add(name)
            text = among[name].read_text()
            waiting += [name.rpartition(".")[0], *imported(text)]
            if BY_NAME in text:
                waiting += [other for other in among if other.rpartition(".")[0] == name]
    return {name: among[name] for name in sorted(found)}


def imported(text: str) -> Iterator[str]:
    """Yield what a module's text imports, or runs as a program; `from a import b` yields both `a` and `a.b`."""
    for module, names, plain in IMPORT.findall(f"\n{text}"):
        yield from [module, *(f"{module}.{name}" for name in WORD.findall(names))] if module else WORD.findall(plain)
    for program in RUN.findall(text):
        name = program.removesuffix(".py").replace("/", ".")
        yield from (name, f"{name}.__main__")
