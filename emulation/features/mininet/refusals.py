# SPDX-License-Identifier: BSD-3-Clause
"""Errors and notes for names and keywords that dcflab lacks. One that changes what the script measures raises an error
that names it and says what to do instead. Any other causes a note, once. None is ignored silently."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from emulation.lane.errors import Misuse

PAGE = "docs/mininet-wifi.md"


class UnknownName(Misuse, AttributeError):
    """A missing attribute, also for `hasattr`."""


class UnknownParameter(Misuse, KeyError):
    """A missing item."""

    __str__ = Misuse.__str__


_said: set[str] = set()


def note(sentence: str, about: str = "") -> None:
    """Print a note once; one about this word once, too."""
    if (about or sentence) not in _said:
        _said.add(about or sentence)
        print(f"*** dcflab: {sentence}", flush=True)


def check(
    call: str, given: Mapping[str, Any], taken: Collection[str], noted: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None, lenient: bool = False,
) -> None:  # fmt: skip
    """Check the keywords of a call: `taken` ones are valid, `noted` ones cause a note why they have no effect, and
    others raise Misuse. `lenient`: unknown ones cause a note, as Mininet only stores them. None, False and 0 are always
    accepted."""
    for name, value in given.items():
        if name in taken or not value:
            continue
        if why := (noted or {}).get(name):
            note(f"{name}={value!r}: {why}")
        elif why := (refused or {}).get(name):
            raise Misuse(f"{call}: {name}: {why}")
        elif lenient:
            note(f"{call}: {name}={value!r} has no effect: no keyword has this name{_meant(name, taken)}", name)
        else:
            there = f"there are: {', '.join(taken)}{_meant(name, taken)}"
            raise Misuse(f"{call}: there is no keyword {name} here ({PAGE}); {there}")


def _meant(name: str, taken: Collection[str]) -> str:
    """Return a question for the keyword that is almost this one."""
    by_lower = {keyword.lower(): keyword for keyword in taken}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.8)
    return f"; do you mean {by_lower[found[0]]}?" if found else ""


def numeric(what: str, value: Any) -> float:
    """Convert a number, which may be text. Raises Misuse."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Misuse(f"{what}: {value!r} is not a number") from None


def refuse(what: str, instead: str) -> NoReturn:
    """Raises Misuse."""
    raise Misuse(f"{what} is not supported: {instead}")


def missing(what: str, name: str, why: Mapping[str, str], there: Collection[str] = ()) -> NoReturn:
    """Raise UnknownName; for an object's `__getattr__`. `there` has the names that it has."""
    if name.startswith("__"):
        raise AttributeError(name)
    usual = f"{PAGE} has what there is{_meant(name, [each for each in there if each[0] != '_'])}"
    raise UnknownName(f"{what}.{name} is not supported: {why.get(name, usual)}")


class Absent:
    """A name that can be imported, but not used: many scripts import more than they use."""

    def __init__(self, what: str, instead: str) -> None:
        self.__dict__.update(what=what, instead=instead)

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raises Misuse."""
        refuse(self.what, self.instead)

    __call__ = __setattr__ = __mro_entries__ = refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()
