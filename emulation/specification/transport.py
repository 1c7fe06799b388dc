# SPDX-License-Identifier: BSD-3-Clause
"""The flows: TCP's variant and settings, ACKs, queues at the ends, and traffic."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from emulation.lane import ackthin
from emulation.specification.words import Section, Words, word_and_pairs
from traffic import tcp

QDISC = re.compile(r"\w+:[\w-]{1,15}")
Amount = Annotated[int, Field(ge=1, le=2**50)]
SegmentSize = Annotated[int, Field(ge=536, le=1460)]
AUTO = "auto"
Buffer = Annotated[int, Field(ge=4096, le=2**27)] | Literal["auto"]
Window = Annotated[int, Field(ge=1, le=1000)] | None
Timer = Annotated[int, Field(ge=10, le=120_000)] | None  # from a tick of the lane's kernel to Linux's longest RTO
Reordering = Annotated[int, Field(ge=3, le=300)] | None
WindowLimit = Annotated[int, Field(ge=2, le=2**16)] | None  # into a window of one, Linux sends half segments

# Simulators whose TCP can be imitated, as far as Linux has settings for it: defaults of options that are not set. See
# docs/like-ns2.md, The transport.
LIKE: dict[str, dict[str, object]] = {
    "ns2": {"initial_window": 2, "rto_min_ms": 200, "max_reordering": 3, "small_queues": False}
}


def _thinning(value: object) -> object:
    """Accept ackthin's parameters (docs/ack-thinning.md), also as `skip`, or `skip,skip=2,start=50`."""
    value = word_and_pairs("policy", value)
    if not isinstance(value, Mapping):
        return value
    made = {name: int(v) if str(v).lstrip("-").isdecimal() else v for name, v in value.items()}
    for name, parameter in made.items():
        ackthin.number(name, parameter)
    return made


def _traffic(value: object) -> object:
    """Accept a kind of application with its options, also as `voice`, or `voice,codec=g729`."""
    chosen = word_and_pairs("kind", value)
    if not isinstance(chosen, dict) or not re.fullmatch(r"\w+", str(chosen.get("kind", ""))):
        raise ValueError(f"there is no application {value!r}")
    return chosen


class Transport(Section):
    """How flows send and acknowledge."""

    tcp: Words = Field(
        ("newreno",),
        min_length=1,
        description=f"congestion control, one for all flows or one for each: {', '.join(tcp.NAMES)}",
    )
    tcp_like: Literal["linux", "ns2"] = Field(
        "linux", description="ns2: TCP as in ns-2; sets the next four options (docs/like-ns2.md)"
    )
    initial_window: Window = Field(
        None, description="initial window in segments, also after idle time; by default Linux's 10"
    )
    rto_min_ms: Timer = Field(
        None,
        description="minimum retransmission timeout, which Linux adds to the round-trip time; by default Linux's 200",
    )
    max_reordering: Reordering = Field(
        None, description="upper limit of the duplicate-ACK threshold, which Linux adapts; by default 300; ns-2 has 3"
    )
    small_queues: bool = Field(
        True, description="TCP small queues: data waits in the socket; in ns-2 it waits in the interface queue"
    )
    ack: Literal["plain", "delayed"] = Field(
        "plain", description="an ACK for each segment, or the kernel's delayed ACK"
    )
    ackthin: Annotated[dict[str, int | str], BeforeValidator(_thinning)] | None = Field(
        None, description="thin the receivers' plain ACKs: delayed|skip|daa|dynamic[,NAME=VALUE...]"
    )
    thinned_flows: int | None = Field(
        None, ge=0, description="thin the ACKs of the first N flows only; by default of all"
    )
    qdisc: str | None = Field(
        None, description="a root qdisc at both ends of each flow, with its defaults: MODULE:KIND"
    )
    traffic: Annotated[dict[str, Any], BeforeValidator(_traffic)] = Field(
        {"kind": "bulk"},
        description="type of traffic: bulk|iperf3|udp|voice|request|web|..., with options: KIND,NAME=VALUE "
        "(docs/traffic.md)",
    )
    bytes: Amount | None = Field(None, description="bytes that each flow sends; by default unlimited")
    mss: SegmentSize = Field(1460, description="maximum segment size in bytes")
    send_buffer: Buffer = Field(
        262_144, description="send buffer in bytes, at most 212,992; auto: as Linux grows it, up to 4 MB"
    )
    receive_buffer: Buffer = Field(
        1_048_576, description="receive buffer in bytes, at most 212,992; auto: as Linux grows it, up to 6 MB"
    )
    window_limit: WindowLimit = Field(
        None,
        description="receive window in segments, 2 or more; the papers use 64 "
        "(a window of 1: --tcp cwl, docs/tc-modules.md)",
    )

    @model_validator(mode="before")
    @classmethod
    def _like(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        like = data.get("tcp_like")
        return {**LIKE[like], **data} if isinstance(like, str) and like in LIKE else data

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
        if self.ackthin and self.qdisc:
            raise ValueError("ackthin is a root qdisc itself; leave out the qdisc")
        if self.window_limit and self.receive_buffer == AUTO:
            raise ValueError("window_limit needs a receive_buffer in bytes: Linux grows the window with an auto one")
        if self.thinned_flows is not None and not self.ackthin:
            raise ValueError("thinned_flows needs ackthin")
        if self.ackthin and self.ack != "plain":
            raise ValueError("ackthin needs ack plain: one ACK per segment")
        return self


class Flow(Section):
    """The settings that a flow can override. `congestion` is a synonym of `tcp`, used in plans.

    `tos` is the TOS octet of its IPv4 headers in both directions. `start_s` and `stop_s` are its start and end.
    """

    tcp: str
    bytes: Amount | None
    mss: SegmentSize
    send_buffer: Buffer
    receive_buffer: Buffer
    window_limit: WindowLimit
    tos: int | None = Field(None, ge=0, le=255)
    start_s: float = Field(0.0, ge=0, le=100_000, allow_inf_nan=False)
    stop_s: float | None = Field(None, gt=0, le=100_000, allow_inf_nan=False)
    port: int | None = Field(None, ge=1, le=65_535)

    @classmethod
    def usual(cls, transport: Transport) -> dict[str, Any]:
        """Return the common settings of all flows; `transport` has one TCP."""
        shared = cls.model_fields.keys() & Transport.model_fields.keys()
        return {name: getattr(transport, name) for name in shared} | {"tcp": transport.tcp[0]}

    @field_validator("tcp")
    @classmethod
    def _named(cls, name: str) -> str:
        tcp.find(name)
        return name

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.stop_s is not None and self.stop_s <= self.start_s:
            raise ValueError(f"stop_s: it stops at {self.stop_s:g} s, and starts at {self.start_s:g} s")
        return self
