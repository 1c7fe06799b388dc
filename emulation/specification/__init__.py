# SPDX-License-Identifier: BSD-3-Clause
"""What a user asks for: one experiment, as data.

This is the one place where defaults are. A specification is checked when it is made, so that what follows can rely on
it: the topology is known, its parameters fit, the rates exist. `emulation.plan` turns it into numbers. The defaults are
the scenario of seed 000, section 2: 802.11b at 2 Mb/s with ns-2's radio, NewReno with plain ACKs.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

import topologies
from emulation.lane import ackthin
from emulation.specification.propagation import MODELS, Propagation, Ranges, Thresholds, TwoRayGround
from traffic import tcp

DSSS, HR, OFDM = (1.0, 2.0), (1.0, 2.0, 5.5, 11.0), (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
RATES = HR + OFDM  # Mb/s
QDISC = re.compile(r"\w+:[\w-]{1,15}")
CHANNELS = (*range(2412, 2473, 5), 2484)  # MHz


def one_of(allowed: tuple[Any, ...], unit: str) -> AfterValidator:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{value:g} {unit} is not possible; there are: {', '.join(f'{a:g}' for a in allowed)}")
        return value

    return AfterValidator(check)


def _split(value: object) -> object:
    """A list may be written as on a command line: with commas."""
    return tuple(value.split(",")) if isinstance(value, str) else value


def _pairs(value: object) -> object:
    """A mapping may be written as on a command line: NAME=VALUE, with commas."""
    if not isinstance(value, str):
        return value
    parts = [part.partition("=") for part in value.split(",") if part]
    if wrong := next((name for name, equals, _ in parts if not equals), None):
        raise ValueError(f"{wrong!r} has no value; write NAME=VALUE, and commas between several")
    return {name.strip(): text.strip() for name, _, text in parts}


def _thinning(value: object) -> object:
    """ackthin's parameters (docs/ack-thinning.md), or as on a command line: `skip`, or `skip,skip=2,start=50`."""
    if isinstance(value, str):
        policy, _, parameters = value.partition(",")
        pairs = _pairs(parameters)
        assert isinstance(pairs, dict)
        value = {"policy": policy, **pairs}
    if not isinstance(value, Mapping):
        return value
    made = {name: int(v) if str(v).lstrip("-").isdecimal() else v for name, v in value.items()}
    for name, parameter in made.items():
        ackthin.number(name, parameter)
    return made


def _propagation(value: object) -> object:
    """A model's name, or an object of `model` and its parameters, or a model."""
    if isinstance(value, Propagation):
        return value
    parameters = dict(value) if isinstance(value, Mapping) else {"model": value}
    name = parameters.pop("model", None)
    if not isinstance(name, str) or name not in MODELS:
        raise ValueError(f"there is no propagation model {name!r}; there are: {', '.join(sorted(MODELS))}")
    return TypeAdapter(MODELS[name]).validate_python(parameters)


Rate = Annotated[float, one_of(RATES, "Mb/s")]
Model = Annotated[
    InstanceOf[Propagation],
    BeforeValidator(_propagation),
    PlainSerializer(lambda model: {"model": model.name, **asdict(model)}),
]


