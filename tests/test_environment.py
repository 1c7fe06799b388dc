# SPDX-License-Identifier: BSD-3-Clause
"""The launcher and its Python environment: found, made, and made again if damaged. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import emulation.setup
from emulation.cli.commands import setup
from emulation.setup import ROOT, cache, diagnoses, doctor, environment


def executable(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def checkout(folder: Path, *cached: str) -> dict[str, str]:
    """Make a checkout with only the launcher, and with the environments in `cached`: a Python that prints its
    arguments."""
    folder.mkdir()
    shutil.copy(ROOT / "dcflab", folder / "dcflab")
    for name, lock_file in (("venv", "requirements.lock"), ("run", "requirements-run.lock")):
        (folder / lock_file).write_text(f"{name}==1\n")
        if name in cached:
            key = hashlib.sha256(f"{name}==1\n".encode()).hexdigest()[:16]
            python = folder / "cache" / f"{name}-python3.11-{key}" / "bin" / "python"
            python.parent.mkdir(parents=True)
            executable(python, f'echo {name} "$PYTHONPATH"; for a; do echo "$a"; done')
    return {**os.environ, "DCFLAB_CACHE": str(folder / "cache"), "PYTHONPATH": ""}


@pytest.mark.parametrize(("cached", "taken"), [(["venv", "run"], "venv"), (["venv"], "venv"), (["run"], "run")])
def test_the_launcher_finds_the_environment_and_hands_arguments_on(
    tmp_path: Path, cached: list[str], taken: str
) -> None:
    """It prefers the full environment."""
    variables = checkout(tmp_path / "a b", *cached)
    (tmp_path / "link").symlink_to(tmp_path / "a b" / "dcflab")
    said = subprocess.run(
        [tmp_path / "link", "run", "it's one"], env=variables, capture_output=True, text=True, cwd="/"
    )
    assert said.stdout.splitlines() == [f"{taken} {tmp_path / 'a b'}", "-P", "-m", "emulation", "run", "it's one"]


@pytest.mark.parametrize(("kind", "name"), [("venv", "requirements.lock"), ("run", "requirements-run.lock")])
def test_the_launcher_and_set_up_agree_on_the_environments_name(kind: str, name: str) -> None:
    key = hashlib.sha256((ROOT / name).read_bytes()).hexdigest()[:16]
    assert environment.name(ROOT / name) == f"{kind}-python3.{sys.version_info[1]}-{key}"
    assert f"made {kind} {name}" in (ROOT / "dcflab").read_text()


def test_the_launcher_asks_set_up_for_an_environment(tmp_path: Path) -> None:
    variables = checkout(tmp_path / "a")
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


@dataclass
class Seen:
    """The environments that were made, and how programs restarted."""

    made: list[str] = field(default_factory=list)
    started: list[list[str]] = field(default_factory=list)


@pytest.fixture
def seen(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Make environments with numpy alone, in an empty cache, without restarting this program."""
    found = Seen()

    def make(command: list[str], must: bool = True) -> None:
        if "venv" in command:
            folder = Path(command[-1])
            found.made.append(folder.name.removeprefix(cache.SCRATCH).partition("-")[0])
            (folder / "lib/python3/site-packages/numpy").mkdir(parents=True)
            (folder / "lib/python3/site-packages/numpy/__init__.py").write_text("")
            (folder / "pyvenv.cfg").write_text("")
            (folder / "bin").mkdir()
            (folder / "bin/python").symlink_to(sys.executable)

    monkeypatch.setattr(environment, "run", make)
    monkeypatch.setattr(cache, "SPACE", 0)
    monkeypatch.setattr(os, "execv", lambda program, arguments: found.started.append(arguments))
    return found


