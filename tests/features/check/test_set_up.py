# SPDX-License-Identifier: BSD-3-Clause
"""What set-up, the doctor and packages have for checks; without the feature's folder, they do not list it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rooms import tree_without

from emulation.cli.commands import setup
from emulation.features.check import of_setup, smp_kernel
from emulation.lanes import CHECKOUT
from emulation.setup import doctor, kernel
from emulation.setup.diagnoses import Status

WORDS = {"setup": ["check", "debug", "smp"], "package": ["--checks"]}
KERNELS = {"debug kernel", smp_kernel.WHAT}


def said(tree: Path, *words: str) -> str:
    variables = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-m", *words]
    return subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False])
def test_what_set_up_has_for_checks_goes_with_the_feature(tmp_path: Path, there: bool) -> None:
    """The doctor is asked as the launcher does if there is no environment."""
    tree = CHECKOUT if there else tree_without(["check"], tmp_path / "tree")
    for command, words in WORDS.items():
        listed = said(tree, "emulation", command, "--help").replace(",", " ").split()
        assert [word for word in words if (word in listed) != there] == [], command
    findings = said(tree, "emulation.setup.doctor").replace("  ", "\n").splitlines()
    named = {"packages: check", "packages: debug", "packages: smp", *KERNELS}
    assert named & {*findings} == (named if there else set())


def test_kernels_can_be_built_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """`setup smp` does what the first `module check --smp debug` would."""
    built: list[object] = []
    monkeypatch.setattr(setup, "prepare", lambda *groups: built.append(groups[0].value))
    monkeypatch.setattr(setup, "prepare_all_packages", lambda: None)
    monkeypatch.setattr(smp_kernel, "obtain", lambda: built.append("kernel"))
    monkeypatch.setattr(of_setup, "prepare", lambda configuration: built.append(configuration))
    setup.callback(("smp",))
    setup.callback(("check",))
    setup.callback(("debug",))
    assert built == ["smp", "kernel", "check", kernel.DEBUG, "debug"]


def test_the_doctor_says_how_to_build_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path))
    found = {check.name: check for check in doctor.of_features()}
    assert {check.status for check in found.values()} == {Status.HINT} and found.keys() == KERNELS
    assert found[smp_kernel.WHAT].fix.startswith("./dcflab setup smp ")
