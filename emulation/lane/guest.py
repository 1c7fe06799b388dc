# SPDX-License-Identifier: BSD-3-Clause
"""What programs in a lane know of it: where things are, and the consoles that lead to the host.

These are the kernel's (tty0), the program's (tty1), and that of the reports (tty2). `emulation.lanes.virtual` reads the
reports, one JSON object a line:

    {"boot": "done"}   {"progress": 0.5, "air_s": 60.0}   {"error": "…", "errno": 28}   {"error": "…", "misuse": true}
    {"prompt": "> "}   {"words": {"": ["help", …]}}   {"capture": "FILE", "run": "NAME", "now_ns": 1}   {"exit": 0}

`emulation.lane.first_process` fills in the variables, and loads programs. So this file imports none of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import termios

from emulation.lane import syscalls

AIR_MODULE = "dcf80211"
LAB = "/run/lab"
CHECKOUT, RUN, MODULES, PLUGINS, COPY, KERNEL = (
    f"{LAB}/{each}" for each in ("checkout", "run", "modules", "plugins", "copy", "kernel")
)
OPTION = "DCFLAB_OPTION_"  # begins the variables that have the options of features
console, reports = "/dev/tty1", -1
packages: list[str] = []  # folders of the user's packages
own_kernel = True  # False: the kernel is the machine's
at_program_end = contextlib.ExitStack()  # what to do when the script has ended


def publish() -> None:
    """Make the current content of the run folder visible to the host. By default it is; a lane may replace this."""


def report(**what: object) -> None:
    """Send a report to the host; without effect outside a lane."""
    if "capture" in what:
        publish()
    if reports >= 0:
        os.write(reports, json.dumps(what).encode() + b"\n")


def read_line(prompt: str) -> str | None:
    """Return the user's next line, or None at the end of the input.

    Virtual time jumps ahead whenever all programs wait, so this function polls instead. Polling takes no virtual time.
    It takes no real time either, because the host stops the whole kernel until the user has typed.
    """
    sys.stdout.flush()
    with contextlib.suppress(termios.error):  # it may not be a terminal
        termios.tcdrain(1)  # some of a long output may still be in the buffer
    report(prompt=prompt)
    keyboard = os.open(console, os.O_RDONLY | os.O_NOCTTY)
    try:
        while os.environ["DCFLAB_CLOCK"] != "real" and not syscalls.is_readable(keyboard):
            pass
        typed = os.read(keyboard, 4096)
        return typed.decode(errors="replace") if typed else None
    finally:
        os.close(keyboard)
