# SPDX-License-Identifier: BSD-3-Clause
"""These tests import their helpers from this folder."""

import sys
from pathlib import Path

import pytest

from emulation.play.lab import Lab

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A lab whose kernel is never booted."""
    for name in ("linux", "dcf80211.ko", "tcp_tap.ko"):
        (tmp_path / name).write_bytes(name.encode())
    return Lab(tmp_path / "linux", {name: tmp_path / f"{name}.ko" for name in ("dcf80211", "tcp_tap")})
