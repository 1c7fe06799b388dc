# SPDX-License-Identifier: BSD-3-Clause
"""What an observer of the air needs in addition to frames: which stations sense each other, delays, and durations of
frames.

This is deliberately a second, independent implementation of the standard: the air module has its own in C, and the taps
compare both. IEEE 802.11-2016: 16.3.4 (DSSS, HR/DSSS), 17.4.3 (OFDM), 18.5.3 (ERP).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.taps.signals import ALWAYS, Links, attowatts
from analysis.traces import modes
from analysis.traces.capture import Capture
from analysis.traces.columns import around, begins, ends, one_of
from analysis.traces.modes import LEGACY, ppdu_ns, psdu_bytes
from analysis.traces.trace import Array

DSSS_RATES = (10, 20, 55, 110)  # 100 kb/s


def is_ofdm(rate: Array) -> Array:
    return ~one_of(rate, DSSS_RATES)


def plcp_ns(rate: Array, short_preamble: Array) -> Array:
    """Return the duration (ns) of preamble and header; at 1 Mb/s always the long preamble (16.2.2.3)."""
    return np.where(is_ofdm(rate), 20_000, np.where(short_preamble & (rate != 10), 96_000, 192_000))


def detect_ns(rate: Array) -> Array:
    """Return the time (ns) that a receiver needs to detect a preamble: aCCATime (15.3.3) and 17.3.10.6."""
    return np.where(is_ofdm(rate), 4_000, 15_000)


def airtime_ns(rate: Array, length: Array, short_preamble: Array, signal_extension_ns: int) -> Array:
    """Return the duration of frames (ns). `rate` is in 100 kb/s, `length` in bytes with FCS."""
    per_symbol = (rate * 2 // 5).clip(min=1)  # bits in 4 us
    symbols = -(-(16 + 8 * length + 6) // per_symbol)  # SERVICE and tail bits
    octets = -(-80 * length // rate.clip(min=1))
    body = np.where(is_ofdm(rate), symbols * 4000 + signal_extension_ns, octets * 1000)
    airtime: Array = plcp_ns(rate, short_preamble) + body
    return airtime


def durations_ns(shown: Capture, row: Array, spacing_ns: Array | int, signal_extension_ns: int) -> Array:
    """Return how long the PPDUs take (ns) to which these packets of `air`, in order, belong. `spacing_ns` is the least
    time between the starts of two MPDUs."""
    found = airtime_ns(shown.rate[row], shown.length[row], shown.short_preamble[row], signal_extension_ns)
    new = np.flatnonzero(shown.mode[row] != LEGACY)
    mode, ppdu = shown.mode[row[new]], shown.ppdu[row[new]]
    apart = np.broadcast_to(spacing_ns, row.shape)[new]
    last = ends(ppdu)
    took = ppdu_ns(mode[last], psdu_bytes(mode, ppdu, shown.length[row[new]], apart)[last]) + signal_extension_ns
    found[new] = took[np.cumsum(begins(ppdu)) - 1]
    return found


def parts_ns(shown: Capture, row: Array, spacing_ns: Array | int, took: Array) -> tuple[Array, Array]:
    """Return the begin and the duration (ns) of each MPDU within its PPDU; arguments are as above, `took` is the
    result."""
    begin, part = np.zeros(row.size, np.int64), took.copy()
    new = np.flatnonzero(shown.mode[row] != LEGACY)
    mode, ppdu = shown.mode[row[new]], shown.ppdu[row[new]]
    psdu = psdu_bytes(mode, ppdu, shown.length[row[new]], np.broadcast_to(spacing_ns, row.shape)[new])
    begin[new], part[new] = modes.parts_ns(mode, ppdu, psdu, took[new])
    return begin, part


ANSWER_LEN = 14  # bytes of a CTS or an ACK, with FCS
NS2_DELAY_NS = 2000  # ns-2's allowance for the propagation delay, each way


@dataclass(frozen=True)
class Own:
    """A setting that each station has for itself and may change, as columns: station, since when (ns), value, by
    time."""

    station: Array
    since_ns: Array
    value: Array

    @classmethod
    def of_run(cls, plan: Mapping[str, Any], what: str, changes: Sequence[Mapping[str, Any]]) -> "Own":
        """Read a plan's radios and `air`, and the `changes` of lane.json (docs/interfaces.md)."""
        stations = radios(plan)
        rows = [(at, ALWAYS, radio.get(what, plan["air"][what])) for at, radio in enumerate(stations)]
        for change in changes:
            if what in change.get("own", ()):
                theirs = [at for at, radio in enumerate(stations) if radio["name"] == change["node"]]
                rows += [(at, change["at_ns"], change["own"][what]) for at in theirs]
        return cls(*np.array(rows, np.int64).reshape(-1, 3).T)

    def at(self, station: Array, when: Array) -> Array:
        """Return the values of these stations at these times."""
        station, when = np.broadcast_arrays(station, when)
        everything = np.arange(self.station.size)
        row, _ = around(everything, self.station, self.since_ns, station.ravel(), when.ravel() + 1)
        return self.value[row].reshape(station.shape)


