# SPDX-License-Identifier: BSD-3-Clause
"""A wire between two nodes, the same in both directions, with a rate, a delay, jitter and losses.

netem emulates these at the sending end, to the nanosecond. A qdisc of the node, as ackthin, is below netem, so it thins
packets after their delay. Settings and their units are Mininet's:

- `bw`: Mb/s of Ethernet frames without preamble and gap; by default unlimited
- `delay`, `jitter`: one way, as "2ms" or "500us"; jitter is uniform, and can reorder packets
- `loss`: percent
- `max_queue_size`: packets that wait for the rate or are in flight, 1000
- `spare`: True for a wire that is down at first, as one that closes a loop of bridges
"""

from __future__ import annotations

import re

from emulation.lane import links, netem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane import node
    from emulation.lane.interfaces.wired import Interface

UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6}
TIME = re.compile(r"(\d+(?:\.\d*)?)(us|ms|s)")
LONGEST_US, FASTEST_MBPS, QUEUE = 10e6, 100_000, 1000
HANDLE, CHILD = 1 << 16, 1 << 16 | 1  # of netem, 1:, and of its child


class Link(links.Link):
    """A wire with two ends, in any two nodes."""

    interface = "wired"
    type, staggered = "", False  # those of radios only
    settings = ("bw", "delay", "jitter", "loss", "max_queue_size", "spare")

    @classmethod
    def check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        delay, jitter = (_time_us(name, settings.get(name, 0)) for name in ("delay", "jitter"))
        if jitter > delay:
            raise ValueError(f"jitter: must be at most the delay, {settings.get('delay', 0)}")
        return {
            "rate_bps": round(_number("bw", settings.get("bw", 0), 0, FASTEST_MBPS) * 1e6) or None,
            "delay_us": delay,
            "jitter_us": jitter,
            "loss_percent": _number("loss", settings.get("loss", 0), 0, 100),
            "queue": int(_number("max_queue_size", settings.get("max_queue_size", QUEUE), 1, 1e6)),
            **({"spare": True} if settings.get("spare") else {}),
        }

    def take(self, interface: Interface) -> None:  # type: ignore[override]
        if self.plan["rate_bps"] or self.plan["delay_us"] or self.plan["loss_percent"]:
            shape(interface, self.plan)
            interface.parent = CHILD
        interface.switch(on=not self.plan.get("spare"))
        if interface.node.join_bridge:
            interface.node.join_bridge(interface)

    def join(self, interface: Interface) -> None:  # type: ignore[override]
        """Do nothing: the other end is connected."""

    def rejoin(self, interface: Interface, patient: bool = True) -> None:  # type: ignore[override]
        interface.switch(on=True)


def shape(interface: node.Interface, plan: dict[str, Any]) -> None:
    """Give an end the rate, delay and losses of a plan, also while the network runs."""
    options = netem_options(plan, plan["rate_bps"] or 0)
    if not plan["rate_bps"]:
        options += netem.UNLIMITED  # else netem keeps the rate that it had
    interface.node.route.replace_qdisc(interface.index, "netem", options, handle=HANDLE)


def netem_options(plan: dict[str, Any], rate_bps: int = 0) -> bytes:
    """Return netem's options for a link of a plan, with this rate (bit/s; 0: unlimited)."""
    delays = {"latency_ns": plan["delay_us"] * 1000, "jitter_ns": plan["jitter_us"] * 1000}
    return netem.pack(delays, plan["queue"], plan["loss_percent"] / 100, rate_bps)


def _time_us(name: str, value: Any) -> int:
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if not found and value != 0:
        raise ValueError(f'{name}: must be a time, as "2ms" or "500us", not {value!r}')
    us = float(found[1]) * UNITS_US[found[2]] if found else 0.0
    if us > LONGEST_US:
        raise ValueError(f"{name}: must be at most 10s, not {value}")
    return round(us)


def _number(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name}: must be from {least:g} to {most:g}, not {value!r}")
    return value
