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
from dcf import CORE, INCLUDED
from user_space import SANITIZE, kept

# What hwsim.c needs of the kernel is in edge.c.
KERNELS = ("linux/completion.h", "linux/etherdevice.h", "linux/hrtimer.h", "linux/notifier.h", "linux/slab.h",
           "linux/spinlock.h", "linux/virtio.h", "net/genetlink.h")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("program", "operations"), [("fuzz", "400000"), ("edge", "200000")])
def test_it_stands_whatever_is_done_to_it(program: str, operations: str) -> None:
    source = Path(__file__).resolve().with_name(f"{program}.c")
    options = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Wno-sign-compare", "-Wno-unused-parameter", "-Werror"]
    fuzz = kept(program, [*options, *SANITIZE], [source, *CORE], [*INCLUDED, source.parent], KERNELS)
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    operations = environment.get("DCF_FUZZ", operations)
    ran = subprocess.run([str(fuzz), operations], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
