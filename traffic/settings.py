# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a kind of application, as data: a default, its type, and its limits.

A plain default is also a setting: of its type, without limits.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Setting:
    """One setting. If its default is None, its type is `of`. `words` are the allowed values."""

    def __init__(
        self, default: Any, least: float | None = None, most: float | None = None, *, words: tuple[str, ...] = (),
        of: type | None = None,
    ) -> None:  # fmt: skip
        self.default, self.least, self.most, self.words = default, least, most, words
        self.type: type = of or type(default)

    def read(self, value: Any) -> Any:
        """Return this value, which may be text from a command line. Raises ValueError if it is not allowed."""
        if value is None and self.default is None:
            return None
        made = self._typed(value)
        if self.words and made not in self.words:
            *others, last = map(repr, self.words)
            raise ValueError(f"must be {', '.join(others)} or {last}, not {value!r}")
        if self.least is not None and made < self.least:
            raise ValueError(f"must be at least {self.least:g}, not {value}")
        if self.most is not None and made > self.most:
            raise ValueError(f"must be at most {self.most:g}, not {value}")
        return made

    def _typed(self, value: Any) -> Any:
        fits = isinstance(value, int | float if self.type is float else self.type)
        try:
            if self.type in (int, float) and not isinstance(value, bool) and (fits or isinstance(value, str)):
                made = self.type(value)
                if math.isfinite(made):
                    return made
        except ValueError:
            pass
        if self.type not in (int, float) and fits:
            return value
        said = {int: "a whole number", float: "a number", str: "a word"}.get(self.type, f"like {self.default!r}")
        raise ValueError(f"must be {said}, not {value!r}")


def setting(of: Any) -> Setting:
    """Return a setting in its full form."""
    return of if isinstance(of, Setting) else Setting(of)
