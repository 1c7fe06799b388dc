# SPDX-License-Identifier: BSD-3-Clause
"""`result.json`: what an experiment found, in one versioned schema (docs/file-formats.md).

A `Run` is made from what the lane left, and holds only what was measured or read back. The formulas of the counters
(docs/records.md, section 4) are only here; the taps use them too, on their own counters. Duration, machine and
inputs are not results: `comparable()` omits them, so two results of one specification and seed are equal.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, JsonValue

from analysis.results.flow_result import OF_FLOWS, FlowResult, kbps, of_flow, ran
from analysis.results.names import subfolder
from analysis.results.summaries import InFlight, RouteSummary, RoutingSummary, StationResult, TcpSummary
from analysis.results.timing import Timing, Whole
from emulation.files import read_json
from emulation.files.foreign import reading

DATA, ACK = ("tcp_data",), ("tcp_ack",)
# The kinds of frames that a table's row counts: RTSs, CTSs and all data, which are in the totals; and the others.
ROWS = {"rtscts": ("rts", "cts"), "data": DATA, "ack": ACK} | {one: (one,) for one in ("udp", "other", "encrypted")}
APART = {"routing": ("routing",), "management": ("management",), "mac_ack": ("ack",)}
COLLIDED = ("COLLISION", "OWN_TX")
GIVEN_UP = ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES")
NO_RESULT = {"wall_s", "late_ns_max", "timing", "host", "made_of"}  # at any depth
PLAN_VERSION, LANE_VERSION, VERSION = 6, 3, 3


class Losses(NamedTuple):
    """Percent of packets that were lost."""

    contention: float
    queue: float


class Retries(NamedTuple):
    """Retries of the MAC: `short` of RTSs and of frames sent without one, `long` of frames after their RTS."""

    short: int
    long: int


# Power at 3 V of a radio that sends, that receives or senses, and that is idle. ns-3's WifiRadioEnergyModel has by
# default the currents 380, 313 and 273 mA.
SENDING_W, RECEIVING_W, IDLE_W = 1.140, 0.939, 0.819


class Energy(NamedTuple):
    """Energy of all radios: J, J per MB delivered to applications, and J per MB beyond what idle radios would use."""

    joules: float
    per_mb: float
    beyond_idle_per_mb: float


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def count(
    stations: Iterable[Mapping[str, Any]], table: str, kinds: Sequence[str] | None, columns: Sequence[str]
) -> int:
    """Sum some columns of a table over stations. `kinds` of None means all kinds. Missing entries count as zero."""
    return sum(
        row.get(column, 0)
        for station in stations
        for kind, row in station.get(table, {}).items()
        if kinds is None or kind in kinds
        for column in columns
    )


def counted(of: str, row: str) -> str:
    """Return the name that tables give to a row of `col`, `col.any` or `fail`."""
    return f"{of}.{'rts/cts' if row == 'rtscts' else row}".upper().replace(".", "_")


class Counts(Model):
    """Numbers of frames. All but the last three are in the totals."""

    rtscts: Whole
    """RTSs and CTSs"""
    data: Whole
    """TCP segments with payload"""
    ack: Whole
    """pure TCP ACKs"""
    udp: Whole = 0
    """datagrams"""
    other: Whole = 0
    """other data"""
    encrypted: Whole = 0
    """encrypted data"""
    routing: Whole = 0
    """routing packets"""
    management: Whole = 0
    """management frames of the MAC"""
    mac_ack: Whole = 0
    """ACKs of the MAC"""

    @property
    def total(self) -> int:
        """RTSs, CTSs and all data."""
        return sum(getattr(self, row) for row in ROWS)


class Collisions(Counts):
    """Frames that failed at their addressed receiver because other transmissions overlapped them."""

    any: Counts
    """the same at every station within reception range"""
    same_slot: Whole | None = None
    """of the total: those that began within a slot of what they collided with; null without a trace"""

    @classmethod
    def of(cls, stations: Iterable[Mapping[str, Any]], same_slot: int | None = None) -> "Collisions":
        """Return the collisions, from the `counters` of all stations."""
        stations = list(stations)

        def table(name: str) -> dict[str, int]:
            return {row: count(stations, name, kinds, COLLIDED) for row, kinds in (ROWS | APART).items()}

        return cls(**table("addressed"), any=Counts(**table("rx")), same_slot=same_slot)


class Failures(Counts):
    """RTS procedures that were given up; frames that the MAC gave up, also for a failed RTS procedure."""

    @classmethod
    def of(cls, stations: Iterable[Mapping[str, Any]]) -> "Failures":
        """Return the failures, from the `counters` of all stations."""
        stations = list(stations)
        table = {row: count(stations, "end", kinds, GIVEN_UP) for row, kinds in (ROWS | APART).items()}
        return cls(**table | {"rtscts": count(stations, "end", None, ("RTS_LIMIT",))})


class Aggregates(Model):
    """What was sent in modes of 802.11n and later, and how it was acknowledged."""

    ppdus: Whole
    mpdus: Whole
    """in these, of all attempts"""
    block_acks: Whole
    requests: Whole
    """block-ACK requests"""
    airtime_s: dict[str, float] = {}
    """of these PPDUs, by receiver"""

    @classmethod
    def of(cls, counts: Iterable[int], airtime_s: Mapping[str, float]) -> "Aggregates":
        """Make them of the counts in the order of the fields."""
        return cls(**dict(zip(cls.model_fields, (*counts, dict(airtime_s)), strict=True)))

    @property
    def size(self) -> float:
        """The mean number of MPDUs in a PPDU."""
        return self.mpdus / self.ppdus

    @property
    def airtime_share(self) -> dict[str, float]:
        """Percent of the airtime of these PPDUs, by receiver."""
        return {name: 100 * of / sum(self.airtime_s.values()) for name, of in self.airtime_s.items()}


class Setting(Model):
    """A setting that differs from the kernel's default, read back after it was set."""

    where: str
    """the node"""
    what: str
    """the sysctl or parameter"""
    value: JsonValue
    default: JsonValue = None


