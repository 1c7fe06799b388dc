# SPDX-License-Identifier: BSD-3-Clause
"""Write the congestion window of each flow, ten times a second, to `windows.csv`."""

from __future__ import annotations

import time
from typing import Any

from emulation.lane import recorders
from traffic.loop import Loop

STEP_NS = 100_000_000


class Recorder(recorders.Recorder):
    """A row is the time in seconds, the flow, and its window in segments."""

    def there(self) -> bool:
        return bool(self.net.plan["applications"])

    def start(self, loop: Loop) -> None:
        self.file = open(f"{self.net.folder}/windows.csv", "w")  # noqa: SIM115
        self.loop, self.rows = loop, 0
        self.sample()

    def sample(self) -> None:
        now = time.monotonic_ns()
        for flow in self.net.plan["applications"]:
            for info in self.net.nodes[flow["source"]].connections(flow["port"]):
                self.file.write(f"{now / 1e9:.1f},{flow['name']},{info['snd_cwnd']}\n")
                self.rows += 1
        self.loop.at(now + STEP_NS, self.sample)

    def stop(self) -> None:
        self.file.close()

    def report(self) -> dict[str, Any]:
        return {"rows": self.rows}
