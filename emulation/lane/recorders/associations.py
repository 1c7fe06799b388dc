# SPDX-License-Identifier: BSD-3-Clause
"""Associations of stations with access points over time, from hostapd's and wpa_supplicant's output."""

from __future__ import annotations

import re

from emulation.lane import recorders
from emulation.lane.links.infrastructure import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.loop import Loop

ADDRESS = r"((?:[0-9a-f]{2}:){5}[0-9a-f]{2})"
IN = re.compile(f"AP-STA-CONNECTED {ADDRESS}")  # of hostapd
OUT = re.compile(f"CTRL-EVENT-DISCONNECTED bssid={ADDRESS}.*")  # of wpa_supplicant


class Recorder(recorders.Recorder):
    """The associations of all links with access points."""

    def start(self, loop: Loop) -> None:
        """Do nothing: the link reads the output."""

    def report(self) -> dict[str, Any]:
        """Return `events` in order: time of CLOCK_MONOTONIC (ns), node, and its new access point (`ap`; None: it lost
        its own)."""
        names = {each.MAC(): each.node.name for each in self.net.interfaces()}
        events = []
        for link in self.net.links.values():
            for program in link.programs.running if isinstance(link, Link) else ():
                for at_ns, line in program.lines:
                    if found := IN.search(line):
                        node, ap = names.get(found[1], found[1]), program.node.name
                        events.append({"at_ns": at_ns, "node": node, "ap": ap})
                    elif OUT.search(line):
                        events.append({"at_ns": at_ns, "node": program.node.name, "ap": None})
        return {"events": sorted(events, key=lambda event: event["at_ns"])}
