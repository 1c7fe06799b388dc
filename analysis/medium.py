# SPDX-License-Identifier: BSD-3-Clause
"""What an observer of the air must be told or can compute: who senses whom, delays, and how long a frame lasts.

This is deliberately a second, independent reading of the standard: the air module has its own in C, and the taps
compare the two. IEEE 802.11-2016: 16.3.4 (DSSS, HR/DSSS), 17.4.3 (OFDM), 18.5.3 (ERP).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.links import Links, attowatts
from analysis.trace import Array

DSSS_RATES = (10, 20, 55, 110)  # 100 kb/s


def is_ofdm(rate: Array) -> Array:
    return ~np.isin(rate, DSSS_RATES)


def plcp_ns(rate: Array, short_preamble: Array) -> Array:
    """The preamble and header before each frame; 1 Mb/s knows the long preamble only (16.2.2.3)."""
    return np.where(is_ofdm(rate), 20_000, np.where(short_preamble & (rate != 10), 96_000, 192_000))


def airtime_ns(rate: Array, length: Array, short_preamble: Array, signal_extension_ns: int) -> Array:
    """How long frames are on the air. `rate` in 100 kb/s, `length` in bytes with FCS."""
    per_symbol = (rate * 2 // 5).clip(min=1)  # bits in 4 us
    symbols = -(-(16 + 8 * length + 6) // per_symbol)  # SERVICE and tail bits
    octets = -(-80 * length // rate.clip(min=1))
    body = np.where(is_ofdm(rate), symbols * 4000 + signal_extension_ns, octets * 1000)
    airtime: Array = plcp_ns(rate, short_preamble) + body
    return airtime


@dataclass(frozen=True)
class Medium:
    """Facts of the air and of the MAC that no frame carries.

    A station senses what arrives with `sense_aw` (attowatts) or more, and can receive it from `receive_aw` on. `noise`:
    frames may fail without anybody else's. Limits of None: the kernel's rate stages.
    """

    links: Links
    sense_aw: float = 1
    receive_aw: float = 1
    basic_rates: tuple[int, ...] = (10,)
    sifs_ns: int = 10_000
    slot_ns: int = 20_000
    signal_extension_ns: int = 0
    noise: bool = False
    short_limit: int | None = 7
    long_limit: int | None = 4

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any], start_ns: int = 0, changes: Sequence[Mapping[str, Any]] = ()) -> "Medium":
        """From the plan of a run that started then, and the `changes` of its lane.json (docs/interfaces.md, sections 1
        and 2). With `sinr` reception every signal that arrives at all interferes; with `capture`, every one at or above
        the carrier-sense threshold."""
        air = plan["air"]
        limited = air["retry_by"] == "limits"
        return cls(
            links=Links.of_run(plan, [radio["name"] for radio in radios(plan)], start_ns, changes),
            sense_aw=float(attowatts(air["cs_threshold_mdbm"])) if air["reception"] == "capture" else 1,
            receive_aw=float(attowatts(air["rx_threshold_mdbm"])),
            basic_rates=tuple(air["basic_rates"]),
            sifs_ns=air["sifs_ns"],
            slot_ns=air["slot_ns"],
            signal_extension_ns=air["signal_extension_ns"],
            noise=air["reception"] == "sinr",
            short_limit=air["short_retry"] if limited else None,
            long_limit=air["long_retry"] if limited else None,
        )

    @classmethod
    def of_all(cls, stations: int) -> "Medium":
        """Without a plan: everybody senses everybody, at once, and the limits are the standard's."""
        return cls(Links(1 - np.eye(stations), np.zeros((stations, stations))))

    def timeout_ns(self, rate: int, short_preamble: bool) -> int:
        """CTSTimeout or ACKTimeout after a frame: SIFS, slot, and the preamble of the answer (10.3.2.7, 10.3.2.9),
        which goes at the highest basic rate of the frame's modulation that is not above its own (10.7.6.5.2)."""
        basic = [b for b in self.basic_rates if b in DSSS_RATES and b <= rate] if rate in DSSS_RATES else []
        answer = np.array(max(basic, default=rate))
        return self.sifs_ns + self.slot_ns + int(plcp_ns(answer, np.array(short_preamble)))


def radios(plan: Mapping[str, Any]) -> list[dict[str, str]]:
    """The air's stations in their order: `name` (the node's), `address` and `ip` of each radio of a plan."""
    return [
        {"name": node["name"], "address": interface["address"], "ip": interface["ip"]}
        for node in plan["nodes"]
        for interface in node["interfaces"]
        if interface["kind"] == "radio"
    ]


def ips_of(stations: Sequence[Mapping[str, Any]]) -> list[str]:
    """The IP address of each of these `radios`, without its prefix; empty where there is none."""
    return [str(station.get("ip") or "").partition("/")[0] for station in stations]
