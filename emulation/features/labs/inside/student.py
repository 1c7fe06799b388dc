# SPDX-License-Identifier: BSD-3-Clause
"""A script that runs or builds what a student wrote, and writes the result. The student's program
cannot leave the lane, and the host ends the lane if it takes too long.

    student.py tap FILE FOLDER      Python, given a folder; both in the run folder
    student.py build NAME           NAME.c in the run folder's `build`, with our Kbuild

The output goes to `said.json` in the run folder: {"status": …, "said": "…", "wrong": "…"}.
"""

import json
import os
import subprocess
import sys

from emulation.lane.guest import CHECKOUT, KERNEL, RUN

MOST_BYTES = 1 << 16
LIMIT_S = 3600.0  # virtual time, for a program that sleeps
SAID = "said.json"


def tap(file: str, folder: str) -> tuple[list[str], str, dict[str, str]]:
    """Return the command that runs a tap, its directory, and its environment variables."""
    return [sys.executable, "-P", "-B", f"{RUN}/{file}", f"{RUN}/{folder}"], RUN, {"PYTHONPATH": CHECKOUT}


def build(name: str) -> tuple[list[str], str, dict[str, str]]:
    """Return the same for a build."""
    folder = f"{RUN}/build"
    with open(f"{folder}/Kbuild", "w") as kbuild:
        kbuild.write(f"obj-m := {name}.o\n")
    return ["make", "ARCH=um", "-C", KERNEL, f"M={folder}", "modules"], folder, {"TMPDIR": folder}


def main() -> None:
    verb, *arguments = sys.argv[1:]
    command, where, more = tap(*arguments) if verb == "tap" else build(*arguments)
    variables = {"PATH": os.defpath, "HOME": "/run", "LC_ALL": "C.UTF-8", "TMPDIR": "/run", "COLUMNS": "200", **more}
    with open("/run/out", "w+b") as out, open("/run/err", "w+b") as err:
        try:
            status: int | None = subprocess.run(
                command, cwd=where, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=LIMIT_S
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        said: dict[str, object] = {"status": status}
        for name, stream in (("said", out), ("wrong", err)):
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - MOST_BYTES) if name == "wrong" else 0)
            said[name] = stream.read(MOST_BYTES).decode(errors="replace")
    with open(f"{RUN}/{SAID}", "w") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main()
