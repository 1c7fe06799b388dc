# SPDX-License-Identifier: BSD-3-Clause
"""The number of examples of a property. No test ends by wall time. `DCFLAB_EXAMPLES=20` tries twenty times as many,
`./dcflab test --quick` a twentieth."""

import os
from typing import Any

from hypothesis import HealthCheck, settings

VARIABLE, QUICK, FEWEST = "DCFLAB_EXAMPLES", "0.05", 5


def examples(usual: int, **more: Any) -> settings:
    """Return the settings of a property that usually tries this many examples."""
    many = max(FEWEST, round(usual * float(os.environ.get(VARIABLE, "1"))))
    return settings(**{"max_examples": many, "deadline": None, "suppress_health_check": [HealthCheck.too_slow], **more})


def load() -> None:
    """Set the number for properties that do not state one."""
    settings.register_profile("usual", examples(100))
    settings.load_profile("usual")
