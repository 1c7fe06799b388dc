# SPDX-License-Identifier: BSD-3-Clause
"""Imports as written in the source, of this checkout's packages and of its tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from emulation.lanes import CHECKOUT
from emulation.play.imports import modules

TOP = ("analysis", "benchmarks", "emulation", "experiments", "labs", "topologies", "traffic")
MODULES = modules(*(CHECKOUT / top for top in TOP))


@cache
def imports(name: str, typing: bool = True) -> tuple[str, ...]:
    """Return what a module imports at any time; with `typing`, also imports for the type checker only."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    return tuple(imported(statements(ast.parse(MODULES[name].read_text()), typing), package))


def imported(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
    """Return what these statements of a module in this package import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) + 1 - node.level]
                base = ".".join([*above, *filter(None, [base])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def for_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def statements(node: ast.AST, typing: bool = True) -> Iterator[ast.AST]:
    """Return all statements in this one; without `typing`, not those for the type checker only."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            if typing or not for_typing(inner):
                yield inner
                yield from statements(inner, typing)


def loaded(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Return the statements that run when a module is loaded."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With) and not for_typing(node):
            yield from loaded([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])])


def module_of(imported: str) -> str | None:
    """Return the module of ours that is imported; None for other modules."""
    while imported and imported not in MODULES:
        imported = imported.rpartition(".")[0]
    return imported or None
