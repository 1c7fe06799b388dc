# SPDX-License-Identifier: BSD-3-Clause
"""The two kinds of errors for users.

The text says what happened, where, and what to do. The code is for programs and does not change
(docs/compatibility.md).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Misuse(ValueError):
    """The request is not valid; exit status 2."""

    code = "misuse"
    raised: ClassVar[list[Misuse] | None] = None  # all so far, while a script runs

    def __init__(self, *said: object) -> None:
        super().__init__(*said)
        if Misuse.raised is not None:
            Misuse.raised.append(self)


class Failure(Exception):
    """A valid request failed; exit status 1."""

    code = "failure"

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code or self.code
