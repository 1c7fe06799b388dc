# SPDX-License-Identifier: BSD-3-Clause
"""The air as the lane sees it: control of the kernel module dcf80211 by generic netlink.

The protocol is in `dcf80211/dcf80211.yaml`, which any YNL tool reads; this is its Python side. Powers come in as
thousandths of a dBm and go out in attowatts as well, because the module adds interferers up and knows no logarithm.
"""

from __future__ import annotations

import errno
import os
import struct

from emulation.lane import syscalls
from emulation.lane.netlink import DUMP, Generic, NetlinkError
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self

FAMILY = "dcf80211"
KINDS = ("rts", "cts", "ack", "tcp_data", "tcp_ack", "routing", "management", "other")
OUTCOMES = ("OK", "COLLISION", "OWN_TX", "NOISE", "BELOW_THRESHOLD")
REASONS = ("ACKED", "GROUP", "RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES", "QUEUE_FULL", "REFUSED")
RATES = (10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540)
RECEPTIONS = ("capture", "sinr")
EIFS = ("off", "frame", "energy")

SETUP, TEARDOWN, STATION, LINKS, ERRORS, START, STOP, STATUS, COUNTERS = range(1, 10)
(PAD, STATIONS, SLOT_NS, SIFS_NS, CW_MIN, CW_MAX, SIGNAL_EXTENSION_NS, BASIC_RATES, RECEPTION, EIFS_RULE, NAV_RESET,
 RETRY_BY_STAGES, TRACE_ON, SNAP, CAPTURE_RATIO_MILLI, RX_THRESHOLD_AW, CS_THRESHOLD_AW, NOISE_AW, SEED, STATION_INDEX,
 RADIO, FREQ, SHORT_RETRY, LONG_RETRY, QUEUE, PROMISCUOUS, LINKS_OF, RATE, FIRST_MDB, STEP_MDB, LAMBDA_Q40, TIME_NS,
 MEASURING, LOST_RECORDS, REFUSED_FRAMES, UNKNOWN_RADIOS, FRAMES, EVENTS, TIMERS, LATE_NS_MAX, TX, AIRTIME_NS, RX,
 ADDRESSED, END, SHORT_RETRIES, LONG_RETRIES, BUSY_NS, NAV_NS, TX_NS) = range(1, 51)  # fmt: skip


def attowatts(mdbm: int) -> int:
    """A power in thousandths of a dBm as attowatts (10^-18 W), rounded."""
    return round(10 ** (mdbm / 10_000 + 15))


def _u8(value: int) -> bytes:
    return struct.pack("=B", value)


def _u16(value: int) -> bytes:
    return struct.pack("=H", value)


def _u64(value: int) -> bytes:
    return struct.pack("=Q", value)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _numbers(data: bytes) -> list[int]:
    return list(struct.unpack(f"={len(data) // 8}Q", data))


