# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong for a user, in two kinds. The text says what, where, and what to do; the code is for programs, and
stays the same (docs/compatibility.md)."""

from __future__ import annotations


class Misuse(ValueError):
    """What was asked for cannot be; exit status 2."""

    code = "misuse"


class Failure(Exception):
    """What was asked for did not come about; exit status 1."""

    code = "failure"

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code or self.code
