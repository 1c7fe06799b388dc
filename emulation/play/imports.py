# SPDX-License-Identifier: BSD-3-Clause
"""Which modules of the checkout a program loads, at any time, found without running it: what its results hang on.

Whoever imports a module loads it and the packages around it; and who names it in a command runs it. A package that
looks for its modules by their names, as those of plug-ins do, loads all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from emulation.lanes import CHECKOUT, INSIDE

FIRST = "emulation.lane.init"  # what a lane starts
# Of what a lane left; the rest is in `analysis`.
MAKE_RUNS = tuple(f"emulation.play.{name}" for name in ("finished", "player", "run", "traces"))
IMPORT = re.compile(r"\n[ \t]*(?:from +([\w.]+) +import +(\([^)]*\)|.+)|import +(.+))$", re.MULTILINE)
WORD = re.compile(r"[\w.]+")
RUN = re.compile(r"[\"/]((?:emulation|traffic)(?:[./]\w+)+)")
BY_NAME = "plugins.find(__name__"


def of_a_run(*others: str) -> dict[str, Path]:
    """What is loaded inside a lane that runs a plan, whatever is in it; and these, if the plan names them."""
    return reached([FIRST, *others], modules(*INSIDE))


def of_its_result() -> dict[str, Path]:
    """What makes a `Run` of what a lane left."""
    there = modules(CHECKOUT / "analysis", CHECKOUT / "emulation/files", CHECKOUT / "emulation/play")
    own = {name: file for name, file in there.items() if not name.startswith("emulation.play.") or name in MAKE_RUNS}
    return reached(MAKE_RUNS, own)


def modules(*folders: Path) -> dict[str, Path]:
    """All in these folders of the checkout, by name."""
    found = {}
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        parts = file.relative_to(CHECKOUT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def reached(roots: Iterable[str], among: Mapping[str, Path]) -> dict[str, Path]:
    """Those among some modules that these load, themselves included, in order."""
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
    """What a module's text imports, or runs as a program: of `from a import b` both `a` and `a.b`."""
    for module, names, plain in IMPORT.findall(f"\n{text}"):
        yield from [module, *(f"{module}.{name}" for name in WORD.findall(names))] if module else WORD.findall(plain)
    for program in RUN.findall(text):
        name = program.removesuffix(".py").replace("/", ".")
        yield from (name, f"{name}.__main__")
