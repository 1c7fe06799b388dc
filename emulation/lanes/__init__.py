# SPDX-License-Identifier: BSD-3-Clause
"""Lanes: a lane is a Linux kernel with mac80211_hwsim, and a clock. This package is the host's side.

A lane is a module of this package that defines `LANE`: `virtual` boots User-Mode Linux in virtual time. To add a lane,
add a file here; a user names a file of their own by its path (docs/plugins.md). `emulation.lane` has the code that
runs inside every lane.
"""

import enum
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

Found = TypeVar("Found")
CHECKOUT = Path(__file__).resolve().parents[2]
IN_EVERY_LANE = (CHECKOUT / "emulation" / "lane", CHECKOUT / "traffic")  # the code inside a lane, for every run
INSIDE = (*IN_EVERY_LANE, *sorted(CHECKOUT.glob("emulation/features/*/inside")))  # with that of features
PACKAGES = tuple(CHECKOUT / f"{name}/__init__.py" for name in ("emulation", "emulation/features"))  # packages above
DEFAULT = "virtual"


class Clock(enum.StrEnum):
    """A lane's clock: `virtual` time stops during computation, and jumps ahead while all programs wait."""

    VIRTUAL = "virtual"
    REAL = "real"


class Reason(enum.Enum):
    """Reasons for which a lane fails."""

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
    MISUSE = "the program in the lane asked for something impossible"
    NOT_TAKEN_BACK = "the lane's files cannot be made harmless"


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP ended the program. A prompt must not treat it like Ctrl-C."""


class LaneError(Exception):
    """A lane failed: `reason`, `detail`, and the last lines of its `console`."""

    def __init__(self, reason: Reason, detail: str = "", console: Sequence[str] = ()) -> None:
        super().__init__(reason, detail, console)  # all arguments, for pickling: workers send it through a pipe
        self.reason, self.detail, self.console = reason, detail, tuple(console)

    @property
    def code(self) -> str:
        """Return the error code for programs: `lane-` and the reason's name."""
        return f"lane-{self.reason.name}".lower().replace("_", "-")

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value


@dataclass(frozen=True)
class LaneResult:
    """The end of a program in a lane.

    `status` is its exit status, `wall_s` the wall time from boot to power-off, and `barriers` what confined it.
    `repeatable` is true if the seed determined everything. `waited_s` is how long it waited for a CPU, which matters in
    real time only.
    """

    status: int
    wall_s: float
    barriers: Sequence[str] = ()
    repeatable: bool = True
    waited_s: float = 0.0


@dataclass
class Listener:
    """The caller's callbacks while a lane runs; they are called in the caller's thread.

    `line` gets each line that the program prints, without its end.
    `progress` gets the fraction done and the elapsed lane time in seconds.
    `ask` gets a prompt and returns the answer (None: no more input; so too if nobody can be asked). Virtual time stops
    meanwhile.
    `words` gets the completions at the prompt: the words that may follow each first word; "" has the first words.
    `capture` gets a run's subfolder, a file for its trace so far, and the time in ns of the lane's clock.
    `started` is called when the lane boots: the caller can load code for later.
    """

    line: Callable[[str], None] = print
    progress: Callable[[float, float], None] = lambda done, air_s: None
    ask: Callable[[str], str | None] | None = None
    words: Callable[[Mapping[str, Sequence[str]]], None] = lambda words: None
    capture: Callable[[str, str, int], None] = lambda run, file, now_ns: None
    started: Callable[[], None] = lambda: None


class Lane(Protocol):
    """A kernel that runs one program, has the run folder, and ends with the program."""

    @property
    def name(self) -> str: ...

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *, seed: int = 1,
        wall_limit_s: float | None = None, listener: Listener | None = None, plugins: Sequence[Path] = (),
        memory_mb: int | None = None, options: Mapping[str, str] | None = None,
    ) -> LaneResult:  # fmt: skip
        """Boot a lane, run a program in it, and return how it ended.

        `modules` are kernel modules by name. All are loaded before the program starts, except dcf80211, which the
        network loads when it is built. `command` is `plan`, `script PATH ARGUMENTS…` or `shell PATH ARGUMENTS…`. `plan`
        runs plan.json of the run folder and leaves the files of docs/interfaces.md, section 2. `script` runs a user's
        Python script; `shell` does the same with a prompt in each network that it starts.

        The run folder must exist; the program can write to nothing else. `wall_limit_s` limits the wall time, including
        prompts, without the time that the lane waits for a CPU. `plugins` are the user's folders, which the program
        also sees. `memory_mb` is the memory of its network; None: the default. `options` are those of features for a
        script, by their names. Raises LaneError, or OSError if the run folder is not usable.
        """
        ...


