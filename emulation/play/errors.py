# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong for a user, in two kinds. The text says what, where, and what to do."""

from __future__ import annotations


class Misuse(Exception):
    """What was asked for cannot be; exit status 2."""


class Failure(Exception):
    """What was asked for did not come about; exit status 1."""
