# SPDX-License-Identifier: BSD-3-Clause
"""`--medium wmediumd-compat`: dcflab's model of wmediumd, which needs no program."""

from collections.abc import Mapping
from typing import Any

from emulation.features.wmediumd.medium import plan_medium as plan_medium


def check(planned: Mapping[str, Any]) -> None:
    """Find what is missing here: nothing."""
