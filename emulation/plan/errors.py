# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be planned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from emulation.lane.errors import Misuse
from emulation.specification import explain
from topologies.files import loading

Found = TypeVar("Found")


def known(find: Callable[[str], Found], kind: str) -> Found:
    """What carries out a kind. Raises Misuse, with the kinds there are, if nothing does."""
    try:
        return find(kind)
    except ValueError as error:
        if loading(error):  # a plug-in's mistake, of which `plan` says where it is
            raise
        raise Misuse(str(error)) from None


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """What a model refuses, as Misuse: a line each, which begins with whose it is."""
    try:
        yield
    except ValueError as error:
        raise Misuse("; ".join(f"{what}: {line}" for line in explain(error))) from None


def only(what: str, settings: Mapping[str, Any], there: Collection[str]) -> None:
    """Raises Misuse, with the settings there are, for one that there is not."""
    if strange := next((name for name in settings if name not in there), None):
        raise Misuse(f"{what}: there is no setting {strange}; there are: {', '.join(there)}")
