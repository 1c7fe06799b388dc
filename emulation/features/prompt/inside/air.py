# SPDX-License-Identifier: BSD-3-Clause
"""The air at the prompt: what it has counted, and what it is doing."""

from __future__ import annotations

import time

from emulation.lane.air import NO_BACKOFF
from emulation.lane.protocol import DOINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.lane.network import Live

COLLIDED, GIVEN_UP = ("COLLISION", "OWN_TX"), ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES")
COUNTED = ("sent", "received", "COL_TOTAL", "retries", "given up", "queue full", "busy, s")
APART = ("ack", "routing", "management")  # what COL_TOTAL, as tables have it, is without


class Verbs:
    """Those of a prompt that ask the air."""

    net: Live

    def node(self, name: str) -> Any:
        """The node of this name. Raises ValueError."""
        raise NotImplementedError

    def do_counters(self, line: str) -> None:
        """counters [NODE]: what the air has counted at a node, or at all, since the prompt began.
        Frames sent; those for it that came; RTSs, CTSs and data for it that collided, COL_TOTAL of the table; retries;
        frames that were given up, or found its queue full; and for how long the medium was busy.

        counters sta2
        """
        if not self.net.air:
            raise ValueError("there is no air that counts")
        chosen = [self.node(line).name] if line else list(self.net.nodes)
        print(f"{'':9}" + "".join(f"{name:>12}" for name in COUNTED))
        for station in self.net.air.report()["stations"]:
            if station["name"] in chosen:
                print(f"{station['name']:9}" + "".join(f"{value:>12}" for value in summary(station["counters"])))

    def do_air(self, line: str) -> None:
        """air [NODE]: what each station of the air is doing at this moment: until when, in us from now; how many frames
        it holds; its NAV, in us; its contention window, and the slots of its backoff that are left. To look changes
        nothing.

        air sta2
        """
        if not self.net.air or self.net.plan.get("medium"):
            raise ValueError("there is no air that can be asked")
        chosen, now_ns = [self.node(line).name] if line else list(self.net.nodes), time.monotonic_ns()
        print(f"{'':9}{'does':>9}{'for, us':>10}{'holds':>7}{'NAV, us':>10}{'CW':>6}{'slots':>7}")
        for name, look in zip(self.net.air.names, self.net.air.look(), strict=True):
            if name in chosen:
                times = look["until_ns"], look["nav_end_ns"]
                until, nav = (f"{(at - now_ns) / 1e3:.1f}" if at else "-" for at in times)
                slots = "-" if look["backoff"] == NO_BACKOFF else look["backoff"]
                does = DOINGS[look["doing"]]
                print(f"{name:9}{does:>9}{until:>10}{look['queued']:>7}{nav:>10}{look['cw']:>6}{slots:>7}")


def summary(counters: dict[str, Any]) -> tuple[object, ...]:
    """The numbers of COUNTED (docs/interfaces.md, section 4)."""

    def of(table: str, *columns: str, without: Sequence[str] = ()) -> int:
        rows = [row for kind, row in counters[table].items() if kind not in without]
        return sum(row.get(column, 0) for row in rows for column in columns)

    return (
        sum(counters["tx"].values()), of("addressed", "OK"), of("addressed", *COLLIDED, without=APART),
        sum(counters["retries"].values()), of("end", *GIVEN_UP), of("end", "QUEUE_FULL"),
        f"{counters['busy_ns'] / 1e9:.3f}",
    )  # fmt: skip
