# SPDX-License-Identifier: BSD-3-Clause
"""Lanes: a lane is a Linux kernel with mac80211_hwsim, and a clock; here is the host's side of each.

A lane is one module of this folder that holds `LANE`: `virtual` boots User-Mode Linux in virtual time. To put the file
here is all it takes to add one; one of the user's own is named by its path (docs/plugins/lane.md). What runs inside a
lane, in whichever, is `emulation.lane`.
"""

from __future__ import annotations

import enum
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

CHECKOUT = Path(__file__).resolve().parents[2]
ROAD = (CHECKOUT / "emulation" / "lane", CHECKOUT / "traffic")  # what runs inside a lane, whatever it runs
INSIDE = (*ROAD, *sorted(CHECKOUT.glob("emulation/features/*/inside")))  # that, and what features have there
PACKAGES = tuple(CHECKOUT / f"{name}/__init__.py" for name in ("emulation", "emulation/features"))  # around these
DEFAULT = "virtual"


class Clock(enum.StrEnum):
    """What a lane's time is: `virtual` stands still while anything is computed, and leaps while all wait."""

    VIRTUAL = "virtual"
    REAL = "real"


class Reason(enum.Enum):
    """Why a lane did not end well."""

    NOT_STARTED = "the lane's kernel did not start"
    MEMORY = "the lane has no memory left"
    CRASHED = "the lane's kernel crashed"
    KILLED = "the lane's kernel was killed"
    WALL_LIMIT = "the run took too long"
    STILL = "the run hangs"
    DISK_FULL = "the disk is full"
    INTERRUPTED = "interrupted"
    PROGRAM = "the program in the lane failed"
    LATE = "the run is not valid"
    MISUSE = "what the program in the lane asked for cannot be"
    NOT_TAKEN_BACK = "what the lane has left cannot be made harmless"


class Ended(KeyboardInterrupt):
    """The program was told to end, by SIGTERM or SIGHUP: what a prompt takes Ctrl-C for is not meant."""


class LaneError(Exception):
    """A lane that did not end well: its `reason`, a sentence, and the last lines of its console."""

    def __init__(self, reason: Reason, detail: str = "", console: Sequence[str] = ()) -> None:
        super().__init__(reason, detail, console)  # all of it: workers send it through a pipe
        self.reason, self.detail, self.console = reason, detail, tuple(console)

    @property
    def code(self) -> str:
        """For programs: `lane-` and the reason's name."""
        return f"lane-{self.reason.name}".lower().replace("_", "-")

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value


@dataclass(frozen=True)
class LaneResult:
    """How a program ended in the lane: its exit status, the wall time from boot to power-off, what was around it so
    that it could not reach this machine, whether its seed decided all that happened (then it happens again), and how
    long it waited for a CPU, which matters in real time only."""

    status: int
    wall_s: float
    barriers: Sequence[str] = ()
    repeatable: bool = True
    waited_s: float = 0.0


@dataclass
class Listener:
    """What the caller hears of while a lane runs; each is called in the caller's thread.
    `line` gets each line that the program prints (without its end), `progress` the done fraction and the air time in
    seconds, `ask` a prompt whose answer it returns (None: no more input; so it is, too, where nobody can be asked).
    Virtual time stands still while it thinks.
    `words` are what can be completed at the prompt: those that may follow each first word; "" has the first words.
    `capture` is asked for a file of the trace so far, which the subfolder of a run has, in ns of the lane's clock.
    `started` says that the lane boots: what the caller needs later may be loaded meanwhile.
    """

    line: Callable[[str], None] = print
    progress: Callable[[float, float], None] = lambda done, air_s: None
    ask: Callable[[str], str | None] | None = None
    words: Callable[[Mapping[str, Sequence[str]]], None] = lambda words: None
    capture: Callable[[str, str, int], None] = lambda run, file, now_ns: None
    started: Callable[[], None] = lambda: None


