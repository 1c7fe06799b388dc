# SPDX-License-Identifier: BSD-3-Clause
"""Checks of data by pydantic, and its errors in words for people."""

import functools
import reprlib
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

# Replacements for pydantic's words.
SHORTER = {
    "input should be": "must be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}


def explain(error: ValueError, sections: frozenset[str] = frozenset()) -> list[str]:
    """Return what is wrong, for people, a line per error. ValidationError is a ValueError. The location of an error
    omits names of `sections`, which options do not have."""
    if not isinstance(error, ValidationError):
        return [str(error)]
    lines = []
    for one in error.errors(include_url=False):
        cause = one.get("ctx", {}).get("error")
        place = [str(part) for part in one["loc"]]
        if place and place[0] in sections:
            del place[: 2 if place[1:2] == ["parameters"] and len(place) > 2 else 1]
        if one["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            said = "there is no such option"
        elif cause:
            said = str(cause)
        else:
            said = one["msg"][:1].lower() + one["msg"][1:]
            for pydantic, ours in SHORTER.items():
                said = said.replace(pydantic, ours)
            if isinstance(one["input"], str | int | float | bool | None):
                said += f", not {reprlib.repr(one['input'])}"
        lines.append(" ".join(f"{'.'.join(place)}: {said}".removeprefix(": ").split()))
    return lines


def check_fields(made: object) -> None:
    """Check the types of a dataclass's fields. Raises ValidationError."""
    kind: Any = type(made)
    _fields(kind).model_validate(vars(made))


@functools.cache
def _fields(kind: type) -> type[BaseModel]:
    fields: dict[str, Any] = {name: (of, ...) for name, of in get_type_hints(kind, include_extras=True).items()}
    return create_model(kind.__name__, __config__=ConfigDict(strict=True, arbitrary_types_allowed=True), **fields)
