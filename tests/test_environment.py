# SPDX-License-Identifier: BSD-3-Clause
"""The launcher and its Python environment: found, made, and made anew when it is damaged. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import emulation.setup
from emulation.setup import ROOT, cache, environment


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DCFLAB_CACHE", str(folder))
    return folder


def executable(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def checkout(folder: Path, cached: bool) -> dict[str, str]:
    """A checkout that holds nothing but the launcher, and its environment: a Python that says how it was called."""
    folder.mkdir()
    shutil.copy(ROOT / "dcflab", folder / "dcflab")
    (folder / "requirements.lock").write_text("nothing==1\n")
    if cached:
        key = hashlib.sha256(b"nothing==1\n").hexdigest()[:16]
        python = folder / "cache" / f"venv-python3.11-{key}" / "bin" / "python"
        python.parent.mkdir(parents=True)
        executable(python, 'echo "$PYTHONPATH"; for a; do echo "$a"; done')
    return {**os.environ, "DCFLAB_CACHE": str(folder / "cache"), "PYTHONPATH": ""}


def test_the_launcher_finds_the_environment_and_hands_arguments_on(tmp_path: Path) -> None:
    variables = checkout(tmp_path / "a b", cached=True)
    (tmp_path / "link").symlink_to(tmp_path / "a b" / "dcflab")
    said = subprocess.run(
        [tmp_path / "link", "run", "it's one"], env=variables, capture_output=True, text=True, cwd="/"
    )
    assert said.stdout.splitlines() == [str(tmp_path / "a b"), "-P", "-m", "emulation", "run", "it's one"]


def test_the_launcher_and_set_up_agree_on_the_environments_name() -> None:
    key = hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()[:16]
    assert environment.name(ROOT / "requirements.lock").endswith(f"-{key}")


def test_the_launcher_asks_set_up_for_an_environment(tmp_path: Path) -> None:
    variables = checkout(tmp_path / "a", cached=False)
    setup = tmp_path / "a" / "emulation" / "setup"
    setup.mkdir(parents=True)
    made = tmp_path / "python"
    executable(made, 'echo "made $*"')
    (setup / "__main__.py").write_text(f"print({str(made)!r})\n")
    said = subprocess.run([tmp_path / "a" / "dcflab", "test"], env=variables, capture_output=True, text=True)
    assert said.stdout == "made -P -m emulation test\n"
    (setup / "__main__.py").write_text("import sys; sys.exit(3)\n")
    said = subprocess.run([tmp_path / "a" / "dcflab", "test"], env=variables, capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (3, "")


@pytest.mark.parametrize("lost", ["bin/python", "lib/python3/site-packages/numpy/__init__.py", "pyvenv.cfg"])
def test_a_damaged_environment_is_made_anew(root: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """By the launcher, if no program can be started in it; else by the program that is started, which begins again."""
    made: list[str] = []

    def make(command: list[str], must: bool = True) -> None:
        if "venv" in command:
            folder = Path(command[-1])
            made.append(folder.name)
            (folder / "lib/python3/site-packages/numpy").mkdir(parents=True)
            (folder / "lib/python3/site-packages/numpy/__init__.py").write_text("")
            (folder / "pyvenv.cfg").write_text("")
            (folder / "bin").mkdir()
            (folder / "bin/python").symlink_to(sys.executable)

    monkeypatch.setattr(environment, "run", make)
    monkeypatch.setattr(cache, "SPACE", 0)
    python = emulation.setup.prepare_environment()
    assert emulation.setup.prepare_environment() == python
    monkeypatch.setattr(sys, "prefix", str(python.parents[1]))
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append(arguments))
    emulation.setup.mend_environment()
    assert (len(made), started) == (1, [])
    (python.parents[1] / lost).unlink()
    emulation.setup.mend_environment()
    assert len(made) == 2 and [arguments[0] for arguments in started] == [str(python)]
    assert (python.parents[1] / lost).exists()
    (python.parents[1] / lost).unlink()
    assert emulation.setup.prepare_environment() == python
    assert len(made) == 3
