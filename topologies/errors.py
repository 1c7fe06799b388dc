# SPDX-License-Identifier: BSD-3-Clause
"""The errors of pydantic, in words for people."""

import reprlib

from pydantic import ValidationError

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
