# SPDX-License-Identifier: BSD-3-Clause
"""A lab: a lane and what is loaded into it. A run's trace depends on this and on its plan, and on nothing else."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from emulation import lanes
from emulation.lane import interfaces
from emulation.lane.errors import Misuse
from emulation.lane.guest import AIR_MODULE
from emulation.lanes import Lane
from emulation.play.imports import modules_of_lane, modules_of_run
from emulation.setup import cache, modules

HT_LINUX = "6.12"  # Kbuild of the air
# In `Run.made_of`, beside the names of modules and plug-in folders.
KERNEL, LANE, PROGRAMS, PLAN = "kernel", "lane", "inside", "plan"


@dataclass(frozen=True)
class Lab:
    """A kernel, modules by name, and the lane that boots them."""

    kernel: Path
    modules: Mapping[str, Path]
    lane: Lane = field(default_factory=lambda: lanes.find(lanes.DEFAULT))

    def select_modules(self, names: Iterable[str]) -> dict[str, Path]:
        """Return the air's module and these. Raises Misuse if one is unknown."""
        if missing := next((name for name in names if name not in self.modules), None):
            raise Misuse(f"there is no kernel module {missing}; --modules FOLDER names one of your own")
        return {name: self.modules[name] for name in (AIR_MODULE, *names) if name in self.modules}

    def check(self, plan: Mapping[str, Any]) -> None:
        """Raises Misuse if the plan names an unknown module, or an unknown parameter of one, or has radios for which
        this kernel has no driver."""
        self.select_modules(plan["modules"])
        if plan["air"] and plan["air"]["ht"] and self.release and not self.release.startswith(HT_LINUX):
            raise Misuse(
                f"mode: radios of 802.11n and later need Linux {HT_LINUX}; this lane's kernel is {self.release}"
            )
        for module, _, name in (parameter.partition(".") for parameter in plan["module_parameters"]):
            there = parameters_of(self.modules[module]) if module in self.modules else []
            if there and name not in there:
                raise Misuse(f"{module}: there is no parameter {name!r}; there are: {', '.join(there)}")

    @property
    def release(self) -> str | None:
        """The kernel's release; None if unknown."""
        release = self.kernel.parent / "include/config/kernel.release"
        return (release.read_text().strip() or None) if release.is_file() else None

    @cached_property
    def sha256(self) -> dict[str, str]:
        """SHA-256 of each module, of the kernel, of the programs that boot it, and of those that a run of any plan
        loads in the lane."""
        return {
            **{name: modules.digest(file) for name, file in self.modules.items()},
            KERNEL: cache.known_digest(self.kernel),
            LANE: digest(modules_of_lane(self.lane).values()),
            PROGRAMS: digest(modules_of_run().values()),
        }

    def made_of(self, plan: Mapping[str, Any]) -> dict[str, str]:
        """Return what the trace of a run of this plan depends on, by name (`Run.made_of`). Raises Misuse as
        `select_modules` does."""
        air = interfaces.on_air(plan) and not plan.get("medium")
        loaded = [name for name in self.select_modules(plan["modules"]) if air or name != AIR_MODULE]
        return {
            **{name: self.sha256[name] for name in (KERNEL, LANE, PROGRAMS, *loaded)},
            **({PROGRAMS: digest(modules_of_run(plan["medium"]["module"]).values())} if plan.get("medium") else {}),
            **{folder: digest(programs([Path(folder)])) for folder in plan["plugins"]},
            PLAN: hashlib.sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest(),
        }


def parameters_of(module: Path) -> list[str]:
    """Return a module's parameters, from the symbols of the kernel's macros; none if these were stripped."""
    return sorted(
        {name.decode() for name in re.findall(rb"\0__param_(?!str_|ops_|arr_|string_)(\w+)(?=\0)", module.read_bytes())}
    )


def programs(folders: Iterable[Path]) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.is_file()]


def digest(files: Iterable[Path]) -> str:
    """Return the SHA-256 of the contents of these files, one after the other."""
    found = hashlib.sha256()
    for file in files:
        with file.open("rb", buffering=0) as content:
            hashlib.file_digest(content, lambda: found)
    return found.hexdigest()
