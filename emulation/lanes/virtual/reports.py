# SPDX-License-Identifier: BSD-3-Clause
"""What a lane's first process tells the host, one JSON object a line (`emulation.lane.guest`). Whoever is root in the
lane can write there, too: so a report is taken if it is what that process says of the verb that it carries out, and of
this shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

LARGEST = 1e12  # of numbers that are shown
OF_ALL = ("barriers", "boot", "error", "exit")
OF_SCRIPTS = (*OF_ALL, "prompt", "capture", "words")  # a script may have a prompt of its own
OF: Mapping[str, tuple[str, ...]] = {"plan": (*OF_ALL, "progress"), "script": OF_SCRIPTS, "shell": OF_SCRIPTS}


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
    """Of a program, or the signal that ended it."""
    return isinstance(said, int) and -64 <= said <= 255


SHAPES: Mapping[str, Mapping[str, Callable[[object], bool]]] = {
    "barriers": {"barriers": texts}, "boot": {"boot": text}, "error": {"error": text}, "exit": {"exit": status},
    "progress": {"progress": amount, "air_s": amount}, "prompt": {"prompt": text}, "words": {"words": lists},
    "capture": {"capture": text, "run": text, "now_ns": time},
}  # fmt: skip


def understood(line: str, verb: str) -> dict[str, Any]:
    """A report, under this verb. Raises ValueError if it is none."""
    try:
        said = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    what = next((name for name in OF[verb] if isinstance(said, dict) and name in said), None)
    if what is None or not all(fits(said.get(name)) for name, fits in SHAPES[what].items()):
        raise ValueError("it is no report")
    return {name: printable(value) for name, value in said.items()}


def printable(said: Any) -> Any:
    """Text that every stream and every call takes."""
    return said.encode(errors="backslashreplace").decode().replace("\0", "\\0") if isinstance(said, str) else said
