# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab test`: the tests that pytest runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from emulation.cli.commands import test as command
from emulation.cli.commands.test import SIDE_BY_SIDE
from emulation.lanes import CHECKOUT


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", SIDE_BY_SIDE),
        ("--quick", ("--quick", *SIDE_BY_SIDE)),
        ("--changed", ("--changed=main", *SIDE_BY_SIDE)),
        ("--changed v1 --quick", ("--quick", "--changed=v1", *SIDE_BY_SIDE)),
        ("tests/core -k eifs -x", ("tests/core", "-k", "eifs", "-x")),
        ("--quick tests/core", ("--quick", "tests/core")),
    ],
)
def test_what_pytest_is_asked_for(monkeypatch: pytest.MonkeyPatch, words: str, asked: tuple[str, ...]) -> None:
    """Named tests run in turn, others in parallel."""
    became: list[tuple[str, ...]] = []
    monkeypatch.setattr("emulation.play.session.provide", lambda *groups: None)
    monkeypatch.setattr(command, "exec_program", lambda *words: became.append(words))
    assert CliRunner().invoke(command.COMMAND, words.split()).exit_code == 0
    assert became == [("pytest", *asked)]


def pytest_with(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(line, cwd=CHECKOUT, capture_output=True, text=True)


def test_quick_is_all_that_is_quick_and_some_of_the_rest() -> None:
    found = pytest_with("--quick", "tests/lane/test_golden.py", "tests/test_selection.py").stdout.splitlines()
    lanes = {name for name in found if name.startswith("tests/lane/test_golden.py::test_golden_trace[")}
    assert 1 < len(lanes) < 12
    assert sum(name.startswith("tests/test_selection.py::test_what_pytest_is_asked_for[") for name in found) == 6


def test_changed_needs_a_commit_to_go_by() -> None:
    done = pytest_with("--changed=no-such-branch")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no changes since no-such-branch: git merge-base says: " in done.stderr


def test_an_inner_session_has_folders_of_its_own(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Else it would take the access to ours from lanes that go on."""
    (tmp_path / "test_inner.py").write_text("def test_where(tmp_path): assert not tmp_path")
    inner = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_inner.py"]
    said = subprocess.run(inner, cwd=tmp_path, capture_output=True, text=True).stdout
    assert f"PosixPath('{tmp_path_factory.getbasetemp()}/inner" in said
