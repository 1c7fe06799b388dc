# SPDX-License-Identifier: BSD-3-Clause
"""Routes over time, from `manet.trace`: what each flow's source knew of its route, and what routing cost and lost.

A flow's source has a route to the destination, with a number of hops, or has none. That is a step function of the
source's records FOUND, CHANGED and LOST_ROUTE (`struct manet_record` in emulation/manet/core/manet.h). The trace begins
when measuring begins, so the first record tells the state before: FOUND means no route, CHANGED or LOST_ROUTE a route.
If there is no record and packets arrive, there was a route all the time.

A break begins when the source loses its route, or a station loses a link that the flow's latest packets used
(`routes.paths`). It ends when the source or that station has a route to the destination again. Breaks in between are
part of it. Times are integers (ns), so intervals compare exactly with TCP's.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analysis.results.summaries import RouteSummary, RoutingSummary
from analysis.routes.paths import Paths, addresses, of_stations
from analysis.tcp.senders import Flow as TcpFlow
from analysis.tcp.senders import Phase
from analysis.traces.columns import one_of, records_of, spans
from analysis.traces.trace import NEVER, Array, record
from emulation.files import compressed
from emulation.files.foreign import LONGEST_NS, Damaged, reading

RECORD = record("""
    size:u2 48
    event:u1
    kind:u1 of the packet, if it is about one
    node:u4 its address
    time_ns:i8
    to:u4 the destination, or the neighbour
    next_hop:u4 the new one, if there is one
    hops:u2 of the route; 0: none
    reason:u1
    count:u1
    source:u4 of the packet
    ip_id:u2
    len:u2
    extra:u4 the protocol's: a request's number, a sequence number
    zero:u8
""")
RECORDER = "manet_trace"
NO_ROUTE, UNKNOWN = 0, -1  # hops: no route; a route of unknown length


class Event(IntEnum):
    """Events that a station records."""

    FOUND = 0  # a route where there was none
    CHANGED = 1  # its next hop or length
    LOST_ROUTE = 2
    REPAIRED = 3  # by a station on the path
    SALVAGED = 4  # a packet, over another route
    BUFFERED = 5  # a packet, while a route is searched
    RELEASED = 6
    DROPPED = 7
    SEARCH = 8  # a request; `count` is its TTL
    SEARCH_FAILED = 9
    LINK_LOST = 10  # `to` is the neighbour
    LINK_FOUND = 11
    SENT_CONTROL = 12  # passed to the radio
    GOT_CONTROL = 13


class Packet(IntEnum):
    """Kinds of packet."""

    DATA = 0  # users' packets
    RREQ = 1
    RREP = 2
    RERR = 3
    ACK = 4
    HELLO = 5
    TC = 6
    UPDATE = 7


class DropReason(IntEnum):
    DONE = 0
    NO_ROUTE = 1
    LINK_BROKEN = 2
    PURGED = 3
    QUEUE_FULL = 4
    BUFFER_FULL = 5
    BUFFER_TIMEOUT = 6
    TTL_EXPIRED = 7
    DUPLICATE = 8
    MALFORMED = 9
    NOT_OURS = 10  # nothing for this node to do
    RATE_LIMITED = 11
    TOO_LONG = 12  # with its source route
    NO_NEIGHBOUR = 13  # the next hop's MAC address is unknown
    UNSENT = 14  # the radio did not take it
    NO_MEMORY = 15
    GONE = 16  # the node was removed


HAS_ROUTE = (Event.FOUND, Event.CHANGED, Event.REPAIRED)


@dataclass(frozen=True)
class Routes:
    """A flow's routes over time: value i holds from `time_ns[i]` to `time_ns[i + 1]`, in ns since the run's start.

    `hops` is the route's length, NO_ROUTE or UNKNOWN. `breaks` has a row per break: its start, and its end or NEVER.
    `found`, `changed` and `lost` count the source's records.
    """

    time_ns: Array
    hops: Array
    breaks: Array
    found: int
    changed: int
    lost: int

    def without(self) -> Array:
        """Return the spans without a route: rows of start and end, ns since the run's start."""
        return spans(self.time_ns, self.hops == NO_ROUTE)

    def summary(self, took: Paths | None, tcp: TcpFlow | None) -> RouteSummary:
        """Summarise the routes, together with the paths of packets and TCP's state where these are known."""
        held, known = np.diff(self.time_ns), self.hops > 0
        recovered = self.breaks[self.breaks[:, 1] < NEVER]
        lasted = (recovered[:, 1] - recovered[:, 0]) / 1e9
        return RouteSummary(
            found=self.found,
            changed=self.changed,
            lost=self.lost,
            without_s=int(held[self.hops == NO_ROUTE].sum()) / 1e9,
            length_mean=float(self.hops[known] @ held[known] / held[known].sum()) if held[known].any() else None,
            breaks=len(self.breaks),
            recovered=len(recovered),
            recovery_mean_s=float(lasted.mean()) if lasted.size else None,
            recovery_max_s=float(lasted.max()) if lasted.size else None,
            packets_by_hops=None if took is None else dict(sorted(Counter(took.hops.tolist()).items())),
            rto_without_s=None
            if tcp is None
            else common(spans(tcp.time_ns, tcp.phase == Phase.RTO), self.without()) / 1e9,
        )