def _table(data: bytes, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """A kind-by-`names` table; zeros are left out."""
    values, width = _numbers(data), len(data) // 8 // len(KINDS)
    return {
        kind: row
        for k, kind in enumerate(KINDS)
        if (row := {name: v for name, v in zip(names, values[k * width : (k + 1) * width], strict=True) if v})
    }


def stations_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The air's stations: `name`, `address` and `freq` of the radios of a plan, in its order."""
    freq = {link["name"]: link["freq"] for link in plan["links"]}
    return [
        {"name": node["name"], "address": interface["address"], "freq": freq[interface["link"]]}
        for node in plan["nodes"]
        for interface in node["interfaces"]
        if interface["kind"] == "radio"
    ]


class Air:
    """The one air of this kernel. A context manager: at its end the radios are without a medium again.

    Raises NetlinkError where the kernel refuses, with its sentence.
    """

    def __init__(self) -> None:
        Generic.families.pop(FAMILY, None)  # its number changes when the module is loaded anew
        self.netlink = Generic()
        self.names: list[str] = []
        self.power_mdbm: dict[int, Sequence[int | None]] = {}

    @classmethod
    def load(cls, module: str) -> Self:
        """Load the module from this file, unless it is loaded already. Raises OSError."""
        if not os.path.exists(f"/sys/module/{FAMILY}"):
            syscalls.load_module(module)
        return cls()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, command: int, values: Sequence[tuple[int, Any]], what: str) -> dict[int, bytes]:
        answers = self.netlink.command(FAMILY, command, values, what=f"the air: {what}")
        return answers[0] if answers else {}

    def configure(self, plan: dict[str, Any]) -> None:
        """Make the air of a plan (docs/interfaces.md, 1): its parameters, stations, powers and error tables."""
        air, stations = plan["air"], stations_of(plan)
        self.names = [station["name"] for station in stations]
        basic = sum(1 << RATES.index(rate) for rate in air["basic_rates"])
        self._ask(SETUP, [
            (STATIONS, _u16(len(stations))), (SLOT_NS, air["slot_ns"]), (SIFS_NS, air["sifs_ns"]),
            (CW_MIN, air["cw_min"]), (CW_MAX, air["cw_max"]), (SIGNAL_EXTENSION_NS, air["signal_extension_ns"]),
            (BASIC_RATES, basic), (RECEPTION, _u8(RECEPTIONS.index(air["reception"]))),
            (EIFS_RULE, _u8(EIFS.index(air["eifs"]))), (NAV_RESET, _u8(air["nav_reset"])),
            (RETRY_BY_STAGES, _u8(air["retry_by"] == "stages")), (TRACE_ON, _u8(air["trace"])),
            (SNAP, _u16(air["snap"])), (CAPTURE_RATIO_MILLI, round(1000 * 10 ** (air["capture_db"] / 10))),
            (RX_THRESHOLD_AW, _u64(attowatts(air["rx_threshold_mdbm"]))),
            (CS_THRESHOLD_AW, _u64(attowatts(air["cs_threshold_mdbm"]))),
            (NOISE_AW, _u64(attowatts(air["noise_mdbm"]))), (SEED, _u64(air["seed"])),
        ], "set-up")  # fmt: skip
        for index, station in enumerate(stations):
            radio = hardware_address(station["address"])  # hwsim names a radio by its PERM_ADDR
            self._ask(STATION, [
                (STATION_INDEX, _u16(index)), (RADIO, radio), (FREQ, _u16(station["freq"])),
                (SHORT_RETRY, _u8(air["short_retry"])), (LONG_RETRY, _u8(air["long_retry"])),
                (QUEUE, _u16(air["queue"])), (PROMISCUOUS, _u8(0)),
            ], f"station {station['name']}")  # fmt: skip
        self.set_powers(dict(enumerate(air["power_mdbm"])), dict(enumerate(air["delay_ns"])))
        table = air.get("error_table") or {"lambda_q40": {}}
        for rate, values in table["lambda_q40"].items():
            self._ask(ERRORS, [
                (RATE, _u16(int(rate))), (FIRST_MDB, struct.pack("=i", table["first_mdb"])),
                (STEP_MDB, table["step_mdb"]), (LAMBDA_Q40, struct.pack(f"={len(values)}Q", *values)),
            ], f"error table of {int(rate) / 10:g} Mb/s")  # fmt: skip

    def set_powers(self, power_mdbm: Mapping[int, Sequence[int | None]], delay_ns: Mapping[int, Sequence[int]]) -> None:
        """Write the power (None: nothing arrives) and delay from these transmitters to every receiver, by index."""
        for index, powers in power_mdbm.items():
            row = b"".join(
                struct.pack("=QiI", 0, 0, 0) if p is None else struct.pack("=QiI", attowatts(p), p, d)
                for p, d in zip(powers, delay_ns[index], strict=True)
            )
            self._ask(LINKS, [(STATION_INDEX, _u16(index)), (LINKS_OF, row)], f"powers of {self.names[index]}")
            self.power_mdbm[index] = powers

    def start(self) -> int:
        """Begin to count and to trace; returns when, in ns of CLOCK_MONOTONIC."""
        return _number(self._ask(START, [], "start")[TIME_NS])

    def stop(self) -> int:
        """End it; returns when. What is in the air then stays open."""
        return _number(self._ask(STOP, [], "stop")[TIME_NS])

    def report(self) -> dict[str, Any]:
        """The `air` part of lane.json (docs/interfaces.md, 2 and 4)."""
        status = self._ask(STATUS, [], "status")
        counters = self.netlink.command(FAMILY, COUNTERS, flags=DUMP, what="the air: counters")
        return {
            "version": 1,
            **{
                name: _number(status[attribute])
                for name, attribute in (
                    ("lost_records", LOST_RECORDS), ("refused_frames", REFUSED_FRAMES),
                    ("unknown_radios", UNKNOWN_RADIOS), ("frames", FRAMES), ("events", EVENTS), ("timers", TIMERS),
                    ("late_ns_max", LATE_NS_MAX),
                )
            },
            "stations": [
                {"name": self.names[_number(row[STATION_INDEX])], "counters": _counters(row)} for row in counters
            ],
        }  # fmt: skip

    def close(self) -> None:
        """Take the air away from under hwsim. Frames it holds are reported as not acknowledged."""
        if self.names:
            self.names = []
            try:
                self._ask(TEARDOWN, [], "tear-down")
            except NetlinkError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # unloaded meanwhile: it is gone
                    raise
        self.netlink.close()


def _counters(row: dict[int, bytes]) -> dict[str, Any]:
    return {
        "tx": {kind: n for kind, n in zip(KINDS, _numbers(row[TX]), strict=True) if n},
        "airtime_ns": {kind: n for kind, n in zip(KINDS, _numbers(row[AIRTIME_NS]), strict=True) if n},
        "rx": _table(row[RX], OUTCOMES),
        "addressed": _table(row[ADDRESSED], OUTCOMES),
        "end": _table(row[END], REASONS),
        "retries": {"short": _number(row[SHORT_RETRIES]), "long": _number(row[LONG_RETRIES])},
        "busy_ns": _number(row[BUSY_NS]),
        "nav_ns": _number(row[NAV_NS]),
        "tx_ns": _number(row[TX_NS]),
    }