# Counters of an access category.
OF_CATEGORY = ("tx", "airtime_ns", "acked", "group", "given_up", "dropped", "collisions")


class Run(Model):
    """One run. Rates are in kb/s, times in seconds."""

    variant: str = ""
    """its column in a study's tables"""
    case: str = ""
    """its row there"""
    changes: dict[str, JsonValue] = {}
    """options in which it differs from the specification"""
    made_of: dict[str, str] = {}
    """SHA-256 of all that the trace depends on: the kernel, the programs that boot it (`lane`), those that run inside
    (`inside`), each loaded module and folder of plug-ins by name, and the plan (JSON, sorted keys, no spaces)"""
    seed: Whole
    goodput_segments: Whole
    """payload delivered to applications, in whole segments, all flows"""
    goodput_kbps: float
    """over the time in which any flow ran"""
    col: Collisions
    """collisions"""
    fail: Failures
    """frames that the MAC gave up"""
    in_flight: InFlight | None
    """null without a trace, and with encryption"""
    aggregates: Aggregates | None = None
    """null without a trace, and with legacy rates only"""
    queue_drops: Whole
    """frames that the air's queues dropped"""
    trace: str | None
    """path of the air's pcapng in the run folder; null without one"""
    trace_sha256: str | None
    """of the unpacked file"""
    views: str | None = None
    """path of what stations received; null: left out"""
    views_sha256: str | None = None
    """of the unpacked file"""
    air_s: float
    """time measured"""
    wall_s: float
    """real time that the run took"""
    flows: list[FlowResult]
    applications: list[dict[str, JsonValue]] = []
    """reports of applications that are no flows, as in lane.json"""
    settings: list[Setting]
    stations: list[StationResult]
    routing: RoutingSummary | None = None
    """null without a routing protocol"""
    lost_records: Whole
    """must be 0 for a complete trace"""
    refused_frames: Whole
    """frames that the air refused: malformed, or at rates that are not modelled"""
    late_ns_max: Whole
    """how late a timer of the air fired at most; 0 in the virtual lane"""
    repeatable: bool = True
    """whether the seed decides everything"""
    counted: bool = True
    """false: another medium, which counts nothing"""
    timing: Timing | None = None
    """null if the medium does not report it"""

    @property
    def retransmits(self) -> int:
        """TCP retransmissions of all flows."""
        return sum(flow.retransmits for flow in self.flows)

    @property
    def unfinished(self) -> int:
        """Flows that had not finished when the run ended; flows without a limit always count."""
        return sum(flow.finished_s is None for flow in self.flows)

    @property
    def same_slot_share(self) -> float:
        """Percent of the attempts at data that collided with a frame that began in the same slot; nan without
        attempts."""
        kinds = [kind for row, kinds in ROWS.items() if row != "rtscts" for kind in kinds]
        sent = sum(station.counters.get("tx", {}).get(kind, 0) for station in self.stations for kind in kinds)
        return 100 * self.col.same_slot / sent if sent and self.col.same_slot is not None else math.nan

    @property
    def folder(self) -> str:
        """Name of its subfolder in the run folder."""
        return subfolder(self.case, self.variant, self.seed)

    @property
    def retries(self) -> Retries:
        """Retries of all stations."""
        retries = [station.counters["retries"] for station in self.stations]
        return Retries(sum(n["short"] for n in retries), sum(n["long"] for n in retries))

    @property
    def energy(self) -> Energy:
        """Energy by the air's counters: a radio sends, or its medium is busy, or it is idle. Radios do not sleep."""
        sent, busy = (
            sum(station.counters.get(name, 0) for station in self.stations) / 1e9 for name in ("tx_ns", "busy_ns")
        )
        idle = IDLE_W * self.air_s * len(self.stations)
        more = (SENDING_W - IDLE_W) * sent + (RECEIVING_W - IDLE_W) * (busy - sent)
        delivered_mb = sum(flow.delivered_bytes for flow in self.flows) / 1e6
        return Energy(idle + more, *(each / delivered_mb if delivered_mb else math.nan for each in (idle + more, more)))

    @property
    def losses(self) -> Losses:
        """Percent of TCP packets that the MAC gave up, and that a queue refused, anywhere on the path. 100 % is what
        the flows' ends handed to the air. nan without packets."""
        counters = {station.name: station.counters for station in self.stations}
        ends = {(flow.source, "tcp_data") for flow in self.flows} | {(f.destination, "tcp_ack") for f in self.flows}
        sent = sum(sum(counters[name].get("end", {}).get(kind, {}).values()) for name, kind in ends if name in counters)
        lost = self.fail.data + self.fail.ack, count(counters.values(), "end", DATA + ACK, ("QUEUE_FULL",))
        return Losses(*(100 * n / sent if sent else math.nan for n in lost))

    @property
    def categories(self) -> dict[str, dict[str, float]]:
        """The access categories of EDCA that sent or dropped anything, over all stations. Each has the counters of
        docs/records.md, section 4, and its airtime in seconds."""
        each = [station.counters.get("categories", {}) for station in self.stations]
        names = dict.fromkeys(name for one in each for name in one)
        sums = {
            name: {what: sum(one.get(name, {}).get(what, 0) for one in each) for what in OF_CATEGORY} for name in names
        }
        return {
            name: {**of, "airtime_s": of["airtime_ns"] / 1e9} for name, of in sums.items() if of["tx"] or of["dropped"]
        }

    @property
    def responses_spoilt(self) -> int:
        """CTSs and MAC-level ACKs that collided at the station they were addressed to."""
        return count((station.counters for station in self.stations), "addressed", ("cts", "ack"), COLLIDED)


