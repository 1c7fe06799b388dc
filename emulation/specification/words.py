# SPDX-License-Identifier: BSD-3-Clause
"""Common code of a specification's sections: values in the form of a command line, and the words that a user meant."""

import difflib
import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict


class Section(BaseModel):
    """A section of a specification. Its fields are options, so each name exists only once in all sections."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_of(allowed: tuple[Any, ...], unit: str) -> AfterValidator:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{value:g} {unit} is not possible; there are: {', '.join(f'{a:g}' for a in allowed)}")
        return value

    return AfterValidator(check)


def split(value: object) -> object:
    """Convert a list in the form of a command line: with commas."""
    return tuple(value.split(",")) if isinstance(value, str) else value


def pairs(value: object) -> object:
    """Convert a mapping in the form of a command line: NAME=VALUE, with commas. Raises ValueError."""
    if not isinstance(value, str):
        return value
    parts = [part.partition("=") for part in value.split(",") if part]
    if wrong := next((name for name, equals, _ in parts if not equals), None):
        raise ValueError(f"{wrong!r} has no value; write NAME=VALUE, and commas between several")
    return {name.strip(): text.strip() for name, _, text in parts}


def word_and_pairs(key: str, value: object) -> Any:
    """Convert a mapping that begins with the value of `key`: `skip`, or `skip,skip=2,start=50`."""
    if not isinstance(value, str):
        return value
    word, _, rest = value.partition(",")
    parameters = pairs(rest)
    assert isinstance(parameters, dict)
    return {key: word, **parameters}


Words = Annotated[tuple[str, ...], BeforeValidator(split)]

# Messages about an unknown name; and those of pydantic and click about a word that is not among the choices.
UNKNOWN = re.compile(r"""there is no [^;]*?['"]?(?P<name>[^\s'";]+)['"]?(?: of [^;]*)?; there are: (?P<there>.+)""")
NO_CHOICE = re.compile(r"must be (?P<there>.+), not '(?P<name>[^']+)'|'(?P<said>[^']+)' is not one of (?P<those>.+)")


def meant(sentence: str) -> str | None:
    """Return which of the names that a message lists the user probably meant."""
    if found := UNKNOWN.search(sentence):
        return nearest(found["name"], found["there"].split(", "))
    if found := NO_CHOICE.search(sentence):
        return nearest(found["name"] or found["said"], re.findall("'([^']+)'", found["there"] or found["those"]))
    return None


YES, NO = ("on", "yes", "true", "full", "all", "always"), ("off", "no", "false", "none", "never")


def nearest(name: str, there: Iterable[str]) -> str | None:
    """Return the name that is spelt similarly, or a synonym, but not one with the opposite meaning."""
    names = list(there)
    for same, contrary in ((YES, NO), (NO, YES)):
        if name.lower() in same:
            names = [each for each in names if each not in contrary]
            alike = [each for each in same if each in names]
            return next(iter(difflib.get_close_matches(name, names, 1) or alike), None)
    return next(iter(difflib.get_close_matches(name, names, 1)), None)
