# SPDX-License-Identifier: BSD-3-Clause
"""What checks need beside a run: packages, and the kernels in which modules are checked."""

from collections.abc import Iterator

from emulation.setup import cache, kernel, prepare, smp
from emulation.setup.diagnoses import Check, Status, entry
from emulation.setup.packages import Group, OfFeature, program

CHECK = OfFeature("check", (program("sparse"), program("perl")), lambda: prepare(configuration=kernel.DEBUG))
SMP = OfFeature("smp", Group.SMP.needs, lambda: smp.obtain())
DEBUG = OfFeature("debug", (program("gdb"), program("objcopy", "binutils")), suggested=True)
GROUPS = (CHECK, SMP, DEBUG)
KERNELS = {"checks": (kernel.DEBUG, "include the debug kernel, for `module check`")}


def checks() -> Iterator[Check]:
    """Look for the kernels in the cache; neither is needed by a run."""
    debug, many = kernel.find(kernel.DEBUG), smp.name()
    for what, name, fix in (
        ("debug kernel", debug and debug.folder.name, "the first ./dcflab module check builds it"),
        (smp.WHAT, many if many and cache.find(many) else None,
         "./dcflab setup smp builds it, or the first ./dcflab module check --smp debug"),
    ):  # fmt: skip
        yield entry(what, name) if name else Check(what, Status.HINT, "not in the cache yet", fix)
