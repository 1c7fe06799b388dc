# SPDX-License-Identifier: BSD-3-Clause
"""`--medium wmediumd`: the program, as it is installed or as `--wmediumd` names it."""

import shutil
from collections.abc import Mapping
from typing import Any

from emulation.features.wmediumd import medium
from emulation.lane import programs
from emulation.lane.errors import Failure
from emulation.specification import Specification


def plan_medium(specification: Specification, *of: Any) -> dict[str, Any]:
    """Return the plan's `medium`. Raises Misuse."""
    return medium.plan_medium(specification, *of, program=specification.medium.wmediumd)


def check(planned: Mapping[str, Any]) -> None:
    """Raises Failure if this machine does not have the program."""
    if not shutil.which(planned["program"], path=programs.PATH):
        raise Failure(f"there is no program {planned['program']} here, and no distribution has wmediumd; build "
                      "it and give its path with --wmediumd, or use --medium wmediumd-compat")  # fmt: skip
