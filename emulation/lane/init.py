# SPDX-License-Identifier: BSD-3-Clause
"""The program that the kernel starts in a lane.

With the path of a checkout it mounts the checkout and continues in `first_process`. Without a path, the checkout is
in place already, and it continues in `vm_init`. In the lane `host`, which has only this machine's files, it continues
in `hosted`.

The kernel's process may not be able to reach the checkout by its path, so it starts a copy of this file. Beside it is
one file with the modules that every run loads (`emulation.lanes.virtual.bundle`). Other modules are imported from disk.
"""

from __future__ import annotations

import _imp
import gc
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

READ_ONLY = 1
CHECKOUT = "/run/lab/checkout"
BUNDLE = "modules"
ROOM = 1 << 16  # slots of eight bytes, and as many are left in the chunk for the functions that it calls


class Bundle:
    """A finder and loader for the modules in the file that `emulation.lanes.virtual.bundle` made."""

    def __init__(self, modules: dict[str, tuple[bool, str, bytes]]) -> None:
        self.modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        package, origin, _ = self.modules[name]
        spec = ModuleSpec(name, self, origin=origin, is_package=package)  # type: ignore[arg-type]
        spec.has_location = True
        if package and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(origin))
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Use the default."""

    def exec_module(self, module: ModuleType) -> None:
        _, origin, code = self.modules[module.__name__]
        loaded = marshal.loads(code)
        _imp._fix_co_filename(loaded, origin)  # type: ignore[attr-defined]  # for tracebacks, as imports do
        exec(loaded, module.__dict__)


def with_room(function: Callable[[], None]) -> None:
    """Call a function. Python keeps frames in chunks of 16 kB. A call at the end of a chunk maps another, and its
    return unmaps that, which are two system calls and page faults for each call of an inner loop. As this function asks
    for much room, its chunk is large enough for all that it calls."""
    function()


with_room.__code__ = with_room.__code__.replace(co_stacksize=ROOM)

if __name__ == "__main__":
    gc.set_threshold(1 << 18)  # as in `emulation.__main__`: loading leaves almost no garbage
    with open(f"{os.path.dirname(sys.argv[0])}/{BUNDLE}", "rb") as file:
        sys.meta_path.insert(0, Bundle(marshal.loads(file.read())))
    sys.path[0] = CHECKOUT
    if sys.argv[2:3] == ["host"]:
        from emulation.lane.hosted import main
    elif len(sys.argv) > 2:
        import ctypes

        mount = ctypes.CDLL(None).mount
        mount(b"none", b"/run", b"tmpfs", 0, None)
        os.makedirs(CHECKOUT)
        mount(b"none", CHECKOUT.encode(), b"hostfs", READ_ONLY, sys.argv[2].encode())
        sys.path_importer_cache.pop(CHECKOUT, None)  # the path did not exist when ctypes was imported
        from emulation.lane.first_process import main
    else:
        from emulation.lane.vm_init import main

    with_room(main)
