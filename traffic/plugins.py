# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins: a kind is implemented by the file of its name, in the package for such kinds.

Nothing is registered: a new kind of application is a new file in `traffic/applications`, or in a folder that was added
to the package's `__path__`. Links, routing, recorders and interfaces (`emulation.lane`) are found the same way.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def find(package: str, kind: str) -> ModuleType:
    """Return the module of a package that implements a kind. Raises ValueError, which lists the kinds, if there is
    none."""
    name = f"{package}.{kind}"
    try:
        if kind.isidentifier():
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the file exists, and an import in it fails
            raise
    what = package.rpartition(".")[2].removesuffix("s")
    raise ValueError(f"there is no {what} {kind!r}; there are: {', '.join(kinds(package))}")


def kinds(package: str) -> list[str]:
    """Return the kinds in a package."""
    import pkgutil

    return sorted(module.name for module in pkgutil.iter_modules(import_module(package).__path__))