def at(value: float | Own, station: Array, when: Array) -> Array:
    """Return a value that is common to all stations, or each station's own."""
    return value.at(station, when) if isinstance(value, Own) else np.array(value)


@dataclass(frozen=True)
class Medium:
    """Facts of the air and the MAC that no frame carries.

    A station senses signals from `sense_aw` (attowatts) on, and can receive them from `receive_aw` on. `noise`: frames
    may fail without another transmission. `detection`: ratio to all others at which a preamble is noticed, for OFDM and
    DSSS; None: the first sensed signal is followed. `fixed_timeouts`: a rule of docs/like-ns2.md. Limits of None: the
    kernel's rate stages. A value that differs between stations is an Own. `spacing_ns` is the least time between the
    starts of two MPDUs to each station.
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
    spacing_ns: Array | None = None

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any], start_ns: int = 0, changes: Sequence[Mapping[str, Any]] = ()) -> "Medium":
        """Make the medium of a run with this plan that started at `start_ns`, with the `changes` of its lane.json
        (docs/interfaces.md, sections 1 and 2). With `sinr` reception, every arriving signal interferes; with `capture`,
        every one from the carrier-sense threshold on."""
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
            spacing_ns=spacing_ns(plan),
        )

    @classmethod
    def of_all(cls, stations: int) -> "Medium":
        """Without a plan: all stations sense each other without delay, and the limits are the standard's."""
        return cls(Links(1 - np.eye(stations), np.zeros((stations, stations))))

    def timeout_ns(self, rate: int, short_preamble: bool) -> int:
        """Return CTSTimeout or ACKTimeout after a frame: SIFS, slot, and the preamble of the answer (10.3.2.7,
        10.3.2.9). The answer's rate is the highest basic rate of the frame's modulation up to its own (10.7.6.5.2). A
        fixed timeout covers the whole answer, and NS2_DELAY_NS each way."""
        basic = [b for b in self.basic_rates if b in DSSS_RATES and b <= rate] if rate in DSSS_RATES else []
        answer, preamble = np.array(max(basic, default=rate)), np.array(short_preamble)
        if self.fixed_timeouts:
            whole = airtime_ns(answer, np.array(ANSWER_LEN), preamble, self.signal_extension_ns)
            return self.sifs_ns + int(whole) + 2 * NS2_DELAY_NS
        return self.sifs_ns + self.slot_ns + int(plcp_ns(answer, preamble))


def _factors(decibels: Mapping[str, float]) -> tuple[float, float]:
    """Convert to factors in whole thousandths, as in the air."""
    ofdm, dsss = (round(1000 * 10 ** (decibels[phy] / 10)) / 1000 for phy in ("ofdm", "dsss"))
    return ofdm, dsss


def radios(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the air's stations in order: the interface of each radio of a plan, with the `name` of its node."""
    return [
        {**interface, "name": node["name"]}
        for node in plan["nodes"]
        for interface in node["interfaces"]
        if interface["kind"] == "radio"
    ]


SPACING_NS = (0, 250, 500, 1000, 2000, 4000, 8000, 16000)  # Minimum MPDU Start Spacing (9.4.2.55.3)


def spacing_ns(plan: Mapping[str, Any]) -> Array:
    """Return the time that each radio of a plan wants between the starts of two MPDUs."""
    return np.array([SPACING_NS[(radio.get("ht") or {}).get("density", 0)] for radio in radios(plan)], np.int64)


def ips_of(stations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the IP address of each radio, without its prefix; empty if it has none."""
    return [str(station.get("ip") or "").partition("/")[0] for station in stations]
