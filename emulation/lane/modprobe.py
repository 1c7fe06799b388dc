# SPDX-License-Identifier: BSD-3-Clause
"""A program that loads a kernel module, inside a lane.

The kernel starts it, through a shell script, for a qdisc or a congestion control that is not loaded. It finds the
module by name or alias among those that were built with the kernel.
"""

from __future__ import annotations

import glob
import os
import re
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from emulation.lane import syscalls
from emulation.lane.guest import KERNEL

INFO = re.compile(rb"(?<![ -~])(name|alias|depends)=([^\0]*)(?=\0)")


def load(wanted: str) -> bool:
    """Load the module of this name or alias, and those it depends on. Return whether there is one. Raises OSError."""
    for path in sorted(glob.glob(f"{KERNEL}/net/*/*.ko")):
        with open(path, "rb") as file:
            info = INFO.findall(file.read())
        if (b"name", wanted.encode()) in info or (b"alias", wanted.encode()) in info:
            for needed in dict(info).get(b"depends", b"").decode().split(","):
                load(needed)
            syscalls.load_module(path)
            return True
    return False


if __name__ == "__main__":
    sys.exit(0 if load(sys.argv[1]) else 1)
