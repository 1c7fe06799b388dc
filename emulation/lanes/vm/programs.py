# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the host's, as part of a lane's root: with the libraries that they are linked to, where all of these
are."""

from __future__ import annotations

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
    "ovs": ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl"),
}  # by what a plan has of this kind


def find(name: str) -> Path | None:
    """Where a program of the distribution is."""
    found = shutil.which(name, path=PATH)
    return Path(found) if found else None


def add(root: Archive, program: Path) -> None:
    root.file(str(program), program.read_bytes(), 0o755)  # whatever it may be a link to
    for library in libraries(program):
        root.copy(library)


def libraries(program: Path) -> list[Path]:
    """The shared libraries of a program, and its loader, by the paths by which they are found."""
    told = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", told)]


def of_plan(plan: Mapping[str, Any]) -> Iterator[Path]:
    """The programs that a plan's kinds call, of those that are there."""
    parts = [plan["routing"], *plan["links"], *plan["applications"], *(node["bridge"] or {} for node in plan["nodes"])]
    for kind in {part.get("kind") for part in parts} & NEEDED.keys():
        yield from filter(None, map(find, NEEDED[kind]))
    if medium := (plan.get("medium") or {}).get("program"):
        yield Path(medium)
