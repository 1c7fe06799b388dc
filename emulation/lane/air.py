# SPDX-License-Identifier: BSD-3-Clause
"""Control of the air, the kernel module dcf80211, by generic netlink.

`dcf80211/dcf80211.yaml` specifies the protocol, for any YNL tool; `protocol` has its names. A plan has powers in
thousandths of a dBm. The module also gets them in attowatts, because it adds the powers of interferers and has no
logarithm.
"""

from __future__ import annotations

import errno
import math
import os
import struct

from emulation.lane import syscalls
from emulation.lane.clock import is_real
from emulation.lane.netlink import DUMP, Generic, NetlinkError, number, numbers
from emulation.lane.protocol import CATEGORIES, EIFS, FAMILY, KINDS, OUTCOMES, REASONS, RECEPTIONS, RULES, Command
from emulation.lane.protocol import Attribute as A
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Self

    from emulation.lane.motion import Trajectory

RATES = (10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540)
EIGHTH_MM_Q16 = 1e-3 / 8 / 299_792_458 * 1e9 * 65_536  # propagation delay of 1/8 mm, in 2^-16 ns
POINT, WAYPOINT = 16, 24  # sizes in bytes
LONGEST_ATTRIBUTE = 60_000  # size of an attribute, in bytes
CATEGORY_COUNTERS = ("tx", "airtime_ns", "acked", "group", "given_up", "dropped", "collisions")  # per access category
LOOK = struct.Struct("=QQHHHBx")
_u8, _u16, _u64 = (struct.Struct(f"={size}").pack for size in "BHQ")
LINK_ENTRY = struct.Struct("=QiI")  # attowatts, thousandths of a dBm, ns
NO_BACKOFF = 0xFFFF  # no backoff is running
LOOKS = ("nav_end_ns", "until_ns", "queued", "cw", "backoff", "doing")
# Settings that a station can override.
OVERRIDABLE = ("short_retry", "long_retry", "rx_threshold_mdbm", "cs_threshold_mdbm")
STATUS = (
    "lost_records", "refused_frames", "unknown_radios", "frames", "events", "timers", "late_ns_max", "lost_messages",
)  # fmt: skip


def quantile(counts: Sequence[int], fraction: float) -> int:
    """Return a quantile of delays that are counted in bins, as dcf80211.yaml defines them for `late`. The result is the
    lower bound of its bin, in ns, or 0 if there are no delays."""
    due, seen = fraction * sum(counts), 0
    for bin_, count in enumerate(counts):
        seen += count
        if count and seen >= due:
            octave, quarter = bin_ // 4, bin_ % 4
            return bin_ if octave < 1 else (4 + quarter) << (octave - 1)
    return 0


def delays(counts: Sequence[int], most_ns: int) -> dict[str, int]:
    return {"count": sum(counts), "p50": quantile(counts, 0.5), "p99": quantile(counts, 0.99), "max": most_ns}


def attowatts(mdbm: int) -> int:
    """Convert a power from thousandths of a dBm to attowatts (10^-18 W), rounded."""
    return round(10 ** (mdbm / 10_000 + 15))


def ratio_milli(decibels: float) -> int:
    """Convert decibels to a factor, in thousandths."""
    return round(1000 * 10 ** (decibels / 10))


