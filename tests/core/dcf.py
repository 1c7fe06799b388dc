# SPDX-License-Identifier: BSD-3-Clause
"""The air's core in user space, for tests and fuzzers.

The same C files that make the kernel module are built as a shared library. This binding plays the kernel: it gives
frames to the core, lets time pass, and stores the results. The test sets the time.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import user_space

from emulation.lane.air import gain_q63, points
from emulation.lane.protocol import KINDS, OUTCOMES, REASONS, RULES

NEVER = 2**64 - 1
NOBODY = 0xFFFF
POISON = 0xDB
US = 1000
SOURCE = Path(__file__).resolve().parents[2] / "emulation" / "dcf80211"
INCLUDED = [SOURCE, SOURCE.parent / "kernel" / "shared"]  # folders with all that the core includes
CORE = [file for folder in ("core", "wire") for file in sorted((SOURCE / folder).glob("*.c"))]


class Phy(c.Structure):
    _fields_ = [
        ("slot_ns", c.c_uint32), ("sifs_ns", c.c_uint32), ("cw_min", c.c_uint32), ("cw_max", c.c_uint32),
        ("signal_extension_ns", c.c_uint32), ("basic_rates", c.c_uint32), ("sensing_ns", c.c_uint32),
    ]  # fmt: skip


class TxVector(c.Structure):
    _fields_ = [
        ("format", c.c_uint8), ("mcs", c.c_uint8), ("streams", c.c_uint8), ("ltf", c.c_uint8),
        ("width_mhz", c.c_uint16), ("guard_ns", c.c_uint16), ("ldpc", c.c_bool), ("padding_us", c.c_uint8),
    ]  # fmt: skip


class Mode(c.Structure):
    _fields_ = [
        ("format", c.c_uint8), ("curve", c.c_uint8), ("reference", c.c_uint8), ("encoders", c.c_uint8),
        ("numerator", c.c_uint8), ("denominator", c.c_uint8), ("padding_us", c.c_uint8), ("doublings", c.c_uint8),
        ("rate", c.c_uint16), ("code", c.c_uint16),
        ("preamble_ns", c.c_uint32), ("symbol_ns", c.c_uint32), ("bits", c.c_uint32), ("coded", c.c_uint32),
        ("bits_short", c.c_uint32), ("coded_short", c.c_uint32),
    ]  # fmt: skip


class Limits(c.Structure):
    _fields_ = [("bytes", c.c_uint32), ("ppdu_ns", c.c_uint32), ("mpdus", c.c_uint16), ("spacing_ns", c.c_uint16)]


class Ampdu(c.Structure):
    _fields_ = [("n", c.c_uint16), ("start", c.c_uint32), ("len", c.c_uint32)]


class Session(c.Structure):
    _fields_ = [("limits", Limits), ("window", c.c_uint16), ("start", c.c_uint16), ("next", c.c_uint16),
                ("tries", c.c_uint8), ("mode", c.c_uint16), ("oldest", c.c_void_p)]  # fmt: skip


class Scoreboard(c.Structure):
    _fields_ = [("next", c.c_void_p), ("from", c.c_uint16), ("tid", c.c_uint8), ("window", c.c_uint16),
                ("start", c.c_uint16), ("got", c.c_uint64 * 4)]  # fmt: skip


RATES = (10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540)  # 100 kb/s: the modes that each air has
FORMATS = ("dsss", "ofdm", "ht", "vht", "he")


class Config(c.Structure):
    _fields_ = [
        ("phy", Phy), ("stations", c.c_uint16), ("reception", c.c_uint8), ("eifs", c.c_uint8),
        ("nav_reset", c.c_bool), ("retry_by_stages", c.c_bool), ("trace", c.c_bool), ("edca", c.c_bool),
        ("punctual", c.c_bool), ("snap", c.c_uint16), ("rules", c.c_uint32), ("capture_ratio_milli", c.c_uint32),
        ("detect_ofdm_milli", c.c_uint32), ("detect_dsss_milli", c.c_uint32), ("rx_threshold_aw", c.c_uint64),
        ("cs_threshold_aw", c.c_uint64), ("noise_aw", c.c_uint64), ("seed", c.c_uint64),
    ]  # fmt: skip


class Link(c.Structure):
    _fields_ = [("power_aw", c.c_uint64), ("power_mdbm", c.c_int32), ("delay_ns", c.c_uint32)]


class Waypoint(c.Structure):
    _fields_ = [("at_us", c.c_uint64), ("mm", c.c_int32 * 3), ("reserved", c.c_uint32)]


class Point(c.Structure):
    _fields_ = [("power_aw", c.c_uint64), ("power_mdbm", c.c_int32), ("delay_q16", c.c_uint32)]


class Table(c.Structure):
    _fields_ = [("point", c.POINTER(Point)), ("points", c.c_uint32), ("first", c.c_uint8), ("bin_bits", c.c_uint8)]


class Reach(c.Structure):
    _fields_ = [("mm2", c.c_uint64), ("gain_q63", c.c_uint64), ("weaker_mdb", c.c_int32)]


class Errors(c.Structure):
    _fields_ = [("first_mdb", c.c_int32), ("step_mdb", c.c_uint32), ("points", c.c_uint32),
                ("lambda_q40", c.c_uint64 * 256)]  # fmt: skip


class Stage(c.Structure):
    _fields_ = [("mode", c.c_uint16), ("count", c.c_uint8), ("rts", c.c_bool), ("cts_to_self", c.c_bool),
                ("short_preamble", c.c_bool)]  # fmt: skip


class Frame(c.Structure):
    pass


Frame._fields_ = [
    ("next", c.POINTER(Frame)), ("bytes", c.POINTER(c.c_uint8)), ("queued_ns", c.c_uint64), ("last_tx", c.c_uint64),
    ("msdu", c.c_uint32), ("len", c.c_uint16), ("freq", c.c_uint16), ("no_ack", c.c_bool), ("alone", c.c_bool),
    ("stage", Stage * 4),
    ("session", c.POINTER(Session)), ("in", c.c_void_p * 2), ("request", c.c_bool), ("planned", c.c_bool),
    ("kind", c.c_uint8), ("category", c.c_uint8), ("receiver", c.c_uint16),
    ("last_place", c.c_uint16), ("src", c.c_uint8), ("lrc", c.c_uint8), ("rts_tries", c.c_uint8),
    ("tries", c.c_uint8), ("at_stage", c.c_uint8), ("stage_tries", c.c_uint8), ("used", c.c_uint8 * 4),
    ("holders", c.c_uint8), ("why", c.c_uint8),
]  # fmt: skip

DELIVER = c.CFUNCTYPE(None, c.c_void_p, c.c_uint16, c.POINTER(Frame), c.c_uint16, c.c_int32)
DONE = c.CFUNCTYPE(None, c.c_void_p, c.c_uint16, c.POINTER(Frame), c.c_int)
RECORD = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_uint32, c.c_void_p, c.c_uint32)


class Sent(c.Structure):
    _fields_ = [("session", c.POINTER(Session)), ("mode", c.c_uint16), ("mpdus", c.c_uint16), ("acked", c.c_uint16),
                ("fresh", c.c_uint16), ("category", c.c_uint8), ("airtime_ns", c.c_uint32)]  # fmt: skip


SENT = c.CFUNCTYPE(None, c.c_void_p, c.c_uint16, c.POINTER(Sent))


class Ops(c.Structure):
    _fields_ = [("deliver", DELIVER), ("done", DONE), ("record", RECORD), ("sent", SENT)]


class Message(c.Structure):
    _fields_ = [
        ("transmitter", c.POINTER(c.c_uint8)), ("receiver", c.POINTER(c.c_uint8)), ("frame", c.POINTER(c.c_uint8)),
        ("len", c.c_uint32), ("flags", c.c_uint32), ("freq", c.c_uint32), ("cookie", c.c_uint64),
        ("rates", c.c_int8 * 2 * 4), ("stage", Stage * 4),
    ]  # fmt: skip


class Share(c.Structure):
    _fields_ = [(name, c.c_uint64) for name in ("tx", "airtime_ns", "acked", "group", "given_up", "dropped",
                                                "collisions")]  # fmt: skip


class Edca(c.Structure):
    _fields_ = [("cw_min", c.c_uint16), ("cw_max", c.c_uint16), ("txop_32us", c.c_uint16), ("aifsn", c.c_uint8)]


class Counters(c.Structure):
    _fields_ = [
        ("tx", c.c_uint64 * len(KINDS)), ("airtime_ns", c.c_uint64 * len(KINDS)),
        ("rx", c.c_uint64 * len(OUTCOMES) * len(KINDS)), ("addressed", c.c_uint64 * len(OUTCOMES) * len(KINDS)),
        ("end", c.c_uint64 * len(REASONS) * len(KINDS)), ("short_retries", c.c_uint64),
        ("long_retries", c.c_uint64), ("busy_ns", c.c_uint64), ("nav_ns", c.c_uint64), ("tx_ns", c.c_uint64),
        ("share", Share * 4),
    ]  # fmt: skip


@cache
def library() -> c.CDLL:
    """Build the core; with DCF_SANITIZE set, under the address and undefined-behaviour sanitizers."""
    options = [*user_space.library("DCF_SANITIZE"), "-Wextra", "-Wno-sign-compare", "-Wl,--wrap=dcf_draw_backoff"]
    draws = Path(__file__).resolve().with_name("draws.c")
    lib = c.CDLL(str(user_space.kept("libdcf.so", options, [*CORE, draws], [*INCLUDED, draws.parent])))
    u16, u64, p = c.c_uint16, c.c_uint64, c.c_void_p
    for name, result, arguments in (
        ("dcf_size", c.c_size_t, [u16]),
        ("dcf_check", c.c_int, [c.POINTER(Config)]),
        ("dcf_init", None, [p, c.POINTER(Config), c.POINTER(Ops), p]),
        ("dcf_set_station", c.c_bool, [p, u16, u16, c.c_uint8, c.c_uint8, u16, c.c_bool]),
        ("dcf_set_edca", c.c_bool, [p, u16, c.c_int, c.POINTER(Edca)]),
        ("dcf_set_address", c.c_bool, [p, u16, c.c_char_p]),
        ("dcf_add_address", c.c_bool, [p, u16, c.c_char_p]),
        ("dcf_del_address", c.c_bool, [p, u16, c.c_char_p]),
        ("dcf_find_address", u16, [p, c.c_char_p]),
        ("dcf_set_link", c.c_bool, [p, u16, u16, c.POINTER(Link)]),
        ("dcf_set_fading", c.c_bool, [p, c.POINTER(u64), c.c_uint32]),
        ("dcf_set_thresholds", c.c_bool, [p, u16, u64, u64]),
        ("dcf_set_formats", c.c_bool, [p, u16, c.c_uint8]),
        ("dcf_set_modes", c.c_bool, [p, c.POINTER(Mode), u16]),
        ("dcf_set_curve", c.c_bool, [p, c.c_uint8, c.POINTER(Errors)]),
        ("dcf_begin_scoreboard", c.c_bool, [p, u16, c.POINTER(Scoreboard), u16, c.c_uint8, u16, u16]),
        ("dcf_end_scoreboard", None, [p, u16, c.POINTER(Scoreboard)]),
        ("dcf_set_errors", c.c_bool, [p, u16, c.POINTER(Errors)]),
        ("dcf_set_table", c.c_bool, [p, c.POINTER(Table)]),
        ("dcf_set_reach", c.c_bool, [p, u16, c.POINTER(Reach)]),
        ("dcf_set_waypoints", c.c_bool, [p, u16, c.POINTER(Waypoint), c.c_uint32, u64]),
        ("dcf_get_link", c.c_bool, [p, u16, u16, c.POINTER(Link)]),
        ("dcf_evaluations", u64, [p]),
        ("dcf_enqueue", None, [p, u16, c.POINTER(Frame), u64]),
        ("dcf_run", None, [p, u64]),
        ("dcf_next", u64, [p]),
        ("dcf_flush", None, [p]),
        ("dcf_start", None, [p, u64]),
        ("dcf_stop", None, [p, u64, c.c_uint32]),
        ("dcf_counters", c.POINTER(Counters), [p, u16]),
        ("dcf_events", u64, [p]),
        ("mode_make", c.c_int, [c.POINTER(Mode), c.POINTER(TxVector)]),
        ("mode_txtime_ns", c.c_uint32, [c.POINTER(Mode), c.c_uint32, c.c_bool]),
        ("ampdu_with", Ampdu, [c.POINTER(Ampdu), c.POINTER(Mode), c.c_uint32, c.c_uint32]),
        ("ampdu_psdu_len", c.c_uint32, [c.POINTER(Ampdu), c.POINTER(Mode)]),
        ("ampdu_fits", c.c_bool, [c.POINTER(Ampdu), c.POINTER(Mode), c.POINTER(Limits), c.c_uint32]),
        ("scoreboard_begin", None, [c.POINTER(Scoreboard), u16, u16]),
        ("scoreboard_has", c.c_bool, [c.POINTER(Scoreboard), u16]),
        ("scoreboard_mark", c.c_bool, [c.POINTER(Scoreboard), u16]),
        ("scoreboard_move", None, [c.POINTER(Scoreboard), u16]),
        ("scoreboard_bitmap", c.c_uint32, [c.POINTER(Scoreboard), c.c_char_p]),
        (
            "dcf_make_block_ack",
            c.c_uint32,
            [c.c_char_p, c.c_char_p, c.c_char_p, u16, c.c_uint8, u16, c.c_char_p, c.c_uint32],
        ),
        ("dcf_make_request", c.c_uint32, [c.c_char_p, c.c_char_p, c.c_char_p, u16, c.c_uint8, u16]),
        ("dcf_is_request", c.c_bool, [c.c_char_p, c.c_uint32]),
        ("dcf_is_block_ack", c.c_bool, [c.c_char_p, c.c_uint32]),
        ("dcf_block_tid", c.c_uint8, [c.c_char_p]),
        ("dcf_block_start", u16, [c.c_char_p]),
        ("dcf_block_acks", c.c_bool, [c.c_char_p, c.c_uint32, u16]),
        ("dcf_classify", c.c_int, [c.c_char_p, c.c_uint32]),
        ("dcf_categorise", c.c_int, [c.c_char_p, c.c_uint32]),
        ("dcf_ratio_mdb", c.c_int32, [u64, u64]),
        ("dcf_draw_budget_q40", u64, [c.POINTER(u64)]),
        ("dcf_draw_exponential", c.c_uint32, [c.POINTER(u64), c.c_uint32]),
        ("dcf_draw_backoff", c.c_uint32, [c.POINTER(u64), c.c_uint32]),
        ("give_draws", None, [c.POINTER(c.c_uint32), c.c_uint32]),
        ("dcf_lambda_q40", u64, [c.POINTER(Errors), c.c_int32]),
        ("message_dbm", c.c_int32, [c.c_int32]),
        ("message_read", c.c_int, [c.POINTER(Message), p, c.c_uint32]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def airtime_ns(phy: Phy, rate: int, length: int, short_preamble: bool) -> int:
    """Return the TXTIME of an MPDU at a legacy rate."""
    mode = (Mode * len(RATES)).in_dll(library(), "mode_legacy")[RATES.index(rate)]
    silence = phy.signal_extension_ns if FORMATS[mode.format] == "ofdm" else 0
    return int(library().mode_txtime_ns(mode, length, short_preamble)) + silence


def dsss(**changes: int) -> Phy:
    """Return the papers' PHY: DSSS, long preamble, 1 Mb/s basic rate."""
    usual = {"slot_ns": 20 * US, "sifs_ns": 10 * US, "signal_extension_ns": 0, "cw_min": 31, "cw_max": 1023}
    phy = {**usual, "basic_rates": 1, **changes}
    return Phy(**{"sensing_ns": phy["slot_ns"] // 4, **phy})


def address(station: int) -> bytes:
    return bytes((2, 0, 0, 0, station >> 8, station & 255))


def tcp(payload: int, flags: int = 0x10) -> bytes:
    """Return LLC/SNAP, IPv4 and TCP headers of a segment with this many bytes of payload."""
    ip = b"\x45\x00" + (40 + payload).to_bytes(2, "big") + bytes(4) + b"\x40\x06" + bytes(10)
    return b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + ip + bytes(12) + bytes((0x50, flags)) + bytes(6) + bytes(payload)


@dataclass(frozen=True)
class Tx:
    """A transmission, from its trace record. Times are in ns."""

    id: int
    kind: str
    station: int
    receiver: int
    start: int
    end: int
    rate: int
    freq: int
    length: int
    attempt: int
    msdu: int
    category: int
    bytes: bytes


@dataclass(frozen=True)
class Rx:
    """The outcome of a transmission at one station."""

    id: int
    station: int
    outcome: str
    other: int
    start: int
    addressed: bool
    power_mdbm: int


@dataclass(frozen=True)
class End:
    """A station has finished a frame."""

    station: int
    kind: str
    reason: str
    time: int
    msdu: int
    short: int
    long: int
    category: int


@dataclass(frozen=True)
class Mpdu:
    """An MPDU in a PPDU of several."""

    id: int
    station: int
    place: int
    kind: str
    msdu: int
    offset: int
    length: int
    sequence: int
    attempt: int


class Core:
    """An air. `power[i][j]` in attowatts is the power of i at j; delays in ns likewise."""

    def __init__(self, power: list[list[int]], delay: list[list[int]] | None = None, *, phy: Phy | None = None,
                 reception: int = 0, eifs: int = 1, seed: int = 1, nav_reset: bool = True, stages: bool = False,
                 rx: int = 100, cs: int = 10, noise: int = 1, ratio: float = 10.0, snap: int = 128, trace: bool = True,
                 short: int = 7, long: int = 4, queue: int | None = None, punctual: bool = False,
                 edca: bool = False, rules: Collection[str] = (),
                 detect: tuple[int, int] = (2512, 229), modes: Sequence[Mode] = (),
                 freq: int = 2412) -> None:  # fmt: skip
        self.lib, n = library(), len(power)
        self.n = n
        self.memory = c.create_string_buffer(self.lib.dcf_size(n))
        self.frames: dict[int, tuple[Frame, c.Array[c.c_uint8]]] = {}
        self.given_back: list[tuple[Frame, c.Array[c.c_uint8]]] = []  # overwritten: later reads get nonsense
        self.faults: list[str] = []  # a callback cannot raise
        self.tx: list[Tx] = []
        self.rx: list[Rx] = []
        self.end: list[End] = []
        self.mpdus: list[Mpdu] = []
        self.lost: list[tuple[int, int, int, str, int]] = []  # transmission, station, place in it, outcome, culprit
        self.marks: list[tuple[int, int]] = []
        self.raw = bytearray()
        self.delivered: list[tuple[int, int, bytes]] = []
        self.finished: list[tuple[int, int, str, list[int]]] = []
        self.sent: list[tuple[int, int, int, int, int, int]] = []  # station, mode, MPDUs, acknowledged, fresh, ns
        self.on_done: Callable[[int, str], None] = lambda station, reason: None
        self.now = 0
        self.trajectories: dict[int, c.Array[Waypoint]] = {}
        self.config = Config(phy or dsss(), n, reception, eifs, nav_reset, stages, trace, edca, punctual, snap,
                             sum(1 << RULES.index(rule) for rule in rules), int(ratio * 1000), *detect,
                             rx, cs, noise, seed)  # fmt: skip
        self.ops = Ops(DELIVER(self._deliver), DONE(self._done), RECORD(self._record), SENT(self._sent))
        if refusal := self.lib.dcf_check(self.config):
            raise ValueError(f"dcf_check() refuses the configuration: {refusal}")
        self.lib.dcf_init(self.memory, self.config, self.ops, None)
        self.modes = (Mode * len(modes))(*modes)
        assert self.lib.dcf_set_modes(self.memory, self.modes, len(modes))
        self.sessions: dict[tuple[int, int, int], tuple[Session, Scoreboard]] = {}
        for i in range(n):
            self.limits = short, long, queue or (37 if edca else 50)
            self.tune(i, freq)
            assert self.lib.dcf_set_address(self.memory, i, address(i))
            for j in range(n):
                if i != j and power[i][j]:
                    self.link(i, j, power[i][j], delay[i][j] if delay else 0)
        self.lib.dcf_start(self.memory, 0)

    def link(self, i: int, j: int, power: int, delay: int = 0) -> None:
        assert self.lib.dcf_set_link(self.memory, i, j, Link(power, -60000, delay))

    def tune(self, station: int, freq: int) -> None:
        """Put a station on this channel."""
        assert self.lib.dcf_set_station(self.memory, station, freq, *self.limits, False)

    def move(self, station: int, *waypoints: tuple[int, int, int, int], since: int = 0) -> bool:
        """Set the positions of a station over time: (us since `since` ns, mm, mm, mm). Earlier ones are overwritten."""
        array = (Waypoint * len(waypoints))(*(Waypoint(at, (x, y, z)) for at, x, y, z in waypoints))
        if done := self.lib.dcf_set_waypoints(self.memory, station, array, len(waypoints), since):
            if old := self.trajectories.get(station):
                c.memset(old, POISON, c.sizeof(old))
            self.trajectories[station] = array
        return bool(done)

    def by_distance(self, table: dict[str, Any]) -> None:
        """Set the power by distance, as in a plan."""
        self.points, first, bits = (Point * len(table["power_mdbm"]))(*points(table)), table["first"], table["bin_bits"]
        assert self.lib.dcf_set_table(self.memory, Table(self.points, len(self.points), first, bits))
        for station, (mm2, weaker) in enumerate(zip(table["reach_mm2"], table["weaker_mdb"], strict=True)):
            assert self.lib.dcf_set_reach(self.memory, station, Reach(mm2, gain_q63(weaker), weaker))

    def fade(self, gain_q32: list[int] | None, coherence_ns: int = 0) -> bool:
        """Let each signal fade independently, by these quantiles, or each pair of stations for this time."""
        gains = gain_q32 and (c.c_uint64 * len(gain_q32))(*gain_q32)
        return bool(self.lib.dcf_set_fading(self.memory, gains, coherence_ns))

    def link_now(self, i: int, j: int) -> Link:
        """Return how j hears i now."""
        link = Link()
        assert self.lib.dcf_get_link(self.memory, i, j, link)
        return link

    def send(self, station: int, to: int | bytes, body: bytes, at: int, *, rate: int = 20, rts: bool = False,
             stages: list[tuple[int, int]] | None = None, short_preamble: bool = False, freq: int = 2412,
             no_ack: bool = False, cts_to_self: bool = False, priority: int | None = None,
             farewell: bool = False, beacon: bool = False, flags: int = 0, sequence: int = 0) -> None:  # fmt: skip
        """Hand over a data frame of 24 + len(body) bytes at `at` ns, two more with a user priority; or a management
        frame, a farewell or a beacon. `flags` are Frame Control's, `sequence` is Sequence Control."""
        ra = to if isinstance(to, bytes) else address(to)
        kind, qos = (
            (0xC0 if farewell else 0x80 if beacon else 8, b"") if priority is None else (0x88, bytes((priority, 0)))
        )
        content = bytes((kind, flags, 0, 0)) + ra + address(station) + b"\x02" * 6
        content += sequence.to_bytes(2, "little") + qos + body
        buffer = (c.c_uint8 * len(content)).from_buffer_copy(content)
        frame = Frame(bytes=buffer, len=len(content), freq=freq, no_ack=no_ack)
        for i, (each, count) in enumerate(stages or [(rate, 1)]):
            frame.stage[i] = Stage(RATES.index(each), count, rts, cts_to_self, short_preamble)
        self.frames[c.addressof(frame)] = (frame, buffer)
        self.run(max(at - 1, 0))
        self.now = at
        self.lib.dcf_enqueue(self.memory, station, frame, at)

    def agree(self, station: int, to: int, *, window: int = 64, start: int = 0, tries: int = 30, tid: int = 0,
              limits: Limits | None = None) -> Session:  # fmt: skip
        """Make a block-ACK agreement between two stations, both halves."""
        session = Session(limits or Limits(6_500_631, 5_484_000, 256, 0), window, start, start, tries)
        board = Scoreboard()
        assert self.lib.dcf_begin_scoreboard(self.memory, to, board, station, tid, window, start)
        self.sessions[station, to, tid] = session, board
        return session

    def send_mpdu(
        self,
        station: int,
        to: int,
        length: int,
        at: int,
        *,
        mode: int,
        freq: int,
        sequence: int | None = None,
        tid: int = 0,
        rts: bool = False,
        cts_to_self: bool = False,
        request: int | None = None,
        alone: bool = False,
        body: bytes | None = None,
        a_msdu: bool = False,
    ) -> None:
        """Hand over an MPDU of an agreement, of this many bytes with FCS, with the next sequence number; or a request
        for a block ACK from a sequence number on. Its body is zeros by default."""
        session = self.sessions[station, to, tid][0]
        sequence = session.next if sequence is None else sequence
        if request is None:
            content = b"\x88\x00\x00\x00" + address(to) + address(station) + b"\x02" * 6
            content += (sequence << 4).to_bytes(2, "little") + bytes((tid | a_msdu << 7, 0))
            content += body or bytes(length - 30)
        else:
            room = c.create_string_buffer(52)
            length = self.lib.dcf_make_request(room, address(to), address(station), 0, tid, request)
            content = room.raw[:length]
        buffer = (c.c_uint8 * len(content)).from_buffer_copy(content)
        frame = Frame(bytes=buffer, len=len(content), freq=freq, alone=alone, session=c.pointer(session))
        frame.stage[0] = Stage(mode, 1, rts, cts_to_self, False)
        self.frames[c.addressof(frame)] = (frame, buffer)
        self.run(max(at - 1, 0))
        self.now = at
        self.lib.dcf_enqueue(self.memory, station, frame, at)

    def run(self, until: int) -> None:
        """Let time pass, as the kernel does: from one dcf_next() to the next."""
        while (at := self.lib.dcf_next(self.memory)) <= until:
            assert at >= self.now, "dcf_next() lies in the past"
            self.now = at
            self.lib.dcf_run(self.memory, at)
        self.now = max(self.now, until)
        self.lib.dcf_run(self.memory, until)
        assert not self.faults, self.faults[0]

    def flush(self) -> None:
        self.lib.dcf_flush(self.memory)

    def stop(self) -> None:
        self.lib.dcf_stop(self.memory, self.now, 0)

    def counters(self, station: int) -> Counters:
        return self.lib.dcf_counters(self.memory, station).contents

    def _deliver(self, edge: int, to: int, frame: c._Pointer[Frame], rate: int, power: int) -> None:
        f = frame.contents
        if c.addressof(f) not in self.frames:
            self.faults.append(f"at {self.now} ns station {to} is given a frame that is done with")
            return
        self.delivered.append((self.now, to, c.string_at(f.bytes, f.len)))

    def _done(self, edge: int, station: int, frame: c._Pointer[Frame], why: int) -> None:
        f = frame.contents
        self.finished.append((self.now, station, REASONS[why], list(f.used)))
        if c.addressof(f) not in self.frames:
            self.faults.append(f"at {self.now} ns a frame of station {station} is done with twice")
            return
        self.given_back.append(self.frames.pop(c.addressof(f)))
        for memory in self.given_back[-1]:
            c.memset(c.addressof(memory), POISON, c.sizeof(memory))
        self.on_done(station, REASONS[why])

    def _sent(self, edge: int, station: int, sent: Any) -> None:
        s = sent[0]
        self.sent.append((station, s.mode, s.mpdus, s.acked, s.fresh, s.airtime_ns))

    def _record(self, edge: int, head: int, head_len: int, body: int, body_len: int) -> None:
        if body_len and c.string_at(body, body_len) == bytes((POISON,)) * body_len:
            self.faults.append(f"at {self.now} ns a frame that is done with is in the trace")
        r = c.string_at(head, head_len) + (c.string_at(body, body_len) if body_len else b"")
        r += bytes(-len(r) % 8)
        self.raw += r
        u = lambda at, size: int.from_bytes(r[at : at + size], "little")  # noqa: E731
        assert u(0, 2) == len(r)
        if r[2] == 1:
            self.tx.append(Tx(u(8, 8), KINDS[r[3]], u(4, 2), u(6, 2), u(16, 8), u(16, 8) + u(24, 4), u(28, 2), u(30, 2),
                              u(40, 2), r[42], u(44, 4), r[48], r[56 : 56 + u(52, 2)]))  # fmt: skip
            self._mpdus(r, self.tx[-1])
        elif r[2] == 2:
            self.rx.append(Rx(u(8, 8), u(4, 2), OUTCOMES[r[3]], u(6, 2) if len(r) == 32 else NOBODY, u(16, 8),
                              bool(r[29]), int.from_bytes(r[24:28], "little", signed=True)))  # fmt: skip
            half = (len(r) - 32) // 2
            for place in range(u(30, 2) + 1 if half else 0):
                if u(32, half) >> place & 1:
                    hit = bool(u(32 + half, half) >> place & 1)
                    self.lost.append((u(8, 8), u(4, 2), place, "COLLISION" if hit else "NOISE",
                                      u(6, 2) if hit else NOBODY))  # fmt: skip
        elif r[2] == 3:
            self.end.append(End(u(4, 2), KINDS[r[6]], REASONS[r[3]], u(16, 8), u(24, 4), r[28], r[29], r[7]))
        else:
            self.marks.append((r[3], u(8, 8)))

    def _mpdus(self, r: bytes, tx: Tx) -> None:
        """Yield the MPDUs of a PPDU of several, from its record."""
        u = lambda at, size: int.from_bytes(r[at : at + size], "little")  # noqa: E731
        at = 56 + -(-u(52, 2) // 8) * 8
        if not u(50, 2):
            assert len(r) == at
            return
        self.mpdus.append(Mpdu(tx.id, tx.station, 0, tx.kind, tx.msdu, 0, tx.length, sequence(tx.bytes), tx.attempt))
        for place in range(1, 1 + u(50, 2)):
            kept = u(at + 18, 2)
            self.mpdus.append(Mpdu(tx.id, tx.station, place, KINDS[r[at + 20]], u(at + 8, 4), u(at + 12, 4),
                                   u(at + 16, 2), sequence(r[at + 24 : at + 24 + kept]), r[at + 21]))  # fmt: skip
            at += 24 + -(-kept // 8) * 8
        assert at == len(r)


def sequence(frame: bytes) -> int:
    """The sequence number of an MPDU."""
    return int.from_bytes(frame[22:24], "little") >> 4


def mutual(n: int, pairs: dict[tuple[int, int], int], default: int = 0) -> list[list[int]]:
    """A symmetric matrix of powers; pairs that are not named get the default."""
    return [[0 if i == j else pairs.get((min(i, j), max(i, j)), default) for j in range(n)] for i in range(n)]
