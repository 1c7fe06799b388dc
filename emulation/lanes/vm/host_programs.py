# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the host in a lane's root file system, with their shared libraries, at the same paths."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emulation.lanes.vm.cpio import Archive

PATH = os.pathsep.join((os.defpath, "/usr/local/sbin", "/usr/sbin", "/sbin"))
NEEDED = {
    "iperf3": ("iperf3",),
    "babel": ("babeld",),
    "infrastructure": ("hostapd", "wpa_supplicant"),
    "ovs": ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl"),
}  # by the kind of a part of the plan


def find(name: str) -> Path | None:
    """Return the path of a program of the distribution, or None."""
    found = shutil.which(name, path=PATH)
    return Path(found) if found else None


def add(root: Archive, program: Path) -> None:
    root.file(str(program), program.read_bytes(), 0o755)  # follows links
    for library in libraries(program):
        root.copy(library)


def libraries(program: Path) -> list[Path]:
    """Return a program's shared libraries and its loader, by the paths at which they are found."""
    output = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", output)]


def of_plan(plan: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the programs that a plan's kinds call, if they are installed."""
    parts = [plan["routing"], *plan["links"], *plan["applications"], *(node["bridge"] or {} for node in plan["nodes"])]
    for kind in {part.get("kind") for part in parts} & NEEDED.keys():
        yield from filter(None, map(find, NEEDED[kind]))
    if medium := (plan.get("medium") or {}).get("program"):
        yield Path(medium)
