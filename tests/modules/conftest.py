# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the modules under test: their arithmetic in user space, their packets in a lane, and their builds."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from emulation.lanes import virtual
from emulation.lanes.virtual import Listener
from emulation.setup import kernel, modules

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
WALL_LIMIT_S = 120.0
PRELUDE = f"import sys; sys.path.insert(0, {str(HERE)!r})\nfrom wire import *\n"

sys.path.insert(0, str(HERE))


@pytest.fixture(scope="session")
def lane_kernel() -> kernel.Kernel:
    return kernel.obtain()


@pytest.fixture
def script(lane_kernel: kernel.Kernel, tmp_path: Path) -> Callable[..., list[str]]:
    """Run lines of Python in a lane that has loaded these modules, and return what they printed.

    All names of `wire` are there.
    """

    def run(text: str, *loaded: str) -> list[str]:
        lines: list[str] = []
        path = tmp_path / "script.py"
        path.write_text(PRELUDE + textwrap.dedent(text))
        built = modules.obtain(ROOT / "tc_modules", lane_kernel) if loaded else {}
        done = virtual.run(
            lane_kernel.linux,
            {name: built[name] for name in loaded},
            tmp_path,
            ["script", str(path)],
            listener=Listener(lines.append),
            wall_limit_s=WALL_LIMIT_S,
        )
        assert done.status == 0, "\n".join(lines)
        return lines

    return run
