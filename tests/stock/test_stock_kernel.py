# SPDX-License-Identifier: BSD-3-Clause
"""The same modules for Debian's stock kernels: the air, routing and the tap build without a warning. That they work
there, too, is what tests/lanes is about."""

import shutil
import subprocess
from pathlib import Path

import once
import pytest
from once import ROOT

from emulation.setup.stock import Installed

HEADERS = sorted(p.parent.name for p in Path("/lib/modules").glob("*/build") if p.exists())


def build(release: str, folder: Path, source: str) -> str:
    """Build modules for an installed kernel, in a folder; returns what the compiler and sparse said."""
    shutil.copytree(ROOT / source, folder, dirs_exist_ok=True)
    make = ["make", "-s", "-C", f"/lib/modules/{release}/build", f"M={folder}", "W=1", "C=1", "modules"]
    done = subprocess.run(make, capture_output=True, text=True, check=True)
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if "BTF generation" not in line and "compiler differs" not in line
                     and "The kernel was built by" not in line and "You are using" not in line)  # fmt: skip


@pytest.mark.stock
@pytest.mark.skipif(not HEADERS, reason="no kernel headers: apt-get install linux-headers-amd64")
@pytest.mark.parametrize("release", HEADERS)
@pytest.mark.parametrize("source", ["emulation/dcf80211", "emulation/manet", "emulation/tcp_tap"])
def test_module_builds_without_a_word(release: str, source: str, tmp_path: Path) -> None:
    def passes() -> None:
        assert build(release, tmp_path, source) == ""
        assert (tmp_path / f"{Path(source).name}.ko").exists()

    parts = [Installed(release).key, *once.contents(ROOT / source, Path(__file__)), *once.programs("gcc", "sparse")]
    once.check(f"stock.{Path(source).name}", passes, *parts)
