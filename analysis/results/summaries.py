# SPDX-License-Identifier: BSD-3-Clause
"""Parts of `result.json` that are made while traces are read: segments in flight, TCP, routing."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from analysis.results.shapes import Counters
from analysis.results.timing import Model, Whole


class InFlight(Model):
    """TCP segments in flight, mean over the air time."""

    data: float
    """segments with payload"""
    ack: float
    """pure ACKs"""
    total: float
    """both"""


class Outcome(StrEnum):
    """The outcome of a flow, as the lane names it (traffic/outcome.py)."""

    RAN = "ran"
    FINISHED = "finished"
    NOT_DUE = "not due"
    NEVER_STARTED = "never started"
    SILENT = "fell silent"
    DIED = "died"


class Spread(Model):
    """The distribution of values."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class Datagrams(Model):
    """A flow's datagrams."""

    sent: Whole
    arrived: Whole
    """each once"""
    lost_percent: float | None
    """of those sent"""
    duplicates: Whole = 0
    """that arrived twice"""
    reordered: Whole = 0
    """that arrived after a later one"""
    hops_mean: float | None = None
    """by the TTL, if the routing decrements it"""
    delay_ms: Spread | None
    """from one application to the other"""
    jitter_ms: float | None
    """as in RFC 3550, mean over all arrivals"""
    late: Whole | None = None
    """of voice: too late to be played"""
    r: float | None = None
    """of voice: the E-model's R"""
    mos: float | None = None
    """of voice: mean opinion score, 1 to 5"""


class Transactions(Model):
    """A flow's requests and responses."""

    begun: Whole
    completed: Whole
    failed: Whole
    unfinished: Whole
    bytes: Whole
    """of complete responses"""
    seconds: Spread | None
    """from a request to the end of its response"""


class TcpSummary(Model):
    """A flow's sender (`analysis.tcp.senders`). Windows are in segments; means are over time."""

    rtos: Whole
    """expiries of the retransmission timer"""
    fast_retransmits: Whole
    """fast recoveries that began"""
    slow_start_s: float
    """this and the next three: phases that share the flow's time"""
    congestion_avoidance_s: float
    recovery_s: float
    """in fast recovery and the kernel's CWR"""
    rto_s: float
    """waiting for the retransmission timer"""
    cwnd_mean: float
    """congestion window"""
    cwnd_max: Whole
    """its maximum"""
    srtt_ms: float | None
    """smoothed round-trip time; null: never measured"""
    in_flight_mean: float
    """by the kernel's count"""
    stall_s: float | None = None
    """the longest time without a new acknowledgment"""
    stall_at_s: float | None = None
    """its beginning"""
    dip: float | None = None
    """what was acknowledged in the slowest ten seconds, relative to the mean; null: the flow had less than twenty"""

    @property
    def retransmissions_begun(self) -> int:
        """Fast retransmits and timeouts."""
        return self.fast_retransmits + self.rtos


class RouteSummary(Model):
    """The route of a flow, as its source knew it, and the paths of its packets (`analysis.routes`)."""

    found: Whole
    """how often the source found a route"""
    changed: Whole
    """how often it changed"""
    lost: Whole
    """how often it was lost"""
    without_s: float
    """time without a route"""
    length_mean: float | None
    """hops, mean over time"""
    breaks: Whole
    """how often the path broke: the source lost its route, or a station lost the link that the flow's packets used
    last"""
    recovered: Whole
    """how often that station had a route again; breaks in between belong to the same break"""
    recovery_mean_s: float | None
    """time until then"""
    recovery_max_s: float | None
    packets_by_hops: dict[int, Whole] | None
    """segments that arrived, by hops, seen on the air; null without a trace"""
    rto_without_s: float | None
    """the part of `tcp.rto_s` without a route"""

    @property
    def changes(self) -> int:
        """Changes of any kind."""
        return self.found + self.changed + self.lost

    @property
    def short_share(self) -> float | None:
        """Share of the arrived segments that took at most three hops."""
        counts = self.packets_by_hops or {}
        return sum(n for hops, n in counts.items() if hops <= 3) / sum(counts.values()) if counts else None

    @property
    def hops_mean(self) -> float | None:
        """Mean hops of the arrived segments."""
        counts = self.packets_by_hops or {}
        return sum(hops * n for hops, n in counts.items()) / sum(counts.values()) if counts else None


class RoutingSummary(Model):
    """The cost and losses of routing, all stations. What a protocol does not report is null: only `manet.ko` reports
    it."""

    protocol: str
    control_frames: dict[str, Whole]
    """control packets given to radios, by kind"""
    control_bytes: dict[str, Whole] | None
    """from the IP header on; null also without a trace"""
    airtime_s: float
    """every attempt of control packets, without RTS, CTS and ACK"""
    dropped: dict[str, Whole] | None
    """data packets that routing dropped, by reason"""
    dropped_control: dict[str, Whole] | None
    """control packets that it dropped, by reason"""
    events: dict[str, Whole] | None
    """by name, such as `link_lost` and `search`"""

    @property
    def frames(self) -> int:
        return sum(self.control_frames.values())

    @property
    def bytes(self) -> int | None:
        return None if self.control_bytes is None else sum(self.control_bytes.values())

    @property
    def drops(self) -> int | None:
        """Dropped data packets of users."""
        return None if self.dropped is None else sum(self.dropped.values())

    @property
    def links_lost(self) -> int | None:
        return None if self.events is None else self.events.get("link_lost", 0)

    @property
    def searches(self) -> int | None:
        return None if self.events is None else self.events.get("search", 0)


def _counters(given: Any) -> Any:
    Counters.model_validate(given)
    return given


class StationResult(Model):
    """A station."""

    name: str
    counters: Annotated[dict[str, Any], BeforeValidator(_counters)]
    """docs/records.md, section 4"""
