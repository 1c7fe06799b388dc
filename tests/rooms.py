# SPDX-License-Identifier: BSD-3-Clause
"""Features are folders that can be removed: which feature a test outside of them needs, and a tree without one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from emulation import features
from emulation.lane.mistakes import FEATURES
from emulation.lanes import CHECKOUT

# Which feature may import another one, and what for.
BETWEEN = {
    ("claims", "sweeps"): "a claim is tested by runs that may have been played before",
    ("wmediumd", "prompt"): "`shell` takes a configuration, too",
    ("mininet", "prompt"): "Mininet's CLI has the prompt's verbs",
}
NOT_COPIED = shutil.ignore_patterns(".git", ".*_cache", ".hypothesis", "runs", "*.so")


def missing(*names: str) -> list[str]:
    """Return which of these features, and of those that they import, are removed."""
    needed = {*names, *(imported for name, imported in BETWEEN if name in names)}
    return sorted(needed - {*features.names()})


def needs(*names: str) -> pytest.MarkDecorator:
    """Return a mark for a test that has nothing to test without these features."""
    gone = missing(*names)
    return pytest.mark.skipif(bool(gone), reason=f"features that are removed here: {', '.join(gone)}")


def command_of(group: click.Group, ctx: click.Context, name: str) -> click.Command | None:
    """Return a subcommand; None if it is there only in parts, or of a feature that imports a removed one."""
    try:
        return group.get_command(ctx, name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(FEATURES):
            raise
        return None


def tree_without(names: list[str], folder: Path) -> Path:
    """Make a copy of the checkout without some features and their tests; it shares files where possible."""

    def copy(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:  # on another file system, or without hard links
            shutil.copy2(source, target)

    shutil.copytree(CHECKOUT, folder, ignore=NOT_COPIED, copy_function=copy)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for name in names:
        for room in ("emulation/features", "tests/features"):
            shutil.rmtree(folder / room / name)
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)  # some tests read the names of all files from git
    return folder
