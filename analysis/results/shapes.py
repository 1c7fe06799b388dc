# SPDX-License-Identifier: BSD-3-Clause
"""Validate plan.json and lane.json: types, ranges and references between names (docs/interfaces.md, sections 1 and 2).
Ranges are wider than a specification allows, but small enough to compute with: times beyond a day, positions as far as
radio waves reach."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from analysis.results.names import LANE, PLAN
from emulation.files import read_json
from emulation.files.foreign import LONGEST_NS, reading

LONGEST_S = LONGEST_NS / 1e9
Seconds = Annotated[float, Field(ge=-LONGEST_S, le=LONGEST_S)]
Ns = Annotated[int, Field(ge=0, le=LONGEST_NS)]
Us = Annotated[int, Field(ge=0, le=LONGEST_NS // 1000)]
Mm = Annotated[int, Field(ge=-(10**8), le=10**8)]
Metres = Annotated[float, Field(ge=-1e5, le=1e5)]
Mdbm = Annotated[int, Field(ge=-(10**6), le=10**6)]
DelayNs = Annotated[int, Field(ge=0, le=10**9)]
Powers = Annotated[list[Mdbm | None], Field(min_length=1)]
Delays = list[DelayNs | None]
LOSING = {"tcp_tap", "manet_trace"}  # recorders whose reader may fall behind
Count = Annotated[int, Field(ge=0, lt=2**63)]
Word = Annotated[int, Field(ge=0, lt=2**32)]
Limit = Annotated[int, Field(ge=0, le=255)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Stop = Annotated[tuple[Us, Mm, Mm, Mm], Field(strict=False)]  # JSON has lists
Stops = Annotated[list[Stop], Field(min_length=1)]
Span = Annotated[tuple[Seconds, Seconds | None], Field(strict=False)]
Counts = dict[str, Count]
Read = TypeVar("Read", bound="Shape")


class Shape(BaseModel):
    """The part of a JSON object that is read. Other keys are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


def object_of(path: Path, shape: type[Read]) -> tuple[dict[str, Any], Read]:
    """Return the JSON object in a file, raw and in this shape. Raises OSError if unreadable, Damaged if malformed."""
    found = read_json(path)
    with reading(path):
        if not isinstance(found, dict):
            raise ValueError(f"it must be a JSON object, not a {type(found).__name__}")
        return found, shape.model_validate(found)


def _address(ip: str) -> str:
    if ip:
        ip_interface(ip)
    return ip


Ip = Annotated[str, AfterValidator(_address)]
Mac = Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]


class Table(Shape):
    first: Annotated[int, Field(ge=0, le=64)]
    bin_bits: Annotated[int, Field(ge=0, le=16)]
    power_mdbm: Powers
    reach_mm2: list[Annotated[int, Field(ge=0, lt=2**57)]]
    weaker_mdb: list[Mdbm]

    def of(self, radios: int) -> None:
        """Raises ValueError if the table is not for this number of radios."""
        _has("table", radios, self.reach_mm2, self.weaker_mdb)


class Step(Shape):
    at_s: Seconds
    power_mdbm: dict[str, Powers]
    delay_ns: dict[str, Delays]


class Motion(Shape):
    waypoints: dict[str, Stops] = {}
    table: Table | None = None
    steps: list[Step] = []


class Fading(Shape):
    gain_q32: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Field(min_length=2, max_length=2**16)]
    coherence_ns: Annotated[int, Field(ge=0, lt=2**32)] = 0


class Air(Shape):
    slot_ns: DelayNs
    sifs_ns: DelayNs
    signal_extension_ns: DelayNs
    reception: Literal["capture", "sinr"]
    retry_by: Literal["limits", "stages"]
    basic_rates: list[Annotated[int, Field(ge=1, le=10**5)]]
    rx_threshold_mdbm: Mdbm
    cs_threshold_mdbm: Mdbm
    short_retry: Limit
    long_retry: Limit
    power_mdbm: list[Powers]
    delay_ns: list[Delays]
    rules: list[str] = []
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    fading: Fading | None = None
    trace: bool = True
    eifs: str = "off"
    nav_reset: bool = False
    edca: bool = False


class Own(Shape):
    short_retry: Limit | None = None
    long_retry: Limit | None = None
    rx_threshold_mdbm: Mdbm | None = None
    cs_threshold_mdbm: Mdbm | None = None

    @model_validator(mode="after")
    def _given(self) -> Self:
        """Raises ValueError if a value is null: an absent value has no key."""
        if missing := [
            name for name in Own.model_fields if name in self.model_fields_set and getattr(self, name) is None
        ]:
            raise ValueError(f"{missing[0]} is null")
        return self


