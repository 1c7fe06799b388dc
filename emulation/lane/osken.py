# SPDX-License-Identifier: BSD-3-Clause
"""os-ken for applications that were written for Ryu, which it succeeds: the same modules and classes under Ryu's names.

Usage: osken.py OSKEN-MANAGER ARGUMENTS… (`emulation.lane.stand_ins`), with the Python of that program.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

NAME = re.compile(r"(?<![^,])ryu(?=\.)")  # at the begin of a word, or after a comma


class Renamed:
    """A finder and loader: `ryu` and its modules are those of `os_ken`, and their Ryu… is its OSKen…"""

    def __init__(self) -> None:
        self.own: dict[str, ModuleSpec | None] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if NAME.match(f"{name}.") else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(NAME.sub("os_ken", f"{spec.name}.")[:-1])
        self.own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own name again, and its classes, and those of all modules so far, also Ryu's names."""
        assert module.__spec__
        module.__spec__ = self.own.pop(module.__spec__.name)
        for there in [vars(each) for name, each in sys.modules.items() if name.startswith("os_ken.")]:
            for name in [name for name in there if name.startswith("OSKen")]:
                there.setdefault(name.replace("OSKen", "Ryu", 1), there[name])


if __name__ == "__main__":
    sys.argv = [NAME.sub("os_ken", word) for word in sys.argv[1:]]
    sys.path[0] = os.path.dirname(sys.argv[0])
    sys.meta_path.insert(0, Renamed())
    wsgi = importlib.import_module("eventlet.wsgi")  # of versions that os-ken 1.4.1, the last with REST, does not know
    vars(wsgi).setdefault("ALREADY_HANDLED", [])
    sys.exit(importlib.import_module("os_ken.cmd.manager").main())
