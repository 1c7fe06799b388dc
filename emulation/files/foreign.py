# SPDX-License-Identifier: BSD-3-Clause
"""What others wrote: a lane's reports, and the files of a run folder, which may have been cut short, changed, or made
by anybody. All of a file is looked at before it is used; what is wrong with it is one error, which names the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEEPEST = 50  # what programs of ours write is nested less
LONGEST_NS = 10**15  # eleven days: no run lasts longer
NUMBERS = {int, bool, type(None)}
WORDS = -(1 << 63), (1 << 64) - 1  # the smallest and the largest number that some program of ours counts with


class Damaged(ValueError):
    """What is there cannot be read, or is not whole; the text says what, and where."""

    code = "damaged"


@contextmanager
def reading(where: Path) -> Iterator[None]:
    """What is no value of what is read here is Damaged, once it is said where. Raises Damaged."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, Damaged) and str(where) in str(error):
            raise
        raise Damaged(f"{where}: {sentence(error)}") from error


def sentence(error: ValueError) -> str:
    """What is wrong: of pydantic's errors the first."""
    if not hasattr(error, "errors"):
        return str(error)
    first = error.errors()[0]
    place, said = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


def parsed(text: str | bytes) -> Any:
    """What is in a JSON text. Raises ValueError for what is none, and for what no program of ours writes: what is
    nested too deep, numbers that are not finite or beyond 64 bits, and text that cannot be written."""
    try:
        level = [found := json.loads(text)]
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} deep") from None
    for _ in range(DEEPEST):
        if not level:
            return found
        level = [part for each in level for part in _parts(each)]
    raise ValueError(f"it is nested more than {DEEPEST} deep")


def _parts(value: Any) -> list[Any]:
    """What is in an object or a list; of a list of numbers, of which there may be millions, the least and the most."""
    if type(value) is list:
        if not {*map(type, value)} <= NUMBERS:
            return value
        numbers = [number for number in value if number is not None]
        return numbers and [min(numbers), max(numbers)]
    if type(value) is dict:
        return [*value, *value.values()]
    if type(value) is str and not value.isascii():
        value.encode()
    elif type(value) is int and not WORDS[0] <= value <= WORDS[1]:
        raise ValueError(f"a number of {len(str(value))} digits")
    elif type(value) is float and value - value != 0:
        raise ValueError(f"{value} is no number")
    return []
