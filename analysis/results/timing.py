# SPDX-License-Identifier: BSD-3-Clause
"""Decide whether a lane in real time kept time: how late events were, against the limits below.

The air plays each event at its own time, however late its timer fires. Only its reports are late: a frame reaches TCP,
or moves from TCP to its queue, later than it should. A frame and its ACK take about 3 ms at 11 Mb/s, so most delays
must be small against that. No delay may stall the network for as long as TCP takes to suspect a loss, at least 200 ms
(Linux's TCP_RTO_MIN); a tenth of that is allowed.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # the range of a signed 64-bit integer
P99_MS, MOST_MS = 1.0, 20.0  # limits for the timers' lateness and the queues' lag
STEAL = 0.02  # share of the time


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Delays(Model):
    """Delays in ns. p50 and p99 are in steps of a quarter of an octave, rounded down."""

    count: Whole
    p50: Whole
    p99: Whole
    max: Whole


class Timing(Model):
    """How well a run's clock was kept."""

    clock: Literal["virtual", "real"]
    late_ns: Delays
    """how late the air's timers fired"""
    lag_ns: Delays
    """how long the kernel's frames waited in a queue for the air"""
    stolen_s: float = 0.0
    """CPU time that others took"""
    valid: bool
    invalid: list[str] = []
    """in real time: the limits that were exceeded"""


def timing(lane: Mapping[str, Any], real: bool, waited_s: float = 0.0) -> Timing | None:
    """Judge a run by its lane.json and by how long (s) the lane's process waited for a CPU. Return None if its medium
    reports no times, or if it has none."""
    air = lane["air"]
    if not air or "late_ns" not in air:
        return None
    late, lag = Delays.model_validate(air["late_ns"]), Delays.model_validate(air["lag_ns"])
    stolen_s = lane.get("steal_s", 0.0) + waited_s
    why = list(reasons(late, lag, stolen_s / lane["air_s"] if lane["air_s"] else 0.0)) if real else []
    clock: Literal["virtual", "real"] = "real" if real else "virtual"
    return Timing(clock=clock, late_ns=late, lag_ns=lag, stolen_s=stolen_s, valid=not why, invalid=why)


def reasons(late: Delays, lag: Delays, stolen: float) -> Iterator[str]:
    """Yield each exceeded limit, in words."""
    for what, delays in (("timers fired", late), ("frames were taken", lag)):
        for which, found_ms, limit_ms in (("1 % of", delays.p99 / 1e6, P99_MS), ("some", delays.max / 1e6, MOST_MS)):
            if found_ms > limit_ms:
                yield f"{which} {what} {found_ms:.3g} ms late or more, not at most {limit_ms:g}"
    if stolen > STEAL:
        yield f"the lane waited {100 * stolen:.3g} % of the time for a CPU, not at most {100 * STEAL:g} %"
