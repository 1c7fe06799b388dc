# SPDX-License-Identifier: BSD-3-Clause
"""Parts of `result.json` that are made where traces are read: what was in flight, what TCP did, what routing did."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from analysis.results.shapes import Counters
from analysis.results.timing import Whole


class Summary(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InFlight(Summary):
    """TCP segments on the path, mean over the air time."""

    data: float
    ack: float
    total: float


class Outcome(StrEnum):
    """What became of a flow, in the lane's words (traffic/outcome.py)."""

    RAN = "ran"
    FINISHED = "finished"
    NOT_DUE = "not due"
    NEVER_STARTED = "never started"
    SILENT = "fell silent"
    DIED = "died"


class Spread(Summary):
    """How values spread: their mean, percentiles, and the largest."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class Datagrams(Summary):
    """What became of a flow's datagrams: over how many hops they came, where routing counts them in the TTL; delays
    from one application to the other; jitter as of RFC 3550, its mean over all arrivals. Of voice, how many came too
    late to be played, the E-model's R, and the mean opinion score."""

    sent: Whole
    arrived: Whole
    lost_percent: float | None
    duplicates: Whole = 0
    reordered: Whole = 0
    hops_mean: float | None = None
    delay_ms: Spread | None
    jitter_ms: float | None
    late: Whole | None = None
    r: float | None = None
    mos: float | None = None


class Transactions(Summary):
    """Requests and their answers: how many, `bytes` of the answers that were complete, and how long those took."""

    begun: Whole
    completed: Whole
    failed: Whole
    unfinished: Whole
    bytes: Whole
    seconds: Spread | None


class TcpSummary(Summary):
    """What a flow's sender went through (tcp.senders): how often its retransmission timer expired and how often
    it began a fast recovery; how its time divides into phases; means over time, in segments, and of the smoothed RTT
    (None: never measured). The longest time for which nothing new was acknowledged, and when that began; and the dip:
    what the slowest ten seconds brought, relative to the mean (None: the flow had less than twenty)."""

    rtos: Whole
    fast_retransmits: Whole
    slow_start_s: float
    congestion_avoidance_s: float
    recovery_s: float
    rto_s: float
    cwnd_mean: float
    cwnd_max: Whole
    srtt_ms: float | None
    in_flight_mean: float
    stall_s: float | None = None
    stall_at_s: float | None = None
    dip: float | None = None

    @property
    def retransmissions_begun(self) -> int:
        """Fast retransmits and timeouts."""
        return self.fast_retransmits + self.rtos


class RouteSummary(Summary):
    """What a flow's source knew of the way, and which its packets went (routes.routes). How often it found, changed
    and lost its route; for how long it had none; the route's mean length over time, in hops; how often the way broke,
    how often there was one again, and after how long. `packets_by_hops`: the segments that arrived, by how many hops
    they went (None without the air's trace). `rto_without_s`: how much of TCP's `rto_s` there was no route."""

    found: Whole
    changed: Whole
    lost: Whole
    without_s: float
    length_mean: float | None
    breaks: Whole
    recovered: Whole
    recovery_mean_s: float | None
    recovery_max_s: float | None
    packets_by_hops: dict[int, Whole] | None
    rto_without_s: float | None

    @property
    def changes(self) -> int:
        """Of whatever sort."""
        return self.found + self.changed + self.lost

    @property
    def short_share(self) -> float | None:
        """Of the segments that arrived, those over at most three hops."""
        counts = self.packets_by_hops or {}
        return sum(n for hops, n in counts.items() if hops <= 3) / sum(counts.values()) if counts else None

    @property
    def hops_mean(self) -> float | None:
        """Of the segments that arrived."""
        counts = self.packets_by_hops or {}
        return sum(hops * n for hops, n in counts.items()) / sum(counts.values()) if counts else None


class RoutingSummary(Summary):
    """What routing cost and lost, of all stations (routes.routes): control packets that were handed to radios, and
    their bytes (IP), by kind; how long the air was theirs; the users' packets that it dropped and its own, by reason;
    and how often it told of what (None: of nothing, as what is not manet.ko's). `control_bytes` is None if nobody saw
    them: without the air's trace."""

    protocol: str
    control_frames: dict[str, Whole]
    control_bytes: dict[str, Whole] | None
    airtime_s: float
    dropped: dict[str, Whole] | None
    dropped_control: dict[str, Whole] | None
    events: dict[str, Whole] | None

    @property
    def frames(self) -> int:
        return sum(self.control_frames.values())

    @property
    def bytes(self) -> int | None:
        return None if self.control_bytes is None else sum(self.control_bytes.values())

    @property
    def drops(self) -> int | None:
        """Of the users' packets."""
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


class StationResult(Summary):
    """A station's counters, as docs/interfaces.md, section 4, has them."""

    name: str
    counters: Annotated[dict[str, Any], BeforeValidator(_counters)]
