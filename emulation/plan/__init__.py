# SPDX-License-Identifier: BSD-3-Clause
"""From what the user asked for to every number that a lane needs (docs/interfaces.md, section 1).

`plan` is a pure function: no clock, no randomness, no file. All decisions are made here, once: what follows only
carries them out. Routes are static shortest paths, so that a study of TCP and the MAC has no third party in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from emulation.plan.error_rates import error_table
from emulation.specification import DSSS, HR, OFDM, RATES, Specification, propagation
from topologies import Layout
from traffic import tcp

ALL_PAIRS = 25  # up to so many stations everybody can reach everybody; beyond, only the flows have their routes
PARTIAL_RTS = (
    400  # bytes; mac80211 compares the frame's length with its FCS: a TCP ACK's is up to 118, a DATA's from 612
)
FLOOR_DB = 20  # what arrives this far below the noise changes no SINR by more than 0.05 dB: nothing arrives
MAX_DELAY_NS = 32_000  # the air's limit, 9.6 km
FIRST_PORT = 5001
TAP, THINNING = "tcp_tap", "sch_ackthin"


class PlanError(ValueError):
    """What was asked for cannot be done; the text says why, and what can."""


class Phy(NamedTuple):
    """A PHY's constants: IEEE 802.11-2016, 15.3.3 (DSSS), 16.3.3 (HR/DSSS), 18.5.4 (ERP, with the short slot)."""

    name: str
    slot_ns: int
    cw_min: int
    signal_extension_ns: int
    basic_rates: tuple[float, ...]


SIFS_NS, CW_MAX = 10_000, 1023
DSSS_PHY = Phy("dsss", 20_000, 31, 0, (1.0,))
HR_PHY = Phy("hr", 20_000, 31, 0, (1.0,))
ERP_PHY = Phy("erp", 9_000, 15, 6_000, (6.0, 12.0, 24.0))


def phy_of(rate: float) -> Phy:
    """The PHY that a network at this data rate (Mb/s) uses."""
    return DSSS_PHY if rate in DSSS else HR_PHY if rate in HR else ERP_PHY


