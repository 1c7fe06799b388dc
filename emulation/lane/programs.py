# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's programs that a network may run: where they are, also those that are root's."""

from __future__ import annotations

import errno
import os

PATH = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


def find(program: str, package: str) -> str:
    """Where a program is. Raises OSError, with the package that has it, if it is not there."""
    import shutil

    if not (found := shutil.which(program, path=PATH)):
        raise OSError(errno.ENOENT, f"there is no {program} on this machine: install the package {package}")
    return found
