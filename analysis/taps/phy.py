# SPDX-License-Identifier: BSD-3-Clause
"""What an observer of the air must be told or can compute: who senses whom, delays, and how long a frame lasts.

This is deliberately a second, independent reading of the standard: the air module has its own in C, and the taps
compare the two. IEEE 802.11-2016: 16.3.4 (DSSS, HR/DSSS), 17.4.3 (OFDM), 18.5.3 (ERP).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.taps.links import ALWAYS, Links, attowatts
from analysis.traces.columns import around, one_of
from analysis.traces.trace import Array

DSSS_RATES = (10, 20, 55, 110)  # 100 kb/s


def is_ofdm(rate: Array) -> Array:
    return ~one_of(rate, DSSS_RATES)


def plcp_ns(rate: Array, short_preamble: Array) -> Array:
    """The preamble and header before each frame; 1 Mb/s knows the long preamble only (16.2.2.3)."""
    return np.where(is_ofdm(rate), 20_000, np.where(short_preamble & (rate != 10), 96_000, 192_000))


def detect_ns(rate: Array) -> Array:
    """How long a receiver hears a preamble before it has noticed it: aCCATime (15.3.3), and 17.3.10.6."""
    return np.where(is_ofdm(rate), 4_000, 15_000)


def airtime_ns(rate: Array, length: Array, short_preamble: Array, signal_extension_ns: int) -> Array:
    """How long frames are on the air. `rate` in 100 kb/s, `length` in bytes with FCS."""
    per_symbol = (rate * 2 // 5).clip(min=1)  # bits in 4 us
    symbols = -(-(16 + 8 * length + 6) // per_symbol)  # SERVICE and tail bits
    octets = -(-80 * length // rate.clip(min=1))
    body = np.where(is_ofdm(rate), symbols * 4000 + signal_extension_ns, octets * 1000)
    airtime: Array = plcp_ns(rate, short_preamble) + body
    return airtime


ANSWER_LEN = 14  # bytes of a CTS or an ACK, with FCS
NS2_DELAY_NS = 2000  # what ns-2 allows for the way there, and back


@dataclass(frozen=True)
class Own:
    """What each station has of its own, and may change: whose, since when (ns), and what, in order of time."""

    station: Array
    since_ns: Array
    value: Array

    @classmethod
    def of_run(cls, plan: Mapping[str, Any], what: str, changes: Sequence[Mapping[str, Any]]) -> "Own":
        """docs/interfaces.md: a plan's radios and `air`, and `changes` of lane.json."""
        radios = _radios(plan)
        rows = [(at, ALWAYS, radio.get(what, plan["air"][what])) for at, (_, radio) in enumerate(radios)]
        for change in changes:
            names = [name for name, _ in radios] if what in change.get("own", ()) else []
            rows += [
                (at, change["at_ns"], change["own"][what]) for at, name in enumerate(names) if name == change["node"]
            ]
        return cls(*np.array(rows, np.int64).reshape(-1, 3).T)

    def at(self, station: Array, when: Array) -> Array:
        """What these stations had at these times."""
        station, when = np.broadcast_arrays(station, when)
        everything = np.arange(self.station.size)
        row, _ = around(everything, self.station, self.since_ns, station.ravel(), when.ravel() + 1)
        return self.value[row].reshape(station.shape)


def at(value: float | Own, station: Array, when: Array) -> Array:
    """Of what all have alike, or each its own."""
    return value.at(station, when) if isinstance(value, Own) else np.array(value)