def hops_to(destination: int, links: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Hop counts of all stations to one, over symmetric links (N, N); -1: no path."""
    hops = np.full(len(links), -1)
    front, distance = np.zeros(len(links), dtype=bool), 0
    front[destination] = True
    while front.any():
        hops[front] = distance
        front = links[front].any(axis=0) & (hops < 0)
        distance += 1
    return hops


def next_hops(destination: int, links: NDArray[np.bool_]) -> list[int]:
    """The next station on everybody's shortest path to one, of several the lowest index; -1: none, or there already."""
    hops = hops_to(destination, links)
    closer = links & (hops >= 0)[None, :] & (hops[None, :] == hops[:, None] - 1)
    return [int(via) for via in np.where(closer.any(axis=1) & (hops > 0), closer.argmax(axis=1), -1)]


def plan(specification: Specification) -> dict[str, Any]:
    """The plan of a specification: plain JSON. Raises PlanError."""
    layout = specification.layout()
    air, links = _air(specification, layout)
    stations = _stations(specification, layout)
    names = specification.tcp if len(specification.tcp) > 1 else specification.tcp * len(layout.flows)
    flows = [
        _flow(specification, number, *ends, tcp.find(name).congestion)
        for number, (ends, name) in enumerate(zip(layout.flows, names, strict=True), 1)
    ]
    modules, module_parameters = _set_up_tcp(stations, flows, names)
    _route(specification, layout, stations, links)
    modules = [*specification.load, *modules, *_queue(specification, layout, stations)]  # what others need comes first
    modules = list(dict.fromkeys([TAP] * specification.tcp_trace + modules))
    return {
        "version": 1,
        "name": specification.topology,
        "seed": specification.seed,
        "seconds": specification.seconds,
        "air": air,
        "stations": list(stations.values()),
        "flows": flows,
        "modules": modules + _modules_of(specification.module_parameters, modules),
        "module_parameters": module_parameters | specification.module_parameters,
    }


def _modules_of(parameters: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """The modules that parameters are set of, besides those that are known."""
    named = dict.fromkeys(name.partition(".")[0] for name in parameters)
    return [name for name in named if name not in known]


def _air(specification: Specification, layout: Layout) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """The air's part, and who can exchange frames with whom."""
    s, phy = specification, phy_of(specification.rate)
    thresholds = s.effective_thresholds()
    assert thresholds.capture_db is not None
    distance = propagation.distances(list(layout.stations.values()))
    floor_dbm = min(s.noise_dbm - FLOOR_DB, thresholds.sense_dbm)
    try:
        power = propagation.power_mdbm(s.propagation.received_dbm(distance), floor_dbm)
    except ValueError as error:  # the model does not fit the layout
        raise PlanError(f"propagation: {error}") from error
    delay = np.where(power.mask, 0, propagation.delay_ns(distance))
    if delay.max() >= MAX_DELAY_NS:
        a, b = np.unravel_index(delay.argmax(), delay.shape)
        names = list(layout.stations)
        raise PlanError(
            f"{names[a]} and {names[b]} hear each other over {distance[a, b] / 1000:.1f} km; the air allows less than "
            "9.6 km: bring them closer, or choose a propagation model that falls off faster"
        )
    receive = propagation.mdbm(thresholds.receive_dbm)
    reached = (power >= receive).filled(False)
    basic = s.basic_rates or phy.basic_rates
    eifs = s.eifs or ("energy" if s.reception == "capture" else "frame")
    air = {
        "phy": phy.name,
        "slot_ns": phy.slot_ns,
        "sifs_ns": SIFS_NS,
        "cw_min": phy.cw_min,
        "cw_max": CW_MAX,
        "signal_extension_ns": phy.signal_extension_ns,
        "basic_rates": sorted(_units(rate) for rate in set(basic)),
        "reception": s.reception,
        "capture_db": thresholds.capture_db,
        "rx_threshold_mdbm": receive,
        "cs_threshold_mdbm": propagation.mdbm(thresholds.sense_dbm),
        "noise_mdbm": propagation.mdbm(s.noise_dbm),
        "short_retry": s.short_retry,
        "long_retry": s.long_retry,
        "queue": s.queue,
        "retry_by": "limits" if s.rate_control == "fixed" else "stages",
        "nav_reset": True,
        "seed": s.seed,
        "eifs": eifs,
        "power_mdbm": power.tolist(),
        "delay_ns": delay.tolist(),
        "error_table": error_table([_units(rate) for rate in RATES]) if s.reception == "sinr" else None,
        "trace": s.trace,
        "snap": s.snap,
    }
    return air, reached & reached.T


def _rates(s: Specification) -> list[float]:
    """The data rates a station may use: one, or those of its PHY up to it."""
    family = HR if s.rate in HR else OFDM
    return [s.rate] if s.rate_control == "fixed" else sorted({rate for rate in family if rate <= s.rate})


def _units(rate: float) -> int:
    """Mb/s in units of 100 kb/s."""
    return round(rate * 10)


def _stations(specification: Specification, layout: Layout) -> dict[str, dict[str, Any]]:
    s = specification
    return {
        name: {
            "name": name,
            "address": _address(i),
            "position": [float(value) for value in position],
            "ip": f"{_ip(i)}/24",
            "freq": s.freq,
            "link": "ibss",
            "ssid": "dcflab",
            "beacon_tu": s.beacon_tu,
            "rates": [_units(rate) for rate in _rates(s)],
            "rts_threshold": {"full": 0, "partial": PARTIAL_RTS, "none": None}[s.rts],
            "routes": [],
            "neighbours": {},
            "qdisc": None,
            # A router that takes and gives no advice; and no IPv6, whose solicitations would take airtime.
            "sysctl": {
                "net.ipv4.ip_forward": "1",
                "net.ipv4.conf.all.send_redirects": "0",
                "net.ipv4.conf.default.send_redirects": "0",
                "net.ipv4.conf.all.accept_redirects": "0",
                "net.ipv4.conf.default.accept_redirects": "0",
                "net.ipv4.conf.all.rp_filter": "0",
                "net.ipv4.conf.default.rp_filter": "0",
                "net.ipv6.conf.all.disable_ipv6": "1",
                "net.ipv6.conf.default.disable_ipv6": "1",
            },
        }
        for i, (name, position) in enumerate(layout.stations.items())
    }


def _address(index: int) -> str:
    return f"02:00:00:00:00:{index + 1:02x}"


def _ip(index: int) -> str:
    return f"10.0.0.{index + 1}"


def _flow(specification: Specification, number: int, source: str, destination: str, congestion: str) -> dict[str, Any]:
    s = specification
    return {
        "name": f"flow{number}",
        "source": source,
        "destination": destination,
        "kind": s.traffic,
        "port": FIRST_PORT + number - 1,
        "congestion": congestion,
        "mss": s.mss,
        "send_buffer": s.send_buffer,
        "receive_buffer": s.receive_buffer,
        "start_s": 0.0,
        "bytes": s.bytes,
    }


def _set_up_tcp(
    stations: dict[str, dict[str, Any]], flows: list[dict[str, Any]], names: tuple[str, ...]
) -> tuple[list[str], dict[str, str]]:
    """Put the variables of the flows' TCP into their end points; returns the modules needed, and their parameters.

    A station has each variable once, so all flows that end there must need the same; what one leaves alone counts too.
    """
    first: dict[str, str] = {}  # station -> TCP of the first flow there
    module_parameters: dict[str, str] = {}
    modules = list(dict.fromkeys(module for name in names if (module := tcp.find(name).module)))
    for flow, name in zip(flows, names, strict=True):
        module_parameters |= tcp.find(name).module_parameters
        for end in (flow["source"], flow["destination"]):
            mine, other = tcp.find(name).sysctl, tcp.find(first.setdefault(end, name)).sysctl
            if mine != other:
                differ = ", ".join(sorted(key for key in mine | other if mine.get(key) != other.get(key)))
                raise PlanError(
                    f"{name} and {first[end]} cannot both be at {end}, which has these settings only once: {differ}"
                )
            stations[end]["sysctl"] |= mine
    return modules, module_parameters


def _queue(specification: Specification, layout: Layout, stations: dict[str, dict[str, Any]]) -> list[str]:
    """Give the ends of flows their qdiscs: receivers the one that thins their ACKs, or both ends one of the user's.

    Returns the modules needed.
    """
    if specification.ackthin:
        for _, destination in layout.flows:
            stations[destination]["qdisc"] = {"kind": "ackthin", **specification.ackthin}
        return [THINNING]
    if specification.qdisc:
        module, _, kind = specification.qdisc.partition(":")
        for end in itertools.chain.from_iterable(layout.flows):
            stations[end]["qdisc"] = {"kind": kind}
        return [module]
    return []


def _route(
    specification: Specification, layout: Layout, stations: dict[str, dict[str, Any]], links: NDArray[np.bool_]
) -> None:
    """Give the stations their routes and neighbours: both ways of every flow, and between all in a small network."""
    names = list(stations)
    number = {name: i for i, name in enumerate(names)}
    ends = {(number[source], number[destination]) for source, destination in layout.flows}
    everybody = range(len(names)) if len(names) <= ALL_PAIRS else ()
    pairs = ends | {(b, a) for a, b in ends} | {(a, b) for a in everybody for b in everybody if a != b}
    prompt = {(b, a) for a, b in ends} if specification.ack == "plain" else set()
    routes: dict[tuple[int, int], int] = {}  # (at, to) -> via
    hops: dict[int, NDArray[np.int64]] = {}
    for to in sorted({to for _, to in pairs}):
        via, hops[to] = next_hops(to, links), hops_to(to, links)
        for at in sorted(at for at, other in pairs if other == to):
            if via[at] < 0 and (at, to) in ends and not specification.unreachable:
                raise PlanError(_no_path(specification, layout, at, to, links))
            while via[at] >= 0 and (at, to) not in routes:
                routes[at, to] = via[at]
                at = via[at]
    for (at, to), via_ in sorted(routes.items()):
        station = stations[names[at]]
        station["neighbours"][_ip(via_)] = _address(via_)
        if via_ != to or (at, to) in prompt:  # a neighbour needs no route but for its metrics
            station["routes"].append(
                {
                    "to": _ip(to),
                    "via": None if via_ == to else _ip(via_),
                    "quickack": (at, to) in prompt,
                    "metric": int(hops[to][at]),
                    "initcwnd": None,
                    "rto_min_ms": None,
                }
            )


def _no_path(specification: Specification, layout: Layout, at: int, to: int, links: NDArray[np.bool_]) -> str:
    """Where the way breaks off: at the strongest link between those whom `at` reaches and the others."""
    names, model = list(layout.stations), specification.propagation
    distance = propagation.distances(list(layout.stations.values()))
    power = model.received_dbm(distance)
    power = np.minimum(power, power.T)
    within = hops_to(at, links) >= 0
    a, b = max(np.argwhere(within[:, None] & ~within[None, :]), key=lambda pair: (power[*pair], -distance[*pair]))
    needed = specification.effective_thresholds().receive_dbm
    reach = model.reach_m(needed)
    arrives = f"{power[a, b]:.1f} dBm arrive" if np.isfinite(power[a, b]) else "nothing arrives"
    return (
        f"no path from {names[at]} to {names[to]}: between {names[a]} and {names[b]}, {distance[a, b]:g} m apart, "
        f"{arrives}; {needed:.1f} dBm are needed"
        + (f", the power at {reach} m" if reach else "")
        + ". Bring them closer, or set unreachable to run all the same"
    )
