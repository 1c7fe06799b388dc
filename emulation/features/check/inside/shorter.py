# SPDX-License-Identifier: BSD-3-Clause
"""A path over a node's loopback that carries one flow, and becomes shorter: its round-trip time falls.

A congestion control that measures delays takes the least for that of the empty path. If it keeps a larger one, or
computes with the wrong sign, its window is far smaller here than the path allows.

Afterwards the path holds packets up for longer than TCP's timeout, some times. Nothing is lost, so TCP takes back what
it did to the window. At last flows pause: a window grows after a long pause as it does after a short one.
"""

from __future__ import annotations

import select

from emulation.features.check.inside import queues
from emulation.features.check.inside.crowd import Stream
from emulation.features.check.inside.devices import Loopback
from emulation.lane import netem
from emulation.lane.node import LOOPBACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.features.check.inside.playground import Playground

LONG_MS, SHORT_MS = 60, 20  # one way
KBPS, QUEUE = 3000, 50  # of the link; packets: the flow fills both, so that its window limits it
WIDE = 1000  # a queue that nothing fills
HOLDS = tuple(KBPS * 2 * delay_ms // (8 * 1500) for delay_ms in (LONG_MS, SHORT_MS))  # segments, on their way
PART = 4  # the window is at least one in this many of them
BEFORE_S, AFTER_S, WATCHED_S = 2.0, 2.2, 0.4
HOLD_UPS, HELD_UP_MS, BEGINS_S, BETWEEN_S = 3, 1000, 0.1, 2.6  # longer than a timeout; how long packets are held up
MTU, USUAL_MTU = 1500, 1 << 16
PAUSES_S, BEFORE_PAUSE_S, AFTER_PAUSE_S = (1.0, 30.0), 1.5, 1.5  # more than a timeout
MUCH, MORE = 1.5, 20  # by which a window is larger after the longer pause; segments


class Long(Stream):
    """A flow whose buffers do not limit it."""

    buffers = (1 << 20, 1 << 20)

    def go_on(self) -> None:
        """Write again."""
        assert self.sender
        self.unsent = None
        self.loop.watch(self.sender.fileno(), select.EPOLLOUT, self.send)


class ShorterPath:
    """The path of a node to itself."""

    def __init__(self, playground: Playground) -> None:
        self.playground = playground
        self.number = len(playground.nodes)
        self.node: Any = Loopback(playground.nodes[-1])

    def windows(self, congestion: str) -> tuple[int, int]:
        """Return a flow's mean congestion window before, and some time after the path becomes shorter; in segments.
        Then hold it up."""
        playground = self.playground
        flow = self.flow(congestion, LONG_MS)
        playground.run(BEFORE_S)
        before = playground.windows(flow, WATCHED_S)
        self.set_delay(SHORT_MS)
        playground.run(AFTER_S)
        after = playground.windows(flow, WATCHED_S)
        for _ in range(HOLD_UPS):
            self.hold_up()
        self.end(flow)
        return sum(before) // len(before), sum(after) // len(after)

    def pauses(self, congestion: str) -> list[int]:
        """Return a flow's largest congestion window after each of PAUSES_S, in segments; a new flow for each."""
        found = []
        for pause_s in PAUSES_S:
            flow = self.flow(congestion, SHORT_MS)
            self.playground.run(BEFORE_PAUSE_S)
            flow.stop()
            self.playground.run(pause_s)
            self.set_delay(SHORT_MS, WIDE)
            flow.go_on()
            found.append(max(self.playground.windows(flow, AFTER_PAUSE_S)))
            self.end(flow)
        return found

    def flow(self, congestion: str, delay_ms: int) -> Long:
        """Start a flow over the path with this delay."""
        self.node.route.set_link(LOOPBACK, mtu=MTU)
        self.set_delay(delay_ms)
        flow = self.playground.flow(self.number, self.number, congestion, Long)
        assert isinstance(flow, Long)
        flow.start()
        return flow

    def end(self, flow: Long) -> None:
        """Close a flow, and make the path what it was."""
        flow.close()
        self.playground.run(2 * LONG_MS / 1000)
        queues.put(self.node, "pfifo")
        self.node.route.set_link(LOOPBACK, mtu=USUAL_MTU)

    def hold_up(self) -> None:
        """Delay what is sent for a moment, and what comes behind it, until after a timeout."""
        self.set_delay(HELD_UP_MS)
        self.playground.run(BEGINS_S)
        self.set_delay(SHORT_MS)
        self.playground.run(BETWEEN_S)

    def set_delay(self, milliseconds: int, queue: int = QUEUE) -> None:
        delay = {"latency_ns": milliseconds * 1_000_000}
        queues.put(self.node, "netem", netem.pack(delay, queue, rate_bps=1000 * KBPS))


def too_small(window: int, holds: int) -> bool:
    """Return whether a window leaves most of a path unused that holds so many segments."""
    return window * PART < holds


def grew(windows: Sequence[int]) -> bool:
    """Return whether the window after a long pause is much larger than that after a short one."""
    short, long = windows
    return long > max(MUCH * short, short + MORE)


def rtt_ms(holds: int) -> int:
    """Return the round-trip time of the empty path that holds so many segments."""
    return 2 * (LONG_MS, SHORT_MS)[HOLDS.index(holds)]
