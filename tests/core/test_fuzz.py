# SPDX-License-Identifier: BSD-3-Clause
"""The core, fuzzed: fuzz.c does anything at any moment, under sanitizers, with frames that are freed when done with.

A few seconds here; by hand as long as one likes: DCF_FUZZ=10000000 pytest tests/core/test_fuzz.py
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from dcf import SOURCE


def test_the_core_stands_whatever_is_done_to_it(tmp_path: Path) -> None:
    fuzz = tmp_path / "fuzz"
    files = [str(f) for folder in ("core", "wire") for f in sorted((SOURCE / folder).glob("*.c"))]
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror", *sanitize, "-o"]
    subprocess.run([*command, str(fuzz), str(Path(__file__).with_name("fuzz.c")), *files], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    operations = environment.get("DCF_FUZZ", "400000")
    ran = subprocess.run([str(fuzz), operations], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