def stock(lane: Lane) -> str | None:
    """Return the distribution's kernel that a lane boots: a release or a path, "" for the latest; None: the lab's."""
    return getattr(lane, "stock", None)


def clock(lane: Lane) -> Clock:
    return getattr(lane, "clock", Clock.VIRTUAL)


def refusal(lane: Lane) -> str:
    """Return why a lane cannot run on this machine, as far as is known before it starts; empty if it can."""
    refused: Callable[[], str] | None = getattr(lane, "refusal", None)
    return _ask(lane, refused, str) if refused else ""


def memory_arguments(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lane's arguments for a plan whose network needs more memory than the default."""
    return {"memory_mb": plan["memory"]["lane_mb"]} if "memory" in plan else {}


def allows_late(lane: Lane) -> bool:
    """Return whether invalid runs are kept, in which the lane was late."""
    return getattr(lane, "allow_late", False)


def ready(lane: Lane, kernel: Path) -> tuple[Lane, str]:
    """Return the lane, completed with facts about this machine that are determined once, and a note for the user."""
    find_out: Callable[[Path], tuple[Lane, str]] | None = getattr(lane, "ready", None)
    return _ask(lane, find_out, tuple, kernel) if find_out else (lane, "")


def run(lane: Lane, *given: Any, **named: Any) -> LaneResult:
    """Run a program in a lane, as `Lane.run` does. Raises LaneError also for mistakes in a user's own lane."""
    with as_lane_error(lane):
        return _ask(lane, lane.run, LaneResult, *given, **named)


def settings_of(lane: Lane) -> set[str]:
    return {field.name for field in fields(lane)} - {"name"} if is_dataclass(lane) else set()


def with_settings(lane: Lane, settings: Mapping[str, Any]) -> Lane:
    """Return the lane with other settings. Raises ValueError if it lacks one of them."""
    if other := settings.keys() - settings_of(lane):
        raise ValueError(f"the lane {lane.name} has no setting {' and '.join(sorted(other))}")
    found: Any = lane
    return cast(Lane, replace(found, **settings)) if settings else lane


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def _is_own(lane: Lane) -> bool:
    """Return whether a lane is the user's."""
    return type(lane).__module__.startswith("own ")


def _ask(lane: Lane, function: Callable[..., Found], kind: type[Found], *given: Any, **named: Any) -> Found:
    """Call a function of a lane. Raises LaneError if a user's own takes other arguments, or returns something else."""
    if not _is_own(lane):
        return function(*given, **named)
    from topologies.files import Mistake, ask, is_a  # needs the environment, which this file does not

    try:
        found: Found = ask(function, is_a(kind), *given, **named)
    except Mistake as error:
        raise LaneError(Reason.PROGRAM, str(error)) from None
    return found


@contextmanager
def as_lane_error(lane: Lane) -> Iterator[None]:
    """Convert errors in a user's own lane to LaneError, with file and line."""
    if not _is_own(lane):
        yield
        return
    from topologies.files import own_mistakes

    file = Path(str(sys.modules[type(lane).__module__].__file__))
    with own_mistakes(file, partial(LaneError, Reason.PROGRAM), (LaneError, OSError)):
        yield


def _lacks(found: Any) -> str:
    """Say what is wrong with a user's lane; empty if nothing is."""
    if isinstance(found, type):
        return "is not an object, but a class: make one, as in LANE = Mine()"
    wanted: dict[str, Any] = {
        "run": Callable, "name": str, "stock": str | None, "clock": Clock, "refusal": Callable, "ready": Callable,
    }  # fmt: skip
    for name, kind in wanted.items():
        if hasattr(found, name) and not isinstance(getattr(found, name), kind):
            return f"has a wrong {name}: {getattr(found, name)!r}"
        if not hasattr(found, name) and name in ("run", "name"):
            return f"has no {name}"
    return ""


def find(name: str) -> Lane:
    """Return the lane of this name, or of this file if it ends in .py. Raises ValueError if there is none."""
    if name.endswith(".py"):
        from topologies.files import load

        return cast(Lane, load(name, "lane", {"LANE": _lacks}).LANE)
    if name not in names():
        raise ValueError(f"there is no lane {name!r}; there are: {', '.join(names())}")
    return cast(Lane, importlib.import_module(f"{__name__}.{name}").LANE)
