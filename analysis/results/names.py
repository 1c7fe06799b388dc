# SPDX-License-Identifier: BSD-3-Clause
"""What files of a run folder are called. It loads nothing: a run needs these names before there is anything to read."""

import re

PLAN, LANE = "plan.json", "lane.json"  # of each run
RESULT, REPORT = "result.json", "report.html"  # of all of them


def subfolder(case: str, variant: str, seed: int) -> str:
    """Where in the run folder a run is."""
    return "-".join(re.sub(r"[^\w.+]+", "-", str(part)) for part in (case, variant, seed) if part != "")
