# SPDX-License-Identifier: BSD-3-Clause
"""What holds for the whole tree: linters are content, files say their license, the cores are clean under sanitizers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from emulation.setup import uml

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    ROOT / folder
    for folder in (
        "emulation/dcf80211",
        "emulation/manet",
        "emulation/tcp_tap",
        "emulation/features/check/template",
        "labs/own_congestion_control",
        "tc_modules",
    )
]
SOURCES = sorted(Path("/usr/src").glob("linux-source-*.tar.xz"))
CHECKPATCH = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
LINTERS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
MACHINE = re.compile(r"/(root|work|tmp)/|/home/\w")


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def text(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


@pytest.mark.parametrize("command", LINTERS, ids=" ".join)
def test_the_linters_are_content(command: list[str]) -> None:
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
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


def test_the_network_stack_of_the_labs_kernel_is_stock() -> None:
    """Linux's TCP, mac80211 and hwsim are what is tested here, so no patch of the lab's kernel touches them."""
    patches = uml.patches(uml.CONFIGURATION)
    touched = {line.split("/", 1)[1] for patch in patches for line in patch.read_text().splitlines()
               if line.startswith(("--- a/", "+++ b/"))}  # fmt: skip
    assert len(touched) > len(patches)
    assert not [file for file in touched if file.startswith(("net/", "drivers/net/", "include/net/", "crypto/"))]


@pytest.mark.skipif(not SOURCES or not shutil.which("perl"), reason="no kernel source in /usr/src, or no perl")
def test_checkpatch_is_content_with_the_modules(tmp_path: Path) -> None:
    tree = SOURCES[-1].name.removesuffix(".tar.xz")
    wanted = [f"{tree}/scripts/{name}" for name in CHECKPATCH]
    subprocess.run(["tar", "-xf", SOURCES[-1], "-C", tmp_path, "--occurrence=1", *wanted], check=True)
    options = ["--no-tree", "--max-line-length=120", "--ignore", "LINUX_VERSION_CODE,CONSTANT_COMPARISON", "--terse"]
    files = sorted(file for folder in MODULES for file in folder.rglob("*.[ch]"))
    assert files
    done = subprocess.run(["perl", tmp_path / wanted[0], *options, "-f", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


# By the variable that has them built so: what drives them. Programs of others are left out, and what only takes long:
# statistics of what fuzzing and the invariants drive, too, and how the core is built.
DRIVEN = {
    "DCF_SANITIZE": [
        *("tests/core", *sorted(map(str, ROOT.glob("tests/modules/test_ackthin_*.py")))),
        *("-k", "not ns3 and not theory and not purity"),
    ],
    "MANET_SANITIZE": ["tests/manet", "-k", "not tshark and not ns3 and not large_networks"],
}


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
@pytest.mark.parametrize("variable", DRIVEN)
def test_the_cores_are_clean_under_sanitizers(variable: str) -> None:
    """Out-of-bounds accesses and undefined behaviour end the process; their own tests drive them."""
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if not all(map(os.path.isabs, libraries)):
        pytest.skip("gcc came without its sanitizers")
    env = {**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0", variable: "1"}
    assert len(DRIVEN["DCF_SANITIZE"]) > 1
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not lane", *DRIVEN[variable]]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