class Interface(Own):
    kind: str
    ip: Ip | None = None


class Radio(Interface):
    kind: Literal["radio"]
    address: Mac
    ip: Ip | None


class Node(Shape):
    name: Name
    interfaces: list[Radio | Interface]
    position: Annotated[list[Metres], Field(min_length=3, max_length=3)] = [0.0, 0.0, 0.0]

    @property
    def radios(self) -> int:
        return sum(interface.kind == "radio" for interface in self.interfaces)


class Application(Shape):
    name: Name
    source: Name
    destination: Name
    kind: str = "bulk"
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    congestion: str = ""
    mss: Annotated[int, Field(ge=1, le=2**20)] | None = None
    start_s: Seconds = 0.0
    stop_s: Seconds | None = None
    connection: str | None = None


class Routing(Shape):
    kind: str


class Plan(Shape):
    """plan.json."""

    name: Name
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    sample_s: Annotated[float, Field(ge=0.001, le=LONGEST_S)]
    air: Air
    nodes: list[Node]
    routing: Routing | None = None
    applications: list[Application] = []
    motion: Motion | None = None
    presence: dict[str, list[Span]] = {}
    modules: list[str] = []
    module_parameters: dict[str, str] = {}
    plugins: list[str] = []
    recorders: list[Routing] = []

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names, radios = [node.name for node in self.nodes], sum(node.radios for node in self.nodes)
        _once("nodes", names)
        _once("applications", [each.name for each in self.applications])
        for where, named in (
            ("applications", [end for each in self.applications for end in (each.source, each.destination)]),
            ("motion", self.motion.waypoints if self.motion else ()),
            ("presence", self.presence),
        ):
            _known(where, named, names)
        _has("power_mdbm", radios, self.air.power_mdbm, *self.air.power_mdbm)
        _has("delay_ns", radios, self.air.delay_ns, *self.air.delay_ns)
        for step in self.motion.steps if self.motion else ():
            _has("steps", radios, *step.power_mdbm.values(), *step.delay_ns.values())
            if [*step.power_mdbm] != [*step.delay_ns] or not {*step.power_mdbm} <= {*map(str, range(radios))}:
                raise ValueError("steps: a row that does not exist")
        if self.motion and self.motion.table:
            self.motion.table.of(radios)
        return self


class Retries(Shape):
    short: Count
    long: Count


class Counters(Shape):
    """Counters of a station (docs/records.md, section 4)."""

    tx: Counts = {}
    """by kind: transmissions begun, every attempt"""
    airtime_ns: Counts = {}
    """by kind: of those"""
    rx: dict[str, Counts] = {}
    """by kind and outcome: arrivals at or above the reception threshold, addressed to any station"""
    addressed: dict[str, Counts] = {}
    """by kind and outcome: arrivals addressed to this station, at any power"""
    end: dict[str, Counts] = {}
    """by kind and reason: frames this station was done with"""
    retries: Retries
    """`short` and `long`"""
    busy_ns: Count = 0
    """time in which the station senses, receives or sends"""
    nav_ns: Count = 0
    tx_ns: Count = 0
    categories: dict[str, Counts] = {}
    """with EDCA, by category: parameters at the end (`aifsn`, `cw_min`, `cw_max`, `txop_us`), `tx` and `airtime_ns` of
    its exchanges, frames (`acked`, `group`, `given_up`, `dropped`), internal `collisions`"""


class Station(Shape):
    name: Name
    counters: Counters


class AirReport(Shape):
    stations: list[Station]
    lost_records: Count = 0
    lost_messages: Count = 0
    refused_frames: Count = 0
    late_ns_max: Count = 0
    counted: bool = True


class TcpInfo(Shape):
    """The part of struct tcp_info that is read."""

    snd_cwnd: Word
    snd_ssthresh: Word
    rtt: Word
    unacked: Word
    sacked: Word
    lost: Word
    retrans: Word
    ca_state: Annotated[int, Field(ge=0, le=4)]


class Nothing(Shape):
    """TCP info of a connection that no longer existed."""

    model_config = ConfigDict(extra="forbid")


class Ends(Shape):
    sender: TcpInfo | Nothing = Nothing()


class Ended(Shape):
    """Report of an application."""

    name: Name
    delivered_bytes: Count | None = None
    finished_s: Seconds | None = None
    tcp_info: Ends = Ends()
    datagrams: dict[str, JsonValue] | None = None