class Host(Model):
    """Where the run took place."""

    lane: str
    clock: Literal["virtual", "real"] = "virtual"
    kernel: str | None = None
    """its release; null: unknown"""
    tools: dict[str, str] = {}
    """versions of programs that took part"""


class Script(Model):
    """The script of a script's runs."""

    path: str
    arguments: list[str] = []
    seeds: list[int]
    """one run for each"""
    modules: list[str] = []
    """folders of kernel modules"""
    shell: bool = False
    """whether it had a prompt"""
    options: dict[str, str] = {}
    """those of features, by their names"""


class Result(Model):
    """The whole file."""

    version: Literal[3] = 3
    experiment: str
    specification: dict[str, Any]
    """what was asked for"""
    runs: list[Run]
    host: Host
    script: Script | None = None
    """null unless a script was run"""

    def comparable(self) -> dict[str, Any]:
        """Return the result without wall times, facts of the host, and inputs."""
        return {key: _comparable(value) for key, value in self.model_dump().items() if key not in NO_RESULT}


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _comparable(v) for key, v in value.items() if key not in NO_RESULT}
    return [_comparable(v) for v in value] if isinstance(value, list) else value


def read(path: Path) -> Result:
    """Read a result. Raises OSError if the file cannot be read, Damaged if it is malformed or of another version."""
    found = read_json(path)
    with reading(path):
        _know("it", found, VERSION)
        return Result.model_validate(found)


