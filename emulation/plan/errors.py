# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be planned."""

from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


class PlanError(ValueError):
    """What was asked for cannot be done; the text says why, and what can."""


def known(find: Callable[[str], Found], kind: str) -> Found:
    """What carries out a kind. Raises PlanError, with the kinds there are, if nothing does."""
    try:
        return find(kind)
    except ValueError as error:
        raise PlanError(str(error)) from None