class Lane(Protocol):
    """Where a program runs: in a kernel of its own, which has the run folder and ends with the program."""

    @property
    def name(self) -> str: ...

    def run(
        self,
        kernel: Path,
        modules: Mapping[str, Path],
        run_folder: Path,
        command: Sequence[str],
        *,
        seed: int = 1,
        wall_limit_s: float | None = None,
        listener: Listener | None = None,
        plugins: Sequence[Path] = (),
        memory_mb: int | None = None,
    ) -> LaneResult:
        """Boot a lane, run one program in it, and return how it ended.

        `modules` are kernel modules by name; all are loaded before the program starts, save dcf80211, which the network
        loads when it is built. `command` is `plan` (runs plan.json of the run folder, and leaves what
        docs/interfaces.md, section 2, says), `script PATH ARGUMENTS…` (a user's Python script), or `shell PATH
        ARGUMENTS…` (the same, with a prompt in each network that it starts). The run folder must exist, and is all that
        the program can write to. `wall_limit_s` limits the wall time, prompts included. `plugins` are folders of the
        user's own, which the program sees, too. `memory_mb` is what its network takes; None: what is usual. Raises
        LaneError, and OSError if the run folder is unusable.
        """
        ...


def stock(lane: Lane) -> str | None:
    """Which of the distribution's kernels a lane boots: a release or a path, "" for the latest; None: the lab's own."""
    return getattr(lane, "stock", None)


def clock(lane: Lane) -> Clock:
    return getattr(lane, "clock", Clock.VIRTUAL)


def refusal(lane: Lane) -> str:
    """Why a lane cannot be had here and now; empty if it can, as far as is known beforehand."""
    refused: Callable[[], str] | None = getattr(lane, "refusal", None)
    return refused() if refused else ""


def memory_of(plan: Mapping[str, Any]) -> dict[str, int]:
    """What a lane is told of a plan whose network takes more memory than is usual."""
    return {"memory_mb": plan["memory"]["lane_mb"]} if "memory" in plan else {}


def allows_late(lane: Lane) -> bool:
    """Whether runs are kept that are not valid, as the lane did not keep time."""
    return getattr(lane, "allow_late", False)


def ready(lane: Lane, kernel: Path) -> tuple[Lane, str]:
    """The lane, with what has to be found out of this machine only once; and what there is to be said of it."""
    find_out: Callable[[Path], tuple[Lane, str]] | None = getattr(lane, "ready", None)
    return find_out(kernel) if find_out else (lane, "")


def settings_of(lane: Lane) -> set[str]:
    """The names of a lane's settings."""
    return {field.name for field in fields(lane)} - {"name"} if is_dataclass(lane) else set()


def with_settings(lane: Lane, settings: Mapping[str, Any]) -> Lane:
    """The same lane with other settings, by their names. Raises ValueError for one that it has not."""
    if other := settings.keys() - settings_of(lane):
        raise ValueError(f"the lane {lane.name} has no choice of {' and '.join(sorted(other))}")
    found: Any = lane
    return cast(Lane, replace(found, **settings)) if settings else lane


def names() -> list[str]:
    """The lanes there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@contextmanager
def mistakes(lane: Lane) -> Iterator[None]:
    """What goes wrong in a lane of the user's own becomes LaneError, with the line."""
    module = sys.modules.get(type(lane).__module__)
    if module is None or not module.__name__.startswith("own "):
        yield
        return
    from topologies.files import own_mistakes  # which takes the environment, that this file does without

    with own_mistakes(Path(str(module.__file__)), partial(LaneError, Reason.PROGRAM), (LaneError, OSError)):
        yield


def find(name: str) -> Lane:
    """The lane of this name; or in this file, if it is a path that ends in .py. Raises ValueError if there is none."""
    if name.endswith(".py"):
        from topologies.files import load

        return cast(Lane, load(name, "lane", {"LANE": (lambda found: hasattr(found, "run"), "has no run")}).LANE)
    if name not in names():
        raise ValueError(f"there is no lane {name!r}; there are: {', '.join(names())}")
    return cast(Lane, importlib.import_module(f"{__name__}.{name}").LANE)
