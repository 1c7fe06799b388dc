# SPDX-License-Identifier: BSD-3-Clause
"""Flows over time, as rows of a table: samples at fixed intervals (docs/file-formats.md, `flows.csv`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "flows.csv"
MOMENT_S = 1e-3  # too short for a rate
COLUMNS = (
    "delivered_bytes", "goodput_kbps", "srtt_ms", "cwnd", "retransmits", "sent", "arrived", "delay_ms", "jitter_ms",
)  # fmt: skip


def of_tcp(sender: Mapping[str, int], delivered: int) -> dict[str, Any]:
    """Return the sample of a TCP flow, from its sender's TCP_INFO (empty: none yet)."""
    return {
        "delivered_bytes": delivered,
        "srtt_ms": sender["rtt"] / 1000 if sender.get("rtt") else None,
        "cwnd": sender.get("snd_cwnd"),
        "retransmits": sender.get("total_retrans", 0),
    }


class Samples:
    """The rows of flows, in order of time."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.before: dict[str, tuple[float, int]] = {}  # for each flow: time and delivered bytes at the previous sample

    def add(self, flow: str, time_s: float, found: Mapping[str, Any], began_s: float) -> None:
        """Add a sample of a flow that began at `began_s`; its goodput is since the previous sample."""
        then_s, had = self.before.get(flow, (began_s, 0))
        if time_s - then_s < MOMENT_S:
            return
        self.before[flow] = time_s, found["delivered_bytes"]
        rate = {"goodput_kbps": (found["delivered_bytes"] - had) * 8 / 1000 / (time_s - then_s)}
        cells = ({**found, **rate}.get(name) for name in COLUMNS)
        self.rows.append(",".join([flow, f"{time_s:.6f}", *map(_cell, cells)]))

    def write(self, folder: str, more: bool = False) -> None:
        """Write the rows to a folder; with `more`, append to those there. Raises OSError if that fails."""
        with open(f"{folder}/{FILE}", "a" if more else "w") as file:
            if not file.tell():
                file.write(",".join(["flow", "time_s", *COLUMNS]) + "\n")
            file.writelines(f"{row}\n" for row in self.rows)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
