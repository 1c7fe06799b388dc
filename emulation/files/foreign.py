# SPDX-License-Identifier: BSD-3-Clause
"""Data that others wrote: a lane's reports, and files of a run folder. They may be cut short, changed, or forged.

A file is checked completely before it is used. Any fault in it is one error, which names the file.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEEPEST = 50  # what our programs write is nested less deeply
LONGEST_NS = 10**15  # eleven days: no run lasts longer
NUMBERS = {int, bool, type(None)}
WORDS = -(1 << 63), (1 << 64) - 1  # the smallest and the largest number in our programs


class Damaged(ValueError):
    """A file cannot be read, or is not complete; the text says what is wrong, and where."""

    code = "damaged"


@contextmanager
def reading(where: Path) -> Iterator[None]:
    """Convert a ValueError in this block to Damaged, and add the place. Raises Damaged."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, Damaged) and str(where) in str(error):
            raise
        raise Damaged(f"{where}: {sentence(error)}") from error


def sentence(error: ValueError) -> str:
    """Return what is wrong; of pydantic's errors only the first."""
    if not hasattr(error, "errors"):
        return str(error)
    first = error.errors()[0]
    place, said = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


def parsed(text: str | bytes) -> Any:
    """Parse JSON. Raises ValueError if it is not valid, or if none of our programs writes such: it is nested too
    deeply, has numbers that are not finite or exceed 64 bits, or has text that cannot be encoded."""
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
    """Return the elements of an object or a list; of a list of numbers, which may be long, the least and the most."""
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
        raise ValueError(f"{value} is not a number")
    return []
