# SPDX-License-Identifier: BSD-3-Clause
"""Modules that DKMS has built for a distribution's kernel are used, and not built again."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest

from emulation.setup import ROOT, kernel, modules, stock


def test_what_dkms_has_built_of_this_source_is_taken(
    lane_kernel: kernel.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packed or not; none is used if one has another source or is missing."""
    own, copy = tmp_path / "modules", tmp_path / "tap"
    built = modules.obtain(shutil.copytree(ROOT / "emulation/tcp_tap", copy), lane_kernel)["tcp_tap"].read_bytes()
    monkeypatch.setattr(stock, "modules_of", lambda release: own)
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "cache"))
    here = stock.Installed("6.1")
    assert modules.installed(copy, here) == {}
    place = own / "updates/dkms/tcp_tap.ko.xz"
    place.parent.mkdir(parents=True)
    place.write_bytes(lzma.compress(built))
    (own / "modules.dep").write_text("updates/dkms/tcp_tap.ko.xz:\n")
    taken = modules.installed(copy, here)
    assert [path.read_bytes() for path in taken.values()] == [built] and set(taken) == {"tcp_tap"}
    with (copy / "tcp_tap.c").open("a") as source:
        source.write("\n")
    assert modules.installed(copy, here) == {}