def common(some: Array, others: Array) -> int:
    """Return how much time two lists of spans have in common; the spans of one list do not overlap."""
    begin = np.maximum(some[:, None, 0], others[None, :, 0])
    end = np.minimum(some[:, None, 1], others[None, :, 1])
    return int((end - begin).clip(min=0).sum())


def read(path: Path, lane: Mapping[str, Any]) -> Array:
    """Read the records in a file, compressed or not, of the run with this lane.json. Raises Damaged if records were
    lost or are malformed, OSError if the file cannot be read."""
    if lost := lane["recorders"][RECORDER]["lost_records"]:
        raise Damaged(f"the trace of routing lost {lost} records: its reader fell behind")
    with reading(path):
        return parse(compressed.read(compressed.kept(path)))


def parse(data: bytes | bytearray) -> Array:
    """Return the records of these bytes, by time. Raises Damaged if they are malformed."""
    found = records_of(data, RECORD, "the trace of routing", lambda of: (
        (of["event"] > max(Event), "an unknown event"),
        (of["kind"] > max(Packet), "an unknown kind of packet"),
        (of["reason"] > max(DropReason), "an unknown reason"),
        ((of["time_ns"] < 0) | (of["time_ns"] > LONGEST_NS), "an impossible time"),
    ))  # fmt: skip
    return found[np.argsort(found["time_ns"], kind="stable")]


def routes(
    records: Array, plan: Mapping[str, Any], lane: Mapping[str, Any], took: Mapping[str, Paths]
) -> dict[str, Routes]:
    """Return the routes of each flow of a run, by its name; `took` has the paths of packets where known."""
    ip, times = addresses(plan), flow_times(plan, lane)
    of_lane = {application["name"]: application for application in lane["applications"]}
    found = {}
    for flow in plan["applications"]:
        if flow["name"] in times:
            arrives = bool(of_lane[flow["name"]].get("delivered_bytes"))
            ends = ip[flow["source"]], ip[flow["destination"]]
            links = _links(took.get(flow["name"]), of_stations(plan))
            found[flow["name"]] = follow(records, ends, times[flow["name"]], arrives, links)
    return found


def flow_times(plan: Mapping[str, Any], lane: Mapping[str, Any]) -> dict[str, tuple[int, int, int]]:
    """Return for each flow between nodes with radios the run's start and the flow's start and end (ns of the lane)."""
    ip, found = addresses(plan), {}
    of_lane = {application["name"]: application for application in lane["applications"]}
    for flow in plan["applications"]:
        if {flow["source"], flow["destination"]} <= ip.keys():
            ended_s = of_lane[flow["name"]].get("finished_s")
            start_ns = lane["started_ns"] + round(flow["start_s"] * 1e9)
            stop_ns = lane["stopped_ns"] if ended_s is None else start_ns + round(ended_s * 1e9)
            found[flow["name"]] = lane["started_ns"], start_ns, max(stop_ns, start_ns)
    return found


class _Links:
    """The links that a flow's latest packet used, over time."""

    def __init__(self, time_ns: Array, links: list[set[tuple[int, int]]]) -> None:
        self.time_ns, self.links = time_ns, links

    def at(self, time_ns: int) -> set[tuple[int, int]]:
        row = int(np.searchsorted(self.time_ns, time_ns)) - 1
        return self.links[row] if row >= 0 else set()