def _know(what: str, found: Any, version: int) -> None:
    """Raises ValueError if the version differs."""
    its = found.get("version") if isinstance(found, Mapping) else None
    if its != version:
        raise ValueError(
            f"{what} has {f'version {its}' if its else 'no version'}; this program reads version {version}"
        )


NO_AIR: Mapping[str, Any] = {"stations": [], "lost_records": 0, "refused_frames": 0, "late_ns_max": 0, "counted": False}


def from_lane(
    plan: Mapping[str, Any], lane: Mapping[str, Any], *, same_slot: int | None = None,
    tcp: Mapping[str, TcpSummary] | None = None, route: Mapping[str, RouteSummary] | None = None, **more: Any,
) -> Run:  # fmt: skip
    """Make the Run of a plan and its `lane.json` (docs/interfaces.md, sections 1 and 2).

    `tcp` and `route` are of the flows, by name. `more` are fields of the Run that the lane does not know. An
    application that reports what it delivered is a flow. Raises ValueError if the run failed in the lane, or for
    unknown versions.
    """
    _know("plan.json", plan, PLAN_VERSION)
    _know("lane.json", lane, LANE_VERSION)
    if not lane["ok"]:
        raise ValueError(f"the run failed in its lane: {lane.get('error')}")
    air_s, air = float(lane["air_s"]), lane["air"] or NO_AIR
    of_plan = {application["name"]: application for application in plan["applications"]}
    reports = [report for report in lane["applications"] if "delivered_bytes" in report]
    delivered = sum(report["delivered_bytes"] for report in reports)
    flows = [
        of_flow(plan, of_plan[report["name"]], report, air_s, delivered).model_copy(
            update={"tcp": (tcp or {}).get(report["name"]), "route": (route or {}).get(report["name"])}
        )
        for report in reports
    ]
    stations = [StationResult.model_validate(station) for station in air["stations"]]
    counters = [station.counters for station in stations]
    return Run(
        **{"in_flight": None, "trace": None, "trace_sha256": None, **more},
        seed=plan["seed"],
        goodput_segments=sum(flow.goodput_segments for flow in flows),
        goodput_kbps=kbps(delivered, [ran(of_plan[report["name"]], report, air_s) for report in reports]),
        col=Collisions.of(counters, same_slot),
        fail=Failures.of(counters),
        queue_drops=count(counters, "end", None, ("QUEUE_FULL",)),
        air_s=air_s,
        flows=flows,
        applications=[report for report in lane["applications"] if set(report) - OF_FLOWS],
        settings=[Setting.model_validate(setting) for setting in lane["settings"]],
        stations=stations,
        lost_records=air["lost_records"],
        refused_frames=air["refused_frames"],
        late_ns_max=air["late_ns_max"],
        counted=air.get("counted", True),
    )
