# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a word that a script says and this lab does not have: it is refused by its name, with what to do; or,
where what the script is about stays the same without it, that is said once. Nothing is passed over in silence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from emulation.lane.errors import Misuse

PAGE = "docs/mininet-wifi.md"


class UnknownName(Misuse, AttributeError):
    """An attribute that is not there; to `hasattr`, too."""


class UnknownParameter(Misuse, KeyError):
    """The same of an item that is not there."""

    __str__ = Misuse.__str__


_said: set[str] = set()


def note(sentence: str) -> None:
    """Say, once, what is otherwise than a script may think."""
    if sentence not in _said:
        _said.add(sentence)
        print(f"*** dcflab: {sentence}", flush=True)


def check(
    call: str, given: Mapping[str, Any], taken: Collection[str], noted: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Keywords of a call: those `taken` have their meaning, of those `noted` it is said why they have none, and the
    others are refused; one that is None, False or 0 asks for nothing. Raises Misuse."""
    for name, value in given.items():
        if name in taken or not value:
            continue
        if why := (noted or {}).get(name):
            note(f"{name}={value!r}: {why}")
        elif why := (refused or {}).get(name):
            raise Misuse(f"{call}: {name}: {why}")
        else:
            raise Misuse(f"{call}: there is no keyword {name} here ({PAGE}); there are: {', '.join(taken)}")


def numeric(what: str, value: Any) -> float:
    """A number, or one that is written as text. Raises Misuse."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Misuse(f"{what}: {value!r} is no number") from None


def refuse(what: str, instead: str) -> NoReturn:
    """Raises Misuse."""
    raise Misuse(f"{what} is not there: {instead}")


def missing(what: str, name: str, why: Mapping[str, str]) -> NoReturn:
    """An object's `__getattr__`: raises UnknownName."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownName(f"{what}.{name} is not there: {why.get(name, f'{PAGE} has what there is')}")


def absent(face: str, why: Mapping[str, str]) -> Any:
    """A face's `__getattr__`: names that it does not have are refused, by their names; `why` says more of some."""

    def unknown(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"{face}.{name}", why.get(name, f"{PAGE} has what there is"))

    return unknown
