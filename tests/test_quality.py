# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the whole tree: linters, licences of files, and the cores under sanitizers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import once
import pytest

from emulation.setup import cache, kernel, uml

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    ROOT / folder
    for folder in (
        "emulation/dcf80211",
        "emulation/manet",
        "emulation/tcp_tap",
        "emulation/features/check/template",
        "labs/own_congestion_control",
    )
]
LINTERS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
MACHINE = re.compile(r"/(root|work|tmp)/|/home/\w")


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def text(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


@pytest.mark.parametrize(
    "command",
    [pytest.param(line, id=" ".join(line), marks=[pytest.mark.slow] if line == ["mypy"] else []) for line in LINTERS],
)
def test_the_linters_are_content(command: list[str]) -> None:
    program = Path(sys.executable).parent / command[0]
    env = {**os.environ, "MYPY_CACHE_DIR": str(cache.roots()[-1] / "mypy")}  # which a fresh checkout uses, too
    done = subprocess.run([program, *command[1:]], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_says_its_license() -> None:
    """In its first lines, or in REUSE.toml."""
    annotations = tomllib.loads(text("REUSE.toml"))["annotations"]
    besides = [pattern for annotation in annotations for pattern in annotation["path"]]
    for name in tracked():
        if name.startswith("LICENSES/") or any(Path("/" + name).match(pattern) for pattern in besides):
            continue
        assert "SPDX-License-Identifier: " in "".join(text(name).splitlines(True)[:5]), name


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    """Only tests may name a temporary folder."""
    for name in tracked():
        found = {match[0] for match in MACHINE.finditer(text(name))}
        assert not found - ({"/tmp/"} if name.startswith("tests/") else set()), name


# The sender of a patch signs it. The others find fault with the lines around: barriers without a comment, a printk().
UPSTREAM = "MISSING_SIGN_OFF,COMPLEX_MACRO,MEMORY_BARRIER,PRINTK_WITHOUT_KERN_LEVEL,VOLATILE"


def test_the_network_stack_of_the_labs_kernel_is_stock() -> None:
    """No patch touches Linux's TCP, mac80211 or hwsim, which users test."""
    patches = uml.patches(uml.CONFIGURATION)
    touched = {line.split("/", 1)[1] for patch in patches for line in patch.read_text().splitlines()
               if line.startswith(("--- a/", "+++ b/"))}  # fmt: skip
    assert len(touched) > len(patches)
    assert not [file for file in touched if file.startswith(("net/", "drivers/net/", "include/net/", "crypto/"))]


@pytest.mark.slow
@pytest.mark.lane
@pytest.mark.skipif(not shutil.which("perl"), reason="no perl")
@pytest.mark.parametrize("options, files", [
    (["--max-line-length=120", "--ignore", "LINUX_VERSION_CODE,CONSTANT_COMPARISON", "-f"],
     sorted(file for folder in MODULES for file in folder.rglob("*.[ch]"))),
    (["--ignore", UPSTREAM], sorted(uml.RECIPE.parent.rglob("*.patch"))),
], ids=["modules", "patches"])  # fmt: skip
def test_checkpatch_is_content(options: list[str], files: list[Path]) -> None:
    """With our modules, and with the patches as sent to the kernel's lists. For tc_modules, test_own_modules.py asks
    it."""
    script = kernel.obtain().folder / "scripts/checkpatch.pl"
    assert files

    def passes() -> None:
        command = ["perl", script, "--no-tree", "--terse", *options, *files]
        done = subprocess.run(command, capture_output=True, text=True)
        assert not done.returncode, done.stdout

    once.check("checkpatch", passes, *options, kernel.obtain().key, *once.contents(*files), *once.programs("perl"))