def points(table: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Convert the table of a plan's `motion` to the air's form.

    Each point is (attowatts, thousandths of a dBm, delay in 2^-16 ns). There are 2^bin_bits points per octave of the
    squared distance, which is in 64ths of a square millimetre.
    """
    first, bins = table["first"], 1 << table["bin_bits"]
    return [
        (attowatts(p), p, round(math.sqrt(2.0 ** (first + i // bins) * (1 + i % bins / bins)) * EIGHTH_MM_Q16))
        for i, p in enumerate(table["power_mdbm"])
    ]


def gain_q63(weaker_mdb: int) -> int:
    """Convert an attenuation in thousandths of a dB to a factor in units of 2^-63."""
    return min(round(10 ** (-weaker_mdb / 10_000) * (1 << 63)), 1 << 63)


def _parts(entries: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Split an array of `size`-byte entries into parts that fit an attribute. Yield the index of each part's first
    entry, and the part. There is at least one part."""
    for at in range(0, max(len(entries), 1), LONGEST_ATTRIBUTE // size * size):
        yield at // size, entries[at : at + LONGEST_ATTRIBUTE // size * size]


def _table(data: bytes, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Parse a table with a row per frame kind and a column per name; omit zeros."""
    values, width = numbers(data), len(data) // 8 // len(KINDS)
    return {
        kind: row
        for k, kind in enumerate(KINDS)
        if (row := {name: v for name, v in zip(names, values[k * width : (k + 1) * width], strict=True) if v})
    }


def stations_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the radios of a plan as the air's stations, in the order of the plan. Each has `name`, `address`, `edca`,
    `freq`, and the settings in OVERRIDABLE, which default to the air's."""
    freq, air = {link["name"]: link["freq"] for link in plan["links"] if "freq" in link}, plan["air"]
    return [
        {
            "name": node["name"],
            "address": interface["address"],
            "edca": interface["edca"],
            "freq": freq[interface["link"]],
            **{what: interface.get(what, air[what]) for what in OVERRIDABLE},
        }
        for node in plan["nodes"]
        for interface in node["interfaces"]
        if interface["kind"] == "radio"
    ]


class Air:
    """The air of this kernel; there is one.

    As a context manager, it takes the medium away from the radios at its end. Methods raise NetlinkError, with the
    kernel's text, if the kernel refuses.
    """

    def __init__(self) -> None:
        Generic.families.pop(FAMILY, None)  # the id changes when the module is loaded again
        self.netlink = Generic()
        self.names: list[str] = []
        self.places = 0  # for stations, of which the last may be free
        self.station_settings: dict[int, Mapping[str, Any]] = {}  # the settings of each station
        self.power_mdbm: dict[int, Sequence[int | None]] = {}
        self.by_distance = False  # whether stations move

    @classmethod
    def load(cls, module: str) -> Self:
        """Load the module from this file, unless it is loaded already. Raises OSError if that fails."""
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
        """Set up the air of a plan (docs/interfaces.md, section 1): parameters, stations, powers and error tables."""
        air, stations = plan["air"], stations_of(plan)
        self.names, self.places = [], len(stations) + air.get("reserve", 0)  # some, if a script may add radios
        basic = sum(1 << RATES.index(rate) for rate in air["basic_rates"])
        self._ask(Command.SETUP, [
            (A.STATIONS, _u16(self.places)), (A.SLOT_NS, air["slot_ns"]), (A.SIFS_NS, air["sifs_ns"]),
            (A.CW_MIN, air["cw_min"]), (A.CW_MAX, air["cw_max"]), (A.SIGNAL_EXTENSION_NS, air["signal_extension_ns"]),
            (A.BASIC_RATES, basic), (A.SENSING_NS, air["sensing_ns"]),
            (A.RECEPTION, _u8(RECEPTIONS.index(air["reception"]))),
            (A.EIFS, _u8(EIFS.index(air["eifs"]))), (A.NAV_RESET, _u8(air["nav_reset"])),
            (A.RETRY_BY_STAGES, _u8(air["retry_by"] == "stages")), (A.TRACE, _u8(air["trace"])),
            (A.SNAP, _u16(air["snap"])), (A.CAPTURE_RATIO_MILLI, ratio_milli(air["capture_db"])),
            (A.DETECT_OFDM_MILLI, ratio_milli(air["detection_db"]["ofdm"])),
            (A.DETECT_DSSS_MILLI, ratio_milli(air["detection_db"]["dsss"])),
            (A.RX_THRESHOLD_AW, _u64(attowatts(air["rx_threshold_mdbm"]))),
            (A.CS_THRESHOLD_AW, _u64(attowatts(air["cs_threshold_mdbm"]))),
            (A.NOISE_AW, _u64(attowatts(air["noise_mdbm"]))), (A.SEED, _u64(air["seed"])),
            (A.SHORT_PREAMBLE, _u8(air["preamble"] == "short")), (A.PUNCTUAL, _u8(air["punctual"])),
            (A.EDCA, _u8(air["edca"])), (A.HT, _u8(air["ht"])),
            (A.HOST_DELAY_NS, 0 if is_real() else air["host_delay_ns"]),
            (A.RULES, sum(1 << RULES.index(rule) for rule in air["rules"])),
        ], "set-up")  # fmt: skip
        for station in stations:
            self.add_station(station, air)
        if air["fading"]:
            gains, coherence_ns = air["fading"]["gain_q32"], air["fading"].get("coherence_ns", 0)
            self._ask(Command.FADING, [
                (A.GAIN_Q32, struct.pack(f"={len(gains)}Q", *gains)), (A.COHERENCE_NS, coherence_ns),
            ], "fading")  # fmt: skip
        self.set_powers(dict(enumerate(air["power_mdbm"])), dict(enumerate(air["delay_ns"])))
        if table := air.get("error_table"):
            curves = {RATES.index(int(rate)): values for rate, values in table["lambda_q40"].items()}
            curves.update(enumerate([*table.get("bcc_q40", ()), *table.get("ldpc_q40", ())], len(RATES)))
            for curve, values in curves.items():
                self._ask(Command.ERRORS, [
                    (A.CURVE, _u8(curve)), (A.FIRST_MDB, struct.pack("=i", table["first_mdb"])),
                    (A.STEP_MDB, table["step_mdb"]), (A.LAMBDA_Q40, struct.pack(f"={len(values)}Q", *values)),
                ], f"error table {curve}")  # fmt: skip

    def add_station(self, station: Mapping[str, Any], air: Mapping[str, Any]) -> None:
        """Add a station of `stations_of`, which the others do not hear yet, with what it has of a plan's `air`."""
        index = len(self.names)
        self.names.append(station["name"])
        self.set_station(index, {**air, **station})
        for category, how in (station["edca"] or {}).items():
            self._ask(Command.EDCA, [
                (A.STATION, _u16(index)), (A.CATEGORY, _u8(CATEGORIES.index(category))),
                (A.AIFSN, _u8(how["aifsn"])), (A.CW_MIN, how["cw_min"]), (A.CW_MAX, how["cw_max"]),
                (A.TXOP_32US, _u16(how["txop_us"] // 32)),
            ], f"{category} of station {station['name']}")  # fmt: skip

    def set_station(self, index: int, settings: Mapping[str, Any]) -> None:
        """Set a station's settings: an entry of `stations_of`, completed from a plan's `air`."""
        radio = hardware_address(settings["address"])  # hwsim identifies a radio by its PERM_ADDR
        self._ask(Command.STATION, [
            (A.STATION, _u16(index)), (A.RADIO, radio), (A.FREQ, _u16(settings["freq"])),
            (A.SHORT_RETRY, _u8(settings["short_retry"])), (A.LONG_RETRY, _u8(settings["long_retry"])),
            (A.RX_THRESHOLD_AW, _u64(attowatts(settings["rx_threshold_mdbm"]))),
            (A.CS_THRESHOLD_AW, _u64(attowatts(settings["cs_threshold_mdbm"]))),
            (A.QUEUE, _u16(settings["queue"])), (A.PROMISCUOUS, _u8(settings["promiscuous"])),
        ], f"station {settings['name']}")  # fmt: skip
        self.station_settings[index] = settings

    def override_settings(self, name: str, overrides: Mapping[str, int]) -> None:
        """Override settings in OVERRIDABLE of the stations of a node, from now on."""
        for index in (index for index, station in enumerate(self.names) if station == name):
            self.set_station(index, {**self.station_settings[index], **overrides})

    def set_powers(self, power_mdbm: Mapping[int, Sequence[int | None]], delay_ns: Mapping[int, Sequence[int]]) -> None:
        """Set the power (None: nothing arrives) and delay from these transmitters to every receiver, by index."""
        for index, powers in power_mdbm.items():
            row, delays = bytearray(LINK_ENTRY.size * self.places), delay_ns[index]  # zeros: nothing arrives
            for to, power in enumerate(powers):
                if power is not None:
                    LINK_ENTRY.pack_into(row, LINK_ENTRY.size * to, attowatts(power), power, delays[to])
            what = f"powers of {self.names[index]}"
            self._ask(Command.LINKS, [(A.STATION, _u16(index)), (A.LINKS, bytes(row))], what)
            self.power_mdbm[index] = powers

    def set_table(self, table: Mapping[str, Any]) -> None:
        """Set the power by distance and the reach of each station: `table` of a plan's `motion`."""
        found = b"".join(LINK_ENTRY.pack(*point) for point in points(table))
        head = [(A.FIRST_OCTAVE, _u8(table["first"])), (A.BIN_BITS, _u8(table["bin_bits"]))]
        for offset, part in _parts(found, POINT):
            self._ask(Command.TABLE, [*head, (A.OFFSET, offset), (A.POINTS, part)], "powers by distance")
        for index, (mm2, weaker) in enumerate(zip(table["reach_mm2"], table["weaker_mdb"], strict=True)):
            self._ask(Command.REACH, [
                (A.STATION, _u16(index)), (A.REACH_MM2, _u64(mm2)), (A.GAIN_Q63, _u64(gain_q63(weaker))),
                (A.WEAKER_MDB, struct.pack("=i", weaker)),
            ], f"reach of {self.names[index]}")  # fmt: skip

    def set_trajectory(self, name: str, trajectory: Trajectory) -> None:
        """Set the waypoints of a node's stations, from now on."""
        found = b"".join(struct.pack("=Q3iI", *waypoint, 0) for waypoint in trajectory.waypoints)
        self.by_distance = True
        for index in (index for index, station in enumerate(self.names) if station == name):
            for offset, part in _parts(found, WAYPOINT):
                self._ask(Command.WAYPOINTS, [
                    (A.STATION, _u16(index)), (A.TIME_NS, _u64(trajectory.since_ns)),
                    (A.OFFSET, offset), (A.WAYPOINTS, part),
                ], f"waypoints of {name}")  # fmt: skip

    def received_powers(self, index: int) -> Sequence[int | None]:
        """Return the power at each station of a frame that this station would send now; None: nothing arrives."""
        if not self.by_distance:
            return self.power_mdbm[index]
        links = self._ask(Command.HEARD, [(A.STATION, _u16(index))], "received powers")[A.LINKS]
        return [mdbm if aw else None for aw, mdbm, _ in LINK_ENTRY.iter_unpack(links)]

    def start(self) -> int:
        """Start counting and tracing. Return the time, in ns of CLOCK_MONOTONIC."""
        return number(self._ask(Command.START, [], "start")[A.TIME_NS])

    def stop(self) -> int:
        """Stop counting and tracing. Return the time. Transmissions in progress stay open."""
        return number(self._ask(Command.STOP, [], "stop")[A.TIME_NS])

    def report(self) -> dict[str, Any]:
        """Return the `air` part of lane.json (docs/interfaces.md, section 2; docs/records.md, section 4)."""
        status = self._ask(Command.STATUS, [], "status")
        counters = self.netlink.command(FAMILY, Command.COUNTERS, flags=DUMP, what="the air: counters")
        return {
            "version": 1,
            **{name: number(status[getattr(A, name.upper())]) for name in STATUS},
            "late_ns": delays(numbers(status[A.LATE]), number(status[A.LATE_NS_MAX])),
            "lag_ns": delays(numbers(status[A.LAG]), number(status[A.LAG_NS_MAX])),
            "stations": [
                {"name": self.names[station], "counters": _counters(row)}
                for row in counters
                if (station := number(row[A.STATION])) < len(self.names)
            ],
        }

    def look(self) -> list[dict[str, int]]:
        """Return the current state of each station: LOOKS, as in dcf80211.yaml. Reading changes no timing."""
        looks = LOOK.iter_unpack(self._ask(Command.LOOK, [], "look")[A.LOOKS])
        return [dict(zip(LOOKS, look, strict=True)) for _, look in zip(self.names, looks, strict=False)]

    def close(self) -> None:
        """Detach the air from hwsim. Frames that it holds are reported as not acknowledged."""
        if self.names:
            self.names = []
            try:
                self._ask(Command.TEARDOWN, [], "tear-down")
            except NetlinkError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # the module was unloaded meanwhile
                    raise
        self.netlink.close()


def _categories(row: dict[int, bytes]) -> dict[str, Any]:
    """Return the EDCA parameters and counters by access category, if the station has any."""
    if A.SHARES not in row:
        return {}
    contention = struct.iter_unpack("=HHHBx", row[A.CONTENTION])
    counts = struct.iter_unpack(f"={len(CATEGORY_COUNTERS)}Q", row[A.SHARES])
    return {
        "categories": {
            category: {"aifsn": aifsn, "cw_min": cw_min, "cw_max": cw_max, "txop_us": 32 * txop}
            | dict(zip(CATEGORY_COUNTERS, values, strict=True))
            for category, (cw_min, cw_max, txop, aifsn), values in zip(CATEGORIES, contention, counts, strict=True)
        }
    }


def _counters(row: dict[int, bytes]) -> dict[str, Any]:
    return {
        "tx": {kind: n for kind, n in zip(KINDS, numbers(row[A.TX]), strict=True) if n},
        "airtime_ns": {kind: n for kind, n in zip(KINDS, numbers(row[A.AIRTIME_NS]), strict=True) if n},
        "rx": _table(row[A.RX], OUTCOMES),
        "addressed": _table(row[A.ADDRESSED], OUTCOMES),
        "end": _table(row[A.END], REASONS),
        "retries": {"short": number(row[A.SHORT_RETRIES]), "long": number(row[A.LONG_RETRIES])},
        "busy_ns": number(row[A.BUSY_NS]),
        "nav_ns": number(row[A.NAV_NS]),
        "tx_ns": number(row[A.TX_NS]),
        **_categories(row),
    }
