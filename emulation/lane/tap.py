# SPDX-License-Identifier: BSD-3-Clause
"""The reading side of tcp_tap.ko: copies what TCP senders do, event by event, from debugfs into a run's `tcp.trace`
(docs/interfaces.md, section 8)."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

FOLDER = "/sys/kernel/debug/tcp_tap"
CHANNEL, LOST = FOLDER + "/trace0", FOLDER + "/lost"


class Tap:
    """The tap of this kernel, from now on, into a file at `path`. A context manager. Raises OSError."""

    def __init__(self, path: str) -> None:
        self.channel = os.open(CHANNEL, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.file = open(path, "wb")  # noqa: SIM115
        while os.read(self.channel, 1 << 20):  # what an earlier run has left
            pass
        self.lost_before = _lost()

    @staticmethod
    def there() -> bool:
        """Whether the module is loaded."""
        return os.path.exists(CHANNEL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.channel)
        self.file.close()

    def copy(self) -> None:
        """Append what there is; `self.channel` is readable whenever it is much."""
        while data := os.read(self.channel, 1 << 20):
            self.file.write(data)

    def report(self) -> dict[str, int]:
        """The `tcp` part of lane.json."""
        return {"lost_records": _lost() - self.lost_before}


def _lost() -> int:
    with open(LOST) as file:
        return int(file.read())
