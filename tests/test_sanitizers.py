# SPDX-License-Identifier: BSD-3-Clause
"""Kernel code in C is clean under sanitizers while its tests run it in user space. Out-of-bounds accesses and undefined
behaviour end the process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from properties import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
# The variable that has them built so, the tests that drive them, and which of these. Left out are programs of others,
# statistics of what the invariants drive, too, the same at other places, fuzzers, which have sanitizers anyhow, and how
# the core is built.
DRIVEN = {
    "the air": ("DCF_SANITIZE", "tests/core/test_*.py",
                "not (ns3 or theory or purity or fuzz or work_grows or slots and (order1 or order2))"),
    "ackthin": ("DCF_SANITIZE", "tests/modules/test_ackthin_*.py", ""),
    "congestion controls": ("DCF_SANITIZE", "tests/modules/test_congestion_*.py", ""),
    "manet": ("MANET_SANITIZE", "tests/manet/test_*.py", "not tshark and not ns3 and not large_networks"),
}  # fmt: skip
EXAMPLES = "0.2"  # of what is tried without sanitizers


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
@pytest.mark.parametrize("what", DRIVEN)
def test_it_is_clean_under_sanitizers(what: str) -> None:
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if not all(map(os.path.isabs, libraries)):
        pytest.skip("gcc came without its sanitizers")
    variable, pattern, chosen = DRIVEN[what]
    asked = {"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0", variable: "1"}
    files = sorted(ROOT.glob(pattern))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not lane", "-k", chosen, *files]
    environment = {VARIABLE: EXAMPLES, **os.environ, **asked}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
