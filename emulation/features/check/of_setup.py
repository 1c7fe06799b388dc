# SPDX-License-Identifier: BSD-3-Clause
"""What checks need beside a run: packages, and the kernels in which modules are checked."""

from collections.abc import Iterator

from emulation.features.check import smp_kernel
from emulation.setup import cache, kernel, prepare
from emulation.setup.diagnoses import Check, Status, entry
from emulation.setup.packages import OfFeature, program

CHECK = OfFeature("check", (program("sparse"), program("perl")), lambda: prepare(configuration=kernel.DEBUG))
DEBUG = OfFeature("debug", (program("gdb"), program("objcopy", "binutils")), suggested=True)
GROUPS = (CHECK, smp_kernel.NEEDS, DEBUG)
KERNELS = {"checks": (kernel.DEBUG, "include the debug kernel, for `module check`")}


def checks() -> Iterator[Check]:
    """Look for the kernels in the cache; neither is needed by a run."""
    debug, many = kernel.find(kernel.DEBUG), smp_kernel.name()
    for what, name, fix in (
        ("debug kernel", debug and debug.folder.name, "the first ./dcflab module check builds it"),
        (smp_kernel.WHAT, many if many and cache.find(many) else None,
         "./dcflab setup smp builds it, or the first ./dcflab module check --smp debug"),
    ):  # fmt: skip
        yield entry(what, name) if name else Check(what, Status.HINT, "not in the cache yet", fix)
