# SPDX-License-Identifier: BSD-3-Clause
"""A lab: the lane in which runs take place, and what goes into it. A run's trace hangs on nothing else but its plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from emulation import lanes
from emulation.lane.guest import AIR_MODULE
from emulation.lanes import INSIDE, Lane
from emulation.plan import PlanError

KERNEL, PROGRAMS, PLAN = "kernel", "inside", "plan"  # in `Run.made_of`, beside names of modules and folders of plug-ins


@dataclass(frozen=True)
class Lab:
    """The kernel, modules by name, and the lane that boots them."""

    kernel: Path
    modules: Mapping[str, Path]
    lane: Lane = field(default_factory=lambda: lanes.find(lanes.DEFAULT))

    def chosen(self, names: Iterable[str]) -> dict[str, Path]:
        """The air's module, and these. Raises PlanError for one there is not."""
        if missing := next((name for name in names if name not in self.modules), None):
            raise PlanError(f"there is no kernel module {missing}; --modules FOLDER names one of your own")
        return {name: self.modules[name] for name in (AIR_MODULE, *names) if name in self.modules}

    @property
    def release(self) -> str:
        """The kernel's release; empty if it does not say."""
        told = self.kernel.parent / "include/config/kernel.release"
        return told.read_text().strip() if told.is_file() else ""

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Of each module, of the kernel, and of the programs that run in it."""
        modules = {name: digest([file]) for name, file in self.modules.items()}
        return {**modules, KERNEL: digest([self.kernel]), PROGRAMS: digest(programs(INSIDE))}

    def made_of(self, plan: Mapping[str, Any]) -> dict[str, str]:
        """What the trace of a run of this plan hangs on, by name: `Run.made_of`. Raises PlanError, as `chosen` does."""
        return {
            **{name: self.sha256[name] for name in (KERNEL, PROGRAMS, *self.chosen(plan["modules"]))},
            **{folder: digest(programs([Path(folder)])) for folder in plan["plugins"]},
            PLAN: hashlib.sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest(),
        }


def programs(folders: Iterable[Path]) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.rglob("*.py"))]


def digest(files: Iterable[Path]) -> str:
    """SHA-256 of what is in these files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
