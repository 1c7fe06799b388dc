# SPDX-License-Identifier: BSD-3-Clause
"""Checks that raise Misuse for what cannot be planned."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from types import ModuleType
from typing import Any

from emulation.lane import links, recorders, routing
from emulation.lane.errors import Misuse
from emulation.specification import explain
from emulation.specification.modes import ABSENT
from topologies.files import check, is_a, is_derived_from, is_function, loading
from traffic import applications, plugins

# What the file of a kind defines, by the package for such kinds; and what that of a routing may define.
DEFINED = {
    links: {"Link": is_derived_from(links.Link)},
    routing: {"plan": is_function, "Routing": is_derived_from(routing.Routing)},
    recorders: {"Recorder": is_derived_from(recorders.Recorder)},
    applications: {"Application": is_derived_from(applications.Application)},
}
OPTIONAL = {
    **dict.fromkeys(("MODULES", "RECORDERS"), is_a(tuple, list)), "LINK": is_a(str), "SNAP": is_a(int),
    **dict.fromkeys(("PUNCTUAL", "OVERHEARS", "ANY_LINK", "TTL_FALLS"), is_a(bool)), "farthest": is_function,
}  # fmt: skip


def find_kind(package: ModuleType, kind: str) -> Any:
    """Return what implements a kind, as the package's `find` does. Raises Misuse, naming the kinds that exist, if
    nothing does, or the place in the file that should."""
    try:
        module = plugins.find(package.__name__, kind)
        what = package.__name__.rpartition(".")[2].removesuffix("s")
        check(module, str(module.__file__), what, DEFINED[package], OPTIONAL if package is routing else {})
        return package.find(kind)
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
