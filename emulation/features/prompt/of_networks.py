# SPDX-License-Identifier: BSD-3-Clause
"""The prompt for scripts: `CLI(net)`, and a prompt at the end of each network under `./dcflab shell`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from emulation.features.prompt.inside.shell import Shell
from emulation.lane import guest

if TYPE_CHECKING:
    from emulation.net import Net


def prompt(net: Net) -> None:
    """Open a prompt in a started network, until exit; what happens is recorded like a run."""
    shell, before = Shell(net, guest.read_line), Path.cwd()
    guest.report(words=shell.words())
    os.chdir(net.folder)  # where it may write
    try:
        with net.session():
            shell.run()
    finally:
        os.chdir(before)
