# SPDX-License-Identifier: BSD-3-Clause
"""A backend of matplotlib for scripts: a lane has no windows, so figures are drawn by Agg. Timers, by which a window
moves nodes in scripts, run in the lane's time."""

from __future__ import annotations

import threading
from typing import Any

from matplotlib.backend_bases import FigureManagerBase, TimerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

BACKEND = f"module://{__name__}"


class Timer(TimerBase):
    """A timer that a thread plays."""

    running: threading.Timer | None = None

    def _timer_start(self) -> None:
        self._timer_stop()
        self.running = threading.Timer(self.interval / 1000, self._on_timer)
        self.running.daemon = True
        self.running.start()

    def _timer_stop(self) -> None:
        if self.running:
            self.running.cancel()
            self.running = None

    def _on_timer(self) -> None:
        began = self.running
        super()._on_timer()  # type: ignore[misc]
        if self.running is began and not self.single_shot:  # no callback has stopped it
            self._timer_start()


class FigureCanvas(FigureCanvasAgg):
    """A picture with such timers."""

    _timer_cls: Any = Timer


FigureManager = FigureManagerBase
