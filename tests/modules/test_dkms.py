# SPDX-License-Identifier: BSD-3-Clause
"""DKMS builds our modules for a distribution's kernel; what it has built is used, and not built again."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import emulation
from emulation.setup import MODULES, ROOT, kernel, modules, stock

SETTING = re.compile(r'^(\w+?)(?:\[\d+\])?="(.*)"$', re.MULTILINE)
BUILT = re.compile(r"^obj-m := (.*)", re.MULTILINE)


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_dkms_builds_all_modules_of_this_version(folder: Path) -> None:
    settings = SETTING.findall((folder / "dkms.conf").read_text())
    [built] = BUILT.findall((folder / "Kbuild").read_text())
    assert sorted(value for name, value in settings if name == "BUILT_MODULE_NAME") == sorted(
        name.removesuffix(".o") for name in built.split()
    )
    assert ("PACKAGE_VERSION", emulation.version()) in settings
    read = subprocess.run(["bash", "-euc", f". {folder}/dkms.conf; echo $PACKAGE_NAME"], capture_output=True, text=True)
    assert read.stdout == f"dcflab-{folder.name.replace('tc_', 'tc-')}\n"


def test_the_steps_of_a_release_name_each_dkms_conf() -> None:
    files = {str((folder / "dkms.conf").relative_to(ROOT)) for folder in MODULES}
    release = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Versions\n")[2]
    assert {*re.findall(r"`(\S+/dkms\.conf)`", release)} == files


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