class Specification(BaseModel):
    """One experiment. Raises pydantic's ValidationError; `explain` says it to people."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    topology: str = Field("string", description="who stands where and talks to whom")
    parameters: dict[str, Any] = Field({}, description="the topology's own parameters", validate_default=True)
    seconds: float = Field(120.0, gt=0, le=100_000, allow_inf_nan=False, description="how long to measure, in air time")
    seed: int = Field(1, ge=0, lt=2**63, description="another seed, another run; the same seed, the same run")

    rate: Rate = Field(2.0, description="data rate in Mb/s: 1|2|5.5|11|6|9|12|18|24|36|48|54")
    rate_control: Literal["fixed", "minstrel"] = Field(
        "fixed", description="that rate only, or the kernel's choice up to it, with its own retries"
    )
    basic_rates: Annotated[tuple[Rate, ...], BeforeValidator(_split)] | None = Field(
        None, min_length=1, description="rates of control frames; by default 1 for DSSS, and 6, 12, 24 for OFDM"
    )
    freq: Annotated[int, one_of(CHANNELS, "MHz")] = Field(2412, description="channel, by its centre frequency in MHz")
    rts: Literal["full", "partial", "none"] = Field("none", description="RTS/CTS before all, long, or no frames")
    short_retry: int = Field(7, ge=1, le=255, description="attempts at an RTS, or a frame sent without one")
    long_retry: int = Field(4, ge=1, le=255, description="attempts at a frame after its RTS")
    queue: int = Field(50, ge=1, le=150, description="frames in a station's interface queue, drop-tail")
    beacon_tu: int = Field(
        10_000, ge=10, le=10_000, description="beacon interval in TU; the longest costs next to nothing"
    )

    propagation: Model = Field(TwoRayGround(), description="|".join(sorted(MODELS)))
    ranges: Ranges | None = Field(
        None, description="transmission_m,carrier_sense_m,interference_m; by default those of ns-2, 250,550"
    )
    thresholds: Thresholds | None = Field(None, description="receive_dbm,sense_dbm,capture_db; instead of ranges")
    noise_dbm: float = Field(
        -94.0, ge=-200, le=0, description="noise: kTB of 20 MHz and a noise figure of 7 dB by default"
    )
    reception: Literal["capture", "sinr"] = Field("capture", description="ns-2's rule, or bit errors by rate and SINR")
    capture_db: float = Field(10.0, ge=0, le=100, description="a frame survives what is this much weaker")
    eifs: Literal["off", "frame", "energy"] | None = Field(
        None, description="EIFS after spoilt frames, or all energy, as ns-2; by default energy with capture"
    )

    tcp: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        ("newreno",), min_length=1, description=f"TCP, for all flows or one for each: {', '.join(tcp.NAMES)}"
    )
    ack: Literal["plain", "delayed"] = Field(
        "plain", description="an ACK for each segment, or the kernel's delayed ACK"
    )
    ackthin: Annotated[dict[str, int | str], BeforeValidator(_thinning)] | None = Field(
        None, description="thin the receivers' plain ACKs: delayed|skip|daa|dynamic[,NAME=VALUE...]"
    )
    qdisc: str | None = Field(
        None, description="a root qdisc at both ends of each flow, with its defaults: MODULE:KIND"
    )
    modules: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        (), description="folders of kernel modules of your own, for --tcp MODULE:NAME, --qdisc and --load"
    )
    load: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field((), description="kernel modules to load besides")
    module_parameters: Annotated[dict[str, str], BeforeValidator(_pairs)] = Field(
        {}, description="MODULE.PARAMETER=VALUE[,...], set before anything starts"
    )
    traffic: Literal["bulk", "iperf3"] = Field("bulk", description="our own sender, which costs least, or iperf3")
    bytes: int | None = Field(None, ge=1, le=2**50, description="how much each flow sends; by default without end")
    mss: int = Field(1460, ge=536, le=1460, description="maximum segment size in bytes")
    send_buffer: int = Field(262_144, ge=4096, le=2**27, description="bytes")
    receive_buffer: int = Field(1_048_576, ge=4096, le=2**27, description="bytes")

    trace: bool = Field(True, description="record every frame")
    tcp_trace: bool = Field(True, description="record each flow's window, phases and timeouts")
    snap: int = Field(128, ge=80, le=2400, description="bytes of a frame that the trace keeps")
    unreachable: bool = Field(False, description="allow flows whose ends no path connects")

    @field_validator("topology")
    @classmethod
    def _known(cls, name: str) -> str:
        return topologies.find(name).name

    @field_validator("parameters")
    @classmethod
    def _complete(cls, parameters: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "topology" not in info.data:  # an unknown one was refused already
            return parameters
        return topologies.find(info.data["topology"]).Parameters.model_validate(parameters).model_dump()

    @field_validator("tcp")
    @classmethod
    def _named(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            tcp.find(name)
        return names

    @field_validator("qdisc")
    @classmethod
    def _of_a_module(cls, qdisc: str | None) -> str | None:
        if qdisc is not None and not QDISC.fullmatch(qdisc):
            raise ValueError(f"{qdisc!r} is not of the form MODULE:KIND")
        return qdisc

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        flows = len(self.layout().flows)
        if len(self.tcp) not in (1, flows):
            raise ValueError(f"tcp: one for all flows, or one for each of the {flows}; not {len(self.tcp)}")
        if self.ackthin and self.qdisc:
            raise ValueError("ackthin is a root qdisc itself: leave the qdisc out")
        if self.ackthin and self.ack != "plain":
            raise ValueError("ackthin thins the ACKs that TCP sends one a segment: it needs ack plain")
        for name in self.module_parameters:
            if not all(part.isidentifier() for part in name.split(".", 1)) or "." not in name:
                raise ValueError(f"module_parameters: {name!r} is not of the form MODULE.PARAMETER")
        if self.ranges and self.thresholds:
            raise ValueError("ranges and thresholds say the same thing in two ways: give one of them")
        if self.rate in DSSS + HR and self.basic_rates and not set(self.basic_rates) <= set(HR):
            raise ValueError(f"basic_rates: stations at {self.rate:g} Mb/s know only {', '.join(f'{r:g}' for r in HR)}")
        self.effective_thresholds()
        return self

    def layout(self) -> topologies.Layout:
        topology = topologies.find(self.topology)
        return topology.layout(topology.Parameters(**self.parameters))

    def effective_thresholds(self) -> Thresholds:
        """The thresholds in force, capture ratio included. Raises ValueError where the model cannot give them."""
        found = self.thresholds or self.propagation.thresholds(self.ranges)
        return found if found.capture_db is not None else replace(found, capture_db=self.capture_db)


def specify(topology: str, options: Mapping[str, Any]) -> Specification:
    """A specification from flat options, as a command line has them: the topology's own go to its parameters.

    Raises ValueError for an unknown topology and ValidationError for the rest; `explain` takes both.
    """
    own = topologies.find(topology).Parameters.model_fields
    parameters = {name: value for name, value in options.items() if name in own}
    return Specification(
        **{
            "topology": topology,
            "parameters": parameters,
            **{name: value for name, value in options.items() if name not in own},
        }
    )


# Shorter words for what pydantic says.
WORDS = {
    "input should be": "must be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}


def explain(error: ValueError) -> list[str]:
    """What is wrong, a line each, for people. ValidationError is a ValueError."""
    if not isinstance(error, ValidationError):
        return [str(error)]
    lines = []
    for one in error.errors(include_url=False):
        cause = one.get("ctx", {}).get("error")
        where = ".".join(str(part) for part in one["loc"])
        if one["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            said = "there is no such option"
        elif cause:
            said = str(cause)
        else:
            said = one["msg"][:1].lower() + one["msg"][1:]
            for pydantic, ours in WORDS.items():
                said = said.replace(pydantic, ours)
            if isinstance(one["input"], str | int | float | bool | None):
                said += f", not {reprlib.repr(one['input'])}"
        lines.append(" ".join(f"{where}: {said}".removeprefix(": ").split()))
    return lines
