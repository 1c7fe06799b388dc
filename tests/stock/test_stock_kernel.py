# SPDX-License-Identifier: BSD-3-Clause
"""The same module on Debian's stock kernels, in real time, under QEMU without KVM: it builds without a warning, loads,
carries TCP over a string of three, and unloads."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from emulation.options import specification_of
from emulation.plan import plan

ROOT = Path(__file__).parents[2]
HEADERS = sorted(p.parent.name for p in Path("/lib/modules").glob("*/build") if p.exists())
KERNELS = [k for k in HEADERS if Path(f"/boot/vmlinuz-{k}").exists()]


def build(release: str, folder: Path) -> str:
    """Build the module for an installed kernel; returns what the compiler and sparse said."""
    shutil.copytree(ROOT / "emulation/dcf80211", folder, dirs_exist_ok=True)
    make = ["make", "-s", "-C", f"/lib/modules/{release}/build", f"M={folder}", "W=1", "C=1", "modules"]
    done = subprocess.run(make, capture_output=True, text=True, check=True)
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if "BTF generation" not in line and "compiler differs" not in line
                     and "The kernel was built by" not in line and "You are using" not in line)  # fmt: skip


@pytest.mark.stock
@pytest.mark.skipif(not HEADERS, reason="no kernel headers: apt-get install linux-headers-amd64")
@pytest.mark.parametrize("release", HEADERS)
def test_module_builds_without_a_word(release: str, tmp_path: Path) -> None:
    assert build(release, tmp_path) == ""
    assert (tmp_path / "dcf80211.ko").exists()


@pytest.mark.stock
@pytest.mark.skipif(not KERNELS or not shutil.which("qemu-system-x86_64"), reason="no stock kernel, or no QEMU")
@pytest.mark.parametrize("release", KERNELS[:1])
def test_module_carries_tcp_on_a_stock_kernel(release: str, tmp_path: Path) -> None:
    build(release, tmp_path / "module")
    seconds = 3
    (tmp_path / "plan.json").write_text(
        json.dumps(plan(specification_of("string", {"stations": 3, "seconds": seconds, "rts": "full"})))
    )
    # The environment may be hidden in the guest, which has a /var/cache of its own; the standard library is enough.
    inside = [str(Path(sys.executable).resolve()), str(Path(__file__).with_name("smoke.py")), str(ROOT),
              str(tmp_path / "plan.json"), str(tmp_path / "module/dcf80211.ko")]  # fmt: skip
    programs = Path(sys.executable).parent
    vng = [str(programs / "vng"), "--disable-kvm", "-r", f"/boot/vmlinuz-{release}", "--user", "root", "--force-9p",
           "--memory", "1G", "--", *inside]  # fmt: skip
    env = {"PATH": f"{programs}:/usr/sbin:/sbin:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(vng, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert result["release"] == release
    counters = [s["counters"] for s in result["air"]["stations"]]
    assert result["flows"][0]["delivered_bytes"] > 10 * 1460
    assert sum(c["end"].get("tcp_data", {}).get("ACKED", 0) for c in counters) > 20
    assert all(c["tx"].get("rts", 0) > 0 for c in counters[:2])
    assert result["trace_bytes"] > 0 and result["air"]["refused_frames"] == 0
