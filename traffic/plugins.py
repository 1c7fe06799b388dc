# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins: what has a kind is carried out by the file of that name, in the package for its like.

There is nothing to register: a new kind of application is a new file in `traffic/applications`, or in a folder that the
package's `__path__` was extended by. Links, routing, recorders and interfaces (`emulation.lane`) are found so, too.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def find(package: str, kind: str) -> ModuleType:
    """The module of a package that carries out a kind. Raises ValueError, with those there are, if none does."""
    name = f"{package}.{kind}"
    try:
        if kind.isidentifier():
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the file is there, and lacks something itself
            raise
    what = package.rpartition(".")[2].removesuffix("s")
    raise ValueError(f"there is no {what} {kind!r}; there are: {', '.join(kinds(package))}")


def kinds(package: str) -> list[str]:
    """The kinds there are in a package."""
    import pkgutil

    return sorted(module.name for module in pkgutil.iter_modules(import_module(package).__path__))