@pytest.mark.parametrize("lost", ["bin/python", "lib/python3/site-packages/numpy/__init__.py", "pyvenv.cfg"])
@pytest.mark.parametrize("kind", ["run", "venv"])
def test_a_damaged_environment_is_made_again(seen: Seen, monkeypatch: pytest.MonkeyPatch, kind: str, lost: str) -> None:
    """By the launcher if no program starts in it; else by the program, which restarts."""

    def prepare() -> Path:
        return emulation.setup.prepare_environment() if kind == "run" else environment.obtain(emulation.setup.LOCK_FILE)

    python = prepare()
    assert prepare() == python
    monkeypatch.setattr(sys, "prefix", str(python.parents[1]))
    emulation.setup.repair_environment()
    assert (seen.made, seen.started) == ([kind], [])
    (python.parents[1] / lost).unlink()
    emulation.setup.repair_environment()
    assert seen.made == [kind] * 2 and [arguments[0] for arguments in seen.started] == [str(python)]
    assert (python.parents[1] / lost).exists()
    (python.parents[1] / lost).unlink()
    assert prepare() == python
    assert seen.made == [kind] * 3


def test_what_needs_more_than_runs_do_begins_again_in_the_whole_environment(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If it lacks a package, or may load any; a package that the full one lacks is an error."""
    monkeypatch.setattr(sys, "prefix", str(emulation.setup.prepare_environment().parents[1]))
    emulation.setup.repair_environment(thoroughly=True)
    emulation.setup.repair_environment(thoroughly=True, missing_module="numpy.no_such_module")
    assert (seen.made, seen.started) == (["run"], [])
    emulation.setup.repair_environment(thoroughly=True, missing_module="no_such_package.inside")
    assert "this needs no_such_package" in capsys.readouterr().err
    emulation.setup.require_all_packages()
    whole = environment.obtain(emulation.setup.LOCK_FILE)
    assert seen.made == ["run", "venv"]
    assert seen.started == [[str(whole), *sys.orig_argv[1:]]] * 2
    monkeypatch.setattr(sys, "prefix", str(whole.parents[1]))
    emulation.setup.repair_environment(thoroughly=True, missing_module="no_such_package.inside")
    emulation.setup.require_all_packages()
    assert (seen.made, len(seen.started)) == (["run", "venv"], 2)


def test_set_up_makes_the_whole_environment_too(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """In addition to the kernel."""
    monkeypatch.setattr(sys, "prefix", str(emulation.setup.prepare_environment().parents[1]))
    monkeypatch.setattr(setup, "prepare", lambda *groups: None)
    setup.callback(())
    environment.obtain(emulation.setup.LOCK_FILE)
    assert seen.made == ["run"]  # the other by a child


def test_the_doctor_says_which_environments_are_there(seen: Seen) -> None:
    def said() -> list[tuple[str, diagnoses.Status]]:
        return [(check.name, check.status) for check in doctor.python()][1:]

    ok, hint, missing = diagnoses.Status.OK, diagnoses.Status.HINT, diagnoses.Status.MISSING
    assert said() == [("environment for runs", missing), ("environment", hint)]
    emulation.setup.prepare_environment()
    assert said() == [("environment for runs", ok), ("environment", hint)]
    environment.obtain(emulation.setup.LOCK_FILE)
    assert said() == [("environment", ok)]


def test_what_runs_load_is_pinned_as_all_packages_are() -> None:
    """No result depends on the environment."""
    whole, runs = (pinned(file) for file in (emulation.setup.LOCK_FILE, emulation.setup.RUN_LOCK_FILE))
    assert runs.items() < whole.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {environment.package(each) for each in project["dependencies"]} <= {name.split("==")[0] for name in runs}


def pinned(lock_file: Path) -> dict[str, list[str]]:
    """Return the hashes of each version."""
    found: dict[str, list[str]] = {}
    for line in lock_file.read_text().splitlines():
        if line[:1].isalnum():
            found[line] = []
        elif "--hash" in line:
            list(found.values())[-1].append(line.strip(" \\"))
    return found
