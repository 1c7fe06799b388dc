# SPDX-License-Identifier: BSD-3-Clause
"""Checks that raise Misuse for what cannot be planned."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from emulation.lane.errors import Misuse
from emulation.specification import explain
from emulation.specification.modes import ABSENT
from topologies.files import loading

Found = TypeVar("Found")


def find_kind(find: Callable[[str], Found], kind: str) -> Found:
    """Return what implements a kind. Raises Misuse, naming the kinds that exist, if nothing does."""
    try:
        return find(kind)
    except ValueError as error:
        if loading(error):  # a plug-in's mistake, which `plan` locates
            raise
        raise Misuse(str(error)) from None


@contextlib.contextmanager
def as_misuse(what: str) -> Iterator[None]:
    """Convert a model's ValueError to Misuse; each line of it begins with `what`."""
    try:
        yield
    except ValueError as error:
        raise Misuse("; ".join(f"{what}: {line}" for line in explain(error))) from None


def check_names(what: str, settings: Mapping[str, Any], valid: Collection[str]) -> None:
    """Check the names of settings. Raises Misuse, naming those that exist, if one is unknown."""
    if strange := next((name for name in settings if name not in valid), None):
        if strange in ABSENT:
            raise Misuse(f"{what}: {strange} is not modelled: {ABSENT[strange]}")
        raise Misuse(f"{what}: there is no setting {strange}; there are: {', '.join(valid)}")
