# SPDX-License-Identifier: BSD-3-Clause
"""The same modules on Debian's stock kernels, in real time, under QEMU without KVM: the air and the tap build without a
warning; they and the modules under test load, carry TCP over a string of three, and unload."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from emulation.plan import plan
from emulation.specification import specify

ROOT = Path(__file__).parents[2]
HEADERS = sorted(p.parent.name for p in Path("/lib/modules").glob("*/build") if p.exists())
KERNELS = [k for k in HEADERS if Path(f"/boot/vmlinuz-{k}").exists()]


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
@pytest.mark.parametrize("source", ["emulation/dcf80211", "emulation/tcp_tap"])
def test_module_builds_without_a_word(release: str, source: str, tmp_path: Path) -> None:
    assert build(release, tmp_path, source) == ""
    assert (tmp_path / f"{Path(source).name}.ko").exists()


@pytest.mark.stock
@pytest.mark.skipif(not KERNELS or not shutil.which("qemu-system-x86_64"), reason="no stock kernel, or no QEMU")
@pytest.mark.parametrize("release", KERNELS[:1])
def test_modules_carry_tcp_on_a_stock_kernel(release: str, tmp_path: Path) -> None:
    for source in ("emulation/dcf80211", "emulation/tcp_tap", "tc_modules"):
        build(release, tmp_path / source, source)
        for module in (tmp_path / source).glob("*.ko"):
            module.rename(tmp_path / module.name)
    seconds = 3
    given = {"stations": 3, "seconds": seconds, "rts": "full", "tcp": "sca", "ackthin": "delayed"}
    (tmp_path / "plan.json").write_text(json.dumps(plan(specify("string", given))))
    # The environment may be hidden in the guest, which has a /var/cache of its own; the standard library is enough.
    inside = [str(Path(sys.executable).resolve()), str(Path(__file__).with_name("smoke.py")), str(ROOT),
              str(tmp_path / "plan.json"), str(tmp_path)]  # fmt: skip
    programs = Path(sys.executable).parent
    vng = [str(programs / "vng"), "--disable-kvm", "-r", f"/boot/vmlinuz-{release}", "--user", "root", "--force-9p",
           "--memory", "1G", "--", *inside]  # fmt: skip
    env = {"PATH": f"{programs}:/usr/sbin:/sbin:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(vng, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert result["release"] == release
    counters = [s["counters"] for s in result["air"]["stations"]]
    assert result["applications"][0]["delivered_bytes"] > 10 * 1460
    assert sum(c["end"].get("tcp_data", {}).get("ACKED", 0) for c in counters) > 20
    assert all(c["tx"].get("rts", 0) > 0 for c in counters[:2])
    assert result["applications"][0]["congestion"] == "sca"
    assert min(result["sizes"].values()) > 0 and result["air"]["refused_frames"] == 0
    sent = [sum(c["end"].get(kind, {}).values()) for c, kind in ((counters[0], "tcp_data"), (counters[2], "tcp_ack"))]
    assert sent[1] < 0.8 * sent[0]  # thinned
