# SPDX-License-Identifier: BSD-3-Clause
"""Names of files in a run folder. This module imports little: a run needs the names before there is anything to
read."""

import re

PLAN, LANE = "plan.json", "lane.json"  # of each run
TIMELINE = "timeline.html"  # of a run, if requested
RESULT, REPORT = "result.json", "report.html"  # of the whole folder


def subfolder(case: str, variant: str, seed: int) -> str:
    """Return the name of a run's subfolder."""
    return "-".join(re.sub(r"[^\w.+]+", "-", str(part)) for part in (case, variant, seed) if part != "")
