# SPDX-License-Identifier: BSD-3-Clause
"""What a distribution's kernel gets: archives that cpio reads, and the kernel unpacked from its image."""

from __future__ import annotations

import gzip
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from emulation import lanes
from emulation.lane.air import delays, quantile
from emulation.lane.errors import Failure
from emulation.lanes.vm.cpio import Archive
from emulation.setup import stock


@pytest.mark.skipif(not shutil.which("cpio"), reason="no cpio")
def test_archives_are_read_one_after_the_other(tmp_path: Path) -> None:
    first, second = Archive(), Archive({"lib": "usr/lib"})
    first.link("/lib", "usr/lib")
    first.file("/lib/python/os.pyc", b"code", 0o755)
    second.file("/run/init/boot.json", b"{}")
    second.file("/lib/python/more.pyc", b"more")
    for archive in (first, second):
        subprocess.run(["cpio", "-id", "--quiet"], cwd=tmp_path, input=archive.whole(), check=True)
    assert (tmp_path / "lib").readlink() == Path("usr/lib")
    assert (tmp_path / "usr/lib/python/os.pyc").read_bytes() == b"code"
    assert (tmp_path / "usr/lib/python/os.pyc").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "usr/lib/python/more.pyc").read_bytes() == b"more"
    assert (tmp_path / "run/init/boot.json").read_bytes() == b"{}"


def image(packed: bytes, release: bytes = b"6.1.0-56-amd64 (debian)") -> bytes:
    """Return a kernel's image that contains this (Documentation/arch/x86/boot.rst)."""
    head = bytearray(2 * 512)
    head[0x1F1] = 1
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x20E, 0x300 - 0x200)
    head[0x300 : 0x300 + len(release)] = release
    struct.pack_into("<II", head, 0x248, 16, len(packed))
    return bytes(head) + bytes(16) + packed + b"what follows"


def test_a_kernel_comes_out_of_its_image(tmp_path: Path) -> None:
    elf = b"\x7fELF" + bytes(1000)
    file = tmp_path / "vmlinuz"
    file.write_bytes(image(gzip.compress(elf)))
    assert stock.unpacked(file) == elf
    assert stock.release_of(file) == "6.1.0-56-amd64"
    file.write_bytes(image(b"neither"))
    with pytest.raises(Failure, match="not a kernel that this program can unpack"):
        stock.unpacked(file)


def test_a_lane_has_the_settings_that_it_has() -> None:
    vm = lanes.with_settings(lanes.find("vm"), {"stock": "6.1"})
    assert (
        lanes.stock(vm) == "6.1" and lanes.stock(lanes.find("vm")) == "" and lanes.stock(lanes.find("virtual")) is None
    )
    with pytest.raises(ValueError, match="the lane virtual has no setting stock"):
        lanes.with_settings(lanes.find("virtual"), {"stock": "6.1"})


def test_quantiles_are_the_beginnings_of_bins() -> None:
    counts = [0] * 132
    assert quantile(counts, 0.5) == 0
    counts[3], counts[4 * 9 + 1] = 98, 2  # 3 ns; 1280 ns to 1536
    assert delays(counts, 1400) == {"count": 100, "p50": 3, "p99": 1280, "max": 1400}
