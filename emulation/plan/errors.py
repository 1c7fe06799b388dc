# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be planned."""


class PlanError(ValueError):
    """What was asked for cannot be done; the text says why, and what can."""
