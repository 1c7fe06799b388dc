# SPDX-License-Identifier: BSD-3-Clause
"""Which Linux distribution this is, and its names of packages where they differ from Debian 12's.

Names were looked up on Debian 12 and 13, and on Ubuntu 22.04 and 24.04; derivatives use their parent's names.
"""

import platform
import sys
from collections.abc import Mapping
from functools import cache

NO_SOURCE = "the source of Linux 6.12"  # stands for a package where there is none
HOW = (
    "Linux 6.12's source is in no package of this distribution: name an archive of it in $DCFLAB_LINUX_SOURCE, as "
    "linux-6.12.*.tar.xz of kernel.org, or usr/src/linux-source-6.12.tar.xz in Debian's package of that name, which is "
    "for all machines (dpkg -x linux-source-6.12_*_all.deb FOLDER)"
)

# By distribution, or distribution and version: Debian 12's name -> the name there. None: there is none; only some tests
# are skipped without it.
NAMES: dict[str, dict[str, str | None]] = {
    "debian": {"linux-headers-6.12-amd64": "linux-headers-amd64"},  # its own kernel is 6.12
    "debian 12": {},
    "ubuntu": {
        "linux-source-6.12": NO_SOURCE,
        "linux-image-amd64": "linux-image-generic",
        "linux-headers-amd64": "linux-headers-generic",
        "linux-headers-6.12-amd64": None,
        "chromium": None,  # a snap
    },
}

VENV = "python3-venv"


@cache
def release() -> Mapping[str, str]:
    """Return what /etc/os-release says; empty if there is none."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def title() -> str:
    return release().get("PRETTY_NAME", "unknown")


def known() -> str | None:
    """Return this distribution's key in NAMES; None if it is neither Debian nor Ubuntu, nor derived from them."""
    said = release()
    for name in (said.get("ID", ""), *said.get("ID_LIKE", "").split()):
        for key in (f"{name} {said.get('VERSION_ID', '')}", name):
            if key in NAMES:
                return key
    return None


def name(package: str) -> str | None:
    """Return a Debian 12 package's name here; None if there is none, which no run needs."""
    if package == VENV and (said := release()).get("ID") == "ubuntu" and said.get("VERSION_ID") == "22.04":
        return f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"  # its python3 is 3.10
    return NAMES.get(known() or "", {}).get(package, package)
