# SPDX-License-Identifier: BSD-3-Clause
"""The core and its edge to hwsim, fuzzed: fuzz.c and edge.c do anything at any time, under sanitizers. The core's
frames are freed when finished; the edge's allocations fail.

A few seconds here; longer by hand: DCF_FUZZ=10000000 pytest tests/core/test_fuzz.py
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from dcf import SOURCE

KERNELS = ("linux/completion.h", "linux/etherdevice.h", "linux/hrtimer.h", "linux/notifier.h", "linux/slab.h",
           "linux/spinlock.h",
           "linux/virtio.h", "net/genetlink.h")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("program", "operations"), [("fuzz", "400000"), ("edge", "200000")])
def test_it_stands_whatever_is_done_to_it(tmp_path: Path, program: str, operations: str) -> None:
    for name in KERNELS:  # edge.c has what hwsim.c needs of them
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    fuzz, source = tmp_path / program, Path(__file__).with_name(f"{program}.c")
    files = [str(f) for folder in ("core", "wire") for f in sorted((SOURCE / folder).glob("*.c"))]
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{tmp_path}"]
    command = [
        "gcc",
        "-std=gnu11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Wno-sign-compare",
        "-Wno-unused-parameter",
        "-Werror",
        *sanitize,
        "-o",
    ]
    subprocess.run([*command, str(fuzz), str(source), *files], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    operations = environment.get("DCF_FUZZ", operations)
    ran = subprocess.run([str(fuzz), operations], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
