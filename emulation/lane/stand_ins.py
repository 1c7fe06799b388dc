# SPDX-License-Identifier: BSD-3-Clause
"""Programs that scripts and prompts call, and that a lane answers itself: `sudo`, because every program is root's, and
`modprobe`, because the machine's own lacks the modules of the lane's kernel. They come before the machine's own.
`mn -c` has nothing to clean. `xterm` runs its program without a window, with output to a file of the run folder, named
after the window's title. `python` is python3 on machines without it, and `ryu-manager` os-ken's."""

import os
import shutil
import sys
from pathlib import Path

FOLDER = "/run/programs"
MODPROBE = f'exec "{sys.executable}" -sSB "{Path(__file__).with_name("modprobe.py")}" "$@"\n'
SUDO = """while case ${1-} in -[ugpCh]) shift;; -*) ;; *) false;; esac; do shift; done
for word; do case $word in *=*) ;; *) break;; esac; done
command -v "${word-env}" > /dev/null || {
[ -z "$LAB_LACKS" ] || echo "$word" > "/proc/self/fd/$LAB_LACKS"
echo "sudo: $word: command not found" >&2; exit 1; }
exec env "$@"
"""
MN = """case " $* " in *" -c "*|*" --clean "*) exit 0;; esac
echo "mn: this lane has the script's network; ./dcflab mn makes others" >&2
exit 1
"""
LACKING = f"""import sys; sys.path[0] = "{Path(__file__).parents[2]}"
from emulation.lane import programs
for message in programs.new_messages(programs.lacking(sys.argv[1])): print(f"*** dcflab: xterm: {{message}}")"""
XTERM = """title=xterm
while [ $# -gt 0 ] && [ "$1" != -e ]; do case $1 in -T|-title) title=$2; shift;; esac; shift; done
[ $# -gt 1 ] || exit 0
shift
file=$(printf %s "$title" | tr -c "A-Za-z0-9_.-" -).log
echo "*** dcflab: xterm: a lane has no terminals; the output of '$*' is in $file" > /dev/tty1
"{}" -sSB -c '{}' "$*" > /dev/tty1
[ $# -gt 1 ] || set -- sh -c "$1"
exec "$@" < /dev/null >> "$DCFLAB_RUN/$file" 2>&1
"""
RYU = """echo "*** dcflab: ryu-manager: os-ken, Ryu's successor, runs '$*'" > /dev/tty1
exec {} "{}" "{}" "$@"
"""
PROGRAMS = {"mn": MN, "modprobe": MODPROBE, "sudo": SUDO, "xterm": XTERM.format(sys.executable, LACKING)}


def provide() -> None:
    """Write the programs, and put their folder first in PATH. Raises OSError."""
    os.makedirs(FOLDER, exist_ok=True)
    python = {} if shutil.which("python") else {"python": 'exec python3 "$@"\n'}  # Debian has it in a package
    for name, lines in (PROGRAMS | python | ryu()).items():
        path = Path(FOLDER, name)
        path.write_text(f"#!/bin/sh\n{lines}")
        path.chmod(0o755)
    os.environ["PATH"] = f"{FOLDER}:{os.environ.get('PATH', os.defpath)}"


def ryu() -> dict[str, str]:
    """Return Ryu's program by its name, if there is os-ken and no Ryu."""
    if shutil.which("ryu-manager") or not (manager := shutil.which("osken-manager")):
        return {}
    with open(manager) as program:
        python = program.readline().strip().removeprefix("#!")
    return {"ryu-manager": RYU.format(python, Path(__file__).with_name("osken.py"), manager)}
