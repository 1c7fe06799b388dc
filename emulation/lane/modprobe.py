# SPDX-License-Identifier: BSD-3-Clause
"""`modprobe` inside a lane: loads a module that was built with the lab's kernel, with what it depends on. Over another
kernel it is the machine's own.

The kernel starts it, through a shell script, when it first needs a module: a qdisc, a congestion control, a tunnel or a
bond. Scripts call it by its name.
"""

import glob
import os
import re
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from emulation.lane import stand_ins, syscalls
from emulation.lane.guest import KERNEL

INFO = re.compile(rb"(?<![ -~])(name|alias|depends)=([^\0]*)(?=\0)")


def load(wanted: str, parameters: str = "") -> bool:
    """Load the module of this name or alias, and those it depends on, unless it is there. Return whether there is one.
    Raises OSError."""
    name = wanted.replace("-", "_").encode()
    with open(f"{KERNEL}/modules.builtin", "rb") as file:
        if any(os.path.basename(line).replace(b"-", b"_") == name + b".ko\n" for line in file):
            return True
    for path in sorted(glob.glob(f"{KERNEL}/net/*/*.ko") + glob.glob(f"{KERNEL}/drivers/net/*/*.ko")):
        with open(path, "rb") as file:
            info = INFO.findall(file.read())
        if any(word != b"depends" and value.replace(b"-", b"_") == name for word, value in info):
            for needed in filter(None, dict(info).get(b"depends", b"").decode().split(",")):
                load(needed)
            syscalls.load_module(path, parameters)
            return True
    return False


def main(words: list[str]) -> int:
    """Load or remove a module as `modprobe [-r] NAME [PARAMETER=VALUE …]` or `modprobe -a NAME …` does. Return the exit
    status."""
    if not os.path.isdir(KERNEL):
        os.environ["PATH"] = os.environ["PATH"].removeprefix(f"{stand_ins.FOLDER}:")
        os.execvp("modprobe", ["modprobe", *words])
    options, names = {word for word in words if word[0] == "-"}, [word for word in words if word[0] != "-"]
    several = options & {"-a", "--all", "-r", "--remove"}
    parameters = "" if several else " ".join(names[1:])
    for name in names if several else names[:1]:
        try:
            if options & {"-r", "--remove"}:
                syscalls.unload_module(name.replace("-", "_"))
            elif not load(name, parameters):
                print(f"modprobe: FATAL: Module {name} not found: the lab's kernel does not have it", file=sys.stderr)
                return 1
        except OSError as error:
            print(f"modprobe: ERROR: {name}: {error.strerror}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
