# SPDX-License-Identifier: BSD-3-Clause
"""Positions of cases on an axis: numbers to scale, so that values between them can be read off, or side by side."""

import re
from collections.abc import Sequence

NUMBER = re.compile(r"(?<!\w)-?\d+(?:\.\d+)?")
LABELS = {"placement"}  # numbers that only distinguish cases


def to_scale(names: Sequence[str], called: str = "") -> tuple[list[float], str] | None:
    """Return the numbers in which these names differ, and their meaning: the text around them in the names, or else
    `called`. Return None if the names differ in anything else, in several numbers, or not at all."""
    if len(names) < 2 or len({NUMBER.sub("", name) for name in names}) > 1:
        return None
    columns = list(zip(*([float(number) for number in NUMBER.findall(name)] for name in names), strict=True))
    varied = [at for at, column in enumerate(columns) if len(set(column)) > 1]
    if len(varied) != 1 or len(set(columns[varied[0]])) < len(names):
        return None
    match = list(NUMBER.finditer(names[0]))[varied[0]]
    before, after = names[0][: match.start()].strip(), names[0][match.end() :].strip()
    what = (f"{before} … {after}" if before and after else before or after) or called
    return None if what in LABELS else (list(columns[varied[0]]), what)
