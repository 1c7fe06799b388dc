# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a lane's first process, one JSON object a line (`emulation.lane.guest`).

Root in the lane can write there, too. So a report is accepted only if it has the right form, and if that process sends
such reports for the command that it runs.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

LARGEST = 1e12  # limit of numbers that are shown
ALWAYS = ("barriers", "boot", "error", "exit")
OF_SCRIPTS = (*ALWAYS, "prompt", "capture", "words")  # a script may have a prompt
ALLOWED: Mapping[str, tuple[str, ...]] = {"plan": (*ALWAYS, "progress"), "script": OF_SCRIPTS, "shell": OF_SCRIPTS}


def text(said: object) -> bool:
    return isinstance(said, str)


def texts(said: object) -> bool:
    return isinstance(said, list) and all(map(text, said))


def lists(said: object) -> bool:
    return isinstance(said, dict) and all(map(texts, said.values()))


def amount(said: object) -> bool:
    return isinstance(said, int | float) and 0 <= said <= LARGEST


def time(said: object) -> bool:
    return isinstance(said, int) and 0 <= said < 1 << 63


def status(said: object) -> bool:
    """Return whether it is an exit status, or a negative signal number."""
    return isinstance(said, int) and -64 <= said <= 255


SHAPES: Mapping[str, Mapping[str, Callable[[object], bool]]] = {
    "barriers": {"barriers": texts}, "boot": {"boot": text}, "error": {"error": text}, "exit": {"exit": status},
    "progress": {"progress": amount, "air_s": amount}, "prompt": {"prompt": text}, "words": {"words": lists},
    "capture": {"capture": text, "run": text, "now_ns": time},
}  # fmt: skip


def parse(line: str, verb: str) -> dict[str, Any]:
    """Parse a report for this command. Raises ValueError if it is not valid."""
    try:
        said = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    what = next((name for name in ALLOWED[verb] if isinstance(said, dict) and name in said), None)
    if what is None or not all(fits(said.get(name)) for name, fits in SHAPES[what].items()):
        raise ValueError("it is not a report")
    return {name: printable(value) for name, value in said.items()}


def printable(said: Any) -> Any:
    """Escape text so that every stream and every call accepts it."""
    return said.encode(errors="backslashreplace").decode().replace("\0", "\\0") if isinstance(said, str) else said