class Recorder(Shape):
    lost_records: Count = 0


class Move(Shape):
    at_s: Seconds
    node: Name
    speed: Annotated[float, Field(ge=0, le=1e9)] | None
    from_: Annotated[list[Metres], Field(min_length=3, max_length=3, alias="from")]
    to: Annotated[list[Metres], Field(min_length=3, max_length=3)]


class Change(Shape):
    """A change of the air's settings: exactly one of the combinations of keys in `_whole`."""

    at_ns: Ns
    node: Name | None = None
    table: Table | None = None
    since_ns: Ns | None = None
    stops: Stops | None = None
    own: Own | None = None
    power_mdbm: list[Powers] | None = None
    delay_ns: list[Delays] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        given = self.model_fields_set - {"at_ns"}
        whole = ({"table"}, {"node", "since_ns", "stops"}, {"node", "own"}, {"node", "power_mdbm", "delay_ns"})
        if given not in whole or any(getattr(self, name) is None for name in given):
            raise ValueError(f"there is no change of {', '.join(sorted(given))}")
        return self


class Lane(Shape):
    """lane.json of a measured run."""

    ok: bool = True
    air_s: Annotated[float, Field(ge=0, le=LONGEST_S)]
    started_ns: Ns
    stopped_ns: Ns
    applications: list[Ended] = []
    recorders: dict[str, Recorder] = {}
    air: AirReport | None = None
    moves: list[Move] = []
    changes: list[Change] = []

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.stopped_ns < self.started_ns:
            raise ValueError("it stops before it starts")
        _once("applications", [each.name for each in self.applications])
        for name in LOSING & self.recorders.keys():
            if "lost_records" not in self.recorders[name].model_fields_set:
                raise ValueError(f"recorders: {name} does not say what it lost")
        return self

    def of(self, plan: Plan) -> None:
        """Raises ValueError if it does not belong to this plan."""
        names, radios = [node.name for node in plan.nodes], sum(node.radios for node in plan.nodes)
        if [each.name for each in self.applications] != [each.name for each in plan.applications]:
            raise ValueError("applications: they are not those of the plan")
        stations = len(self.air.stations) if self.air else 0
        if self.ok and stations != radios:
            raise ValueError(f"air: {stations} stations, and {radios} in the plan")
        _known("moves", [move.node for move in self.moves], [node.name for node in plan.nodes if node.radios])
        _known("changes", [change.node for change in self.changes if change.node], names)
        for change in self.changes:
            if change.table:
                change.table.of(radios)
            for pair in (change.power_mdbm, change.delay_ns):
                _has("changes", 2, *([pair] if pair is not None else []))
                _has("changes", radios, *(pair or []))


class Kernel(Shape):
    kernel: dict[str, JsonValue]


class ScriptRun(Shape):
    """asked.json: the request for a script's run."""

    name: Name
    specification: Kernel
    after: list[Name] = []  # features that follow the run


def _has(where: str, count: int, *lists: Sequence[Any]) -> None:
    for each in lists:
        if len(each) != count:
            raise ValueError(f"{where}: {len(each)} instead of {count}")


def _once(where: str, names: Sequence[str]) -> None:
    if len({*names}) < len(names):
        raise ValueError(f"{where}: two have the same name")


def _known(where: str, named: Any, names: Sequence[str]) -> None:
    for name in named:
        if name not in names:
            raise ValueError(f"{where}: there is no node {name!r:.60}")


def read_plan(run: Path) -> dict[str, Any]:
    """Return the plan of the run in this folder. Raises OSError if unreadable, Damaged if malformed."""
    return object_of(run / PLAN, Plan)[0]


def read_lane(run: Path, plan: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return lane.json of the run in this folder, checked against its plan (None: the plan is missing). Raises OSError
    if unreadable, Damaged if malformed."""
    if plan is None:
        return object_of(run / LANE, Lane)[0]
    with reading(run / LANE):
        asked = Plan.model_validate(plan)
    return _lane_of(run, asked)


def read_both(run: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return plan and lane.json of the run in this folder. Raises OSError if unreadable, Damaged if malformed."""
    plan, asked = object_of(run / PLAN, Plan)
    return plan, _lane_of(run, asked)


def _lane_of(run: Path, plan: Plan) -> dict[str, Any]:
    found, lane = object_of(run / LANE, Lane)
    with reading(run / LANE):
        lane.of(plan)
    return found