def _links(took: Paths | None, ips: list[int]) -> _Links:
    if took is None:
        return _Links(np.zeros(0, np.int64), [])
    rows = took.changes()
    ways = [[ips[station] for station in stations if station >= 0] for stations in took.stations[rows].tolist()]
    return _Links(took.time_ns[rows], [set(pairwise(way)) for way in ways])


def follow(
    records: Array, ends: tuple[int, int], times: tuple[int, int, int], arrives: bool, links: _Links
) -> Routes:  # fmt: skip
    """Return the routes from one address to another. `times`: the run's start, the flow's start and its stop, in the
    trace's time. `arrives`: whether packets arrive."""
    (source, destination), (zero_ns, start_ns, stop_ns) = ends, times
    event, time = records["event"], records["time_ns"]
    own = (records["node"] == source) & (records["to"] == destination)
    changes = np.flatnonzero(own & (event <= Event.LOST_ROUTE))
    hops = np.where(
        event[changes] == Event.LOST_ROUTE, NO_ROUTE, np.maximum(records["hops"][changes].astype(np.int64), 1)
    )
    had_one = (
        event[changes[0]] != Event.FOUND if changes.size else arrives and not (own & (event == Event.SEARCH)).any()
    )
    before, after = time[changes] <= start_ns, time[changes] < stop_ns
    hops = np.append(UNKNOWN if had_one else NO_ROUTE, hops)[before.sum() :][: (after & ~before).sum() + 1]
    edges = np.concatenate([[start_ns], time[changes][after & ~before], [stop_ns]])
    within = event[changes][(time[changes] >= start_ns) & after]
    counts = [int((within == which).sum()) for which in (Event.FOUND, Event.CHANGED, Event.LOST_ROUTE)]
    has_route = one_of(event, HAS_ROUTE) & (records["to"] == destination)
    matters = own & (event == Event.LOST_ROUTE) | (event == Event.LINK_LOST) | has_route
    matters &= (time >= start_ns) & (time < stop_ns)
    breaks = _breaks(records[matters], source, destination, links)
    breaks[breaks < NEVER] -= zero_ns
    return Routes(edges - zero_ns, hops, breaks, *counts)


def _breaks(records: Array, source: int, destination: int, links: _Links) -> Array:
    """Return the start and end of each break; the records are those that matter."""
    found: list[list[int]] = []
    broken: set[int] = set()
    for event, node, to, time in records[["event", "node", "to", "time_ns"]].tolist():
        if event in HAS_ROUTE:
            if node in broken:
                found[-1][1] = time
                broken = set()
        elif event == Event.LOST_ROUTE or (node, to) in links.at(time):
            if not broken:
                found.append([time, NEVER])
            broken |= {source, node}
    return np.array(found, np.int64).reshape(-1, 2)


def summary(records: Array, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> RoutingSummary:
    """Summarise what routing cost and lost in a run, over all stations."""
    records = records[(records["time_ns"] >= lane["started_ns"]) & (records["time_ns"] < lane["stopped_ns"])]
    sent = records[records["event"] == Event.SENT_CONTROL]
    dropped = records[records["event"] == Event.DROPPED]
    data = dropped["kind"] == Packet.DATA
    size = np.bincount(sent["kind"], sent["len"], len(Packet))
    airtimes = [station["counters"]["airtime_ns"].get("routing", 0) for station in lane["air"]["stations"]]
    return RoutingSummary(
        protocol=plan["routing"]["kind"],
        control_frames=_counts(Packet, sent["kind"]),
        control_bytes={kind.name.lower(): int(size[kind]) for kind in Packet if size[kind]},
        airtime_s=sum(airtimes) / 1e9,
        dropped=_counts(DropReason, dropped["reason"][data]),
        dropped_control=_counts(DropReason, dropped["reason"][~data]),
        events=_counts(Event, records["event"]),
    )


def control_s(records: Array, lane: Mapping[str, Any]) -> dict[str, Array]:
    """Return the times at which control packets of each kind were sent, in s since the run's start."""
    sent = records[(records["event"] == Event.SENT_CONTROL) & (records["time_ns"] >= lane["started_ns"])]
    times = (sent["time_ns"] - lane["started_ns"]) / 1e9
    return {kind.name: times[sent["kind"] == kind] for kind in Packet if (sent["kind"] == kind).any()}


def _counts(names: type[IntEnum], column: Array) -> dict[str, int]:
    """Count each value, by its name; zeros are left out."""
    count = np.bincount(column, minlength=len(names)).tolist()
    return {name.name.lower(): count[name] for name in names if count[name]}