@dataclass(frozen=True)
class Medium:
    """Facts of the air and of the MAC that no frame carries.

    A station senses what arrives with `sense_aw` (attowatts) or more, and can receive it from `receive_aw` on. `noise`:
    frames may fail without anybody else's. `detection`: by what factor above all others a preamble is noticed, of OFDM
    and of DSSS; None: what is sensed first is followed. `fixed_timeouts`: a rule of docs/like-ns2.md. Limits of None:
    the kernel's rate stages. What not all have is an Own.
    """

    links: Links
    sense_aw: "float | Own" = 1
    receive_aw: "float | Own" = 1
    basic_rates: tuple[int, ...] = (10,)
    sifs_ns: int = 10_000
    slot_ns: int = 20_000
    signal_extension_ns: int = 0
    noise: bool = False
    detection: tuple[float, float] | None = None
    fixed_timeouts: bool = False
    short_limit: "int | Own | None" = 7
    long_limit: "int | Own | None" = 4

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any], start_ns: int = 0, changes: Sequence[Mapping[str, Any]] = ()) -> "Medium":
        """From the plan of a run that started then, and the `changes` of its lane.json (docs/interfaces.md, sections 1
        and 2). With `sinr` reception every signal that arrives at all interferes; with `capture`, every one at or above
        the carrier-sense threshold."""
        air = plan["air"]
        limited = air["retry_by"] == "limits"

        def own(what: str) -> Own:
            return Own.of_run(plan, what, changes)

        def power(what: str) -> Own:
            found = own(what)
            return replace(found, value=attowatts(found.value))

        return cls(
            links=Links.of_run(plan, [radio["name"] for radio in radios(plan)], start_ns, changes),
            sense_aw=power("cs_threshold_mdbm") if air["reception"] == "capture" else 1,
            receive_aw=power("rx_threshold_mdbm"),
            basic_rates=tuple(air["basic_rates"]),
            sifs_ns=air["sifs_ns"],
            slot_ns=air["slot_ns"],
            signal_extension_ns=air["signal_extension_ns"],
            noise=air["reception"] == "sinr",
            detection=_factors(air["detection_db"]) if air["reception"] == "sinr" else None,
            fixed_timeouts="fixed_timeouts" in air.get("rules", ()),
            short_limit=own("short_retry") if limited else None,
            long_limit=own("long_retry") if limited else None,
        )

    @classmethod
    def of_all(cls, stations: int) -> "Medium":
        """Without a plan: everybody senses everybody, at once, and the limits are the standard's."""
        return cls(Links(1 - np.eye(stations), np.zeros((stations, stations))))

    def timeout_ns(self, rate: int, short_preamble: bool) -> int:
        """CTSTimeout or ACKTimeout after a frame: SIFS, slot, and the preamble of the answer (10.3.2.7, 10.3.2.9),
        which goes at the highest basic rate of the frame's modulation that is not above its own (10.7.6.5.2). A fixed
        one is for the whole answer, on its way for NS2_DELAY_NS."""
        basic = [b for b in self.basic_rates if b in DSSS_RATES and b <= rate] if rate in DSSS_RATES else []
        answer, preamble = np.array(max(basic, default=rate)), np.array(short_preamble)
        if self.fixed_timeouts:
            whole = airtime_ns(answer, np.array(ANSWER_LEN), preamble, self.signal_extension_ns)
            return self.sifs_ns + int(whole) + 2 * NS2_DELAY_NS
        return self.sifs_ns + self.slot_ns + int(plcp_ns(answer, preamble))


def _factors(decibels: Mapping[str, float]) -> tuple[float, float]:
    """Whole thousandths, as the air has them."""
    ofdm, dsss = (round(1000 * 10 ** (decibels[phy] / 10)) / 1000 for phy in ("ofdm", "dsss"))
    return ofdm, dsss


def radios(plan: Mapping[str, Any]) -> list[dict[str, str]]:
    """The air's stations in their order: `name` (the node's), `address` and `ip` of each radio of a plan."""
    return [{"name": name, "address": interface["address"], "ip": interface["ip"]} for name, interface in _radios(plan)]


def _radios(plan: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Each radio of a plan, with its node's name."""
    return [
        (node["name"], interface)
        for node in plan["nodes"]
        for interface in node["interfaces"]
        if interface["kind"] == "radio"
    ]


def ips_of(stations: Sequence[Mapping[str, Any]]) -> list[str]:
    """The IP address of each of these `radios`, without its prefix; empty where there is none."""
    return [str(station.get("ip") or "").partition("/")[0] for station in stations]
