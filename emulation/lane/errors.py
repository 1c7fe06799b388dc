# SPDX-License-Identifier: BSD-3-Clause
"""What is told to people as their mistake and not as a failure: no traceback, and exit status 2."""

from __future__ import annotations


class Misuse(ValueError):
    """What was asked for cannot be; the text says why, and what can."""
