# SPDX-License-Identifier: BSD-3-Clause
"""How many examples of a property are tried, and for how long: no test goes by wall time. `DCFLAB_EXAMPLES=20` tries
twenty times as many, `./dcflab test --quick` a twentieth."""

import os
from typing import Any

from hypothesis import HealthCheck, settings

VARIABLE, QUICK, FEWEST = "DCFLAB_EXAMPLES", "0.05", 5


def examples(usual: int, **more: Any) -> settings:
    """Settings of a property of which so many examples are usually tried."""
    many = max(FEWEST, round(usual * float(os.environ.get(VARIABLE, "1"))))
    return settings(**{"max_examples": many, "deadline": None, "suppress_health_check": [HealthCheck.too_slow], **more})


def load() -> None:
    """The same for those that do not say how many."""
    settings.register_profile("usual", examples(100))
    settings.load_profile("usual")
