# SPDX-License-Identifier: BSD-3-Clause
"""A test whether KVM really works.

/dev/kvm alone is no proof: in some virtual machines a kernel hangs with it. So this boots the kernel without a root. It
soon panics, which ends QEMU.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from emulation.lane import syscalls

DEVICE = "/dev/kvm"
LIMIT_S = 10.0  # a working one takes one or two seconds
MACHINE = ("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", "256M")


def unusable_reason(qemu: str, kernel: Path) -> str:
    """Return why KVM cannot be used; empty if it works."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"{DEVICE} does not exist, or you may not use it"
    if not (program := shutil.which(qemu)):
        return f"there is no {qemu}"
    machine = ["-machine", "microvm,acpi=on,rtc=on", "-accel", "kvm", "-cpu", "host"]
    command = [program, *MACHINE, *machine, "-kernel", str(kernel), "-append", "panic=-1 quiet"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S,
            preexec_fn=lambda: syscalls.die_with_parent(signal.SIGKILL),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"a kernel that is tried in it gets nowhere in {LIMIT_S:g} s"
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"QEMU ends with status {done.returncode}"
    return ""
