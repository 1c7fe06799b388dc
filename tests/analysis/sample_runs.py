# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a made-up study, made like real ones: from a plan and a lane.json."""

from typing import Any

from analysis.results.result import InFlight, Run, from_lane

AIR = {"slot_ns": 20_000, "sifs_ns": 10_000, "signal_extension_ns": 0, "reception": "capture", "retry_by": "limits",
       "basic_rates": [10], "rx_threshold_mdbm": -64_000, "cs_threshold_mdbm": -78_000, "short_retry": 7,
       "long_retry": 4, "power_mdbm": [], "delay_ns": []}  # fmt: skip
NOBODY = {  # a run of no study: its files' content
    "plan.json": {"name": "string", "sample_s": 1.0, "air": AIR, "nodes": []},
    "lane.json": {"air_s": 1.0, "started_ns": 0, "stopped_ns": 1_000_000_000, "recorders": {}},
}


def plan(seed: int = 1) -> dict[str, Any]:
    flow = {"name": "flow1", "source": "sta1", "destination": "sta5", "congestion": "reno", "mss": 1460, "start_s": 0.0}
    return {"version": 6, "seed": seed, "applications": [flow]}


def lane(segments: int, collisions: int = 0, given_up: int = 0) -> dict[str, Any]:
    first = {
        "tx": {"rts": 10}, "airtime_ns": {"rts": 3_520_000},
        "rx": {"rts": {"OK": 5, "COLLISION": 2 * collisions}, "cts": {"OWN_TX": 3}, "ack": {"COLLISION": 99}},
        "addressed": {
            "rts": {"OK": 5, "COLLISION": collisions, "NOISE": 7, "BELOW_THRESHOLD": 9}, "cts": {"OWN_TX": 2},
            "ack": {"COLLISION": 88},
        },
        "end": {
            "tcp_data": {"ACKED": 4, "RTS_LIMIT": given_up, "LONG_LIMIT": 2, "QUEUE_FULL": 3},
            "tcp_ack": {"SHORT_LIMIT": 1, "STAGES": 1}, "routing": {"RTS_LIMIT": 1, "QUEUE_FULL": 1},
        },
        "retries": {"short": 1, "long": 2},
    }  # fmt: skip
    second = {
        "rx": {"tcp_data": {"COLLISION": 6}},
        "addressed": {"tcp_data": {"COLLISION": 4, "OWN_TX": 1}, "tcp_ack": {"OWN_TX": 5}},
        "end": {}, "retries": {"short": 3, "long": 0},
    }  # fmt: skip
    return {
        "version": 3, "ok": True, "error": None, "air_s": 120.0,
        "settings": [{"where": "sta1", "what": "net.ipv4.tcp_sack", "value": "0", "default": "1"}],
        "applications": [{
            "name": "flow1", "delivered_bytes": segments * 1460 + 700, "acked_bytes": segments * 1460,
            "retransmits": 12, "tcp_info": {}, "finished_s": None,
        }],
        "air": {
            "version": 1, "lost_records": 0, "refused_frames": 0, "late_ns_max": 480,
            "stations": [{"name": "sta1", "counters": first}, {"name": "sta5", "counters": second}],
        },
    }  # fmt: skip


def run(
    rts: str = "full", seed: int = 1, segments: int = 4500, collisions: int = 10, given_up: int = 5, **more: Any
) -> Run:  # fmt: skip
    usual: dict[str, Any] = {
        "wall_s": 1.5, "in_flight": InFlight(data=3.25, ack=2.0, total=5.25), "trace": "full-1/air.pcapng.gz",
        "trace_sha256": "00" * 32,
    }  # fmt: skip
    return from_lane(plan(seed), lane(segments, collisions, given_up), **({"variant": rts} | usual | more))


def study(seeds: int = 3) -> list[Run]:
    return [
        run(rts, seed, segments + 40 * seed * (1 + at % 2), 300 - 100 * at + seed, 9 - 4 * at)
        for seed in range(1, seeds + 1)
        for at, (rts, segments) in enumerate((("full", 4500), ("partial", 4800), ("none", 5400)))
    ]


def strings(seeds: int = 1, hops: tuple[int, ...] = (3, 4)) -> list[Run]:
    """Several cases: `slow` has a tenth more goodput than `plain` at 3 hops, a fifth more at 4."""
    return [
        run(variant=variant, case=str(h), seed=seed, segments=(6000 + 60 * seed) * (10 + more * (h - 2)) // 10 // h)
        for seed in range(1, seeds + 1)
        for h in hops
        for variant, more in (("plain", 0), ("slow", 1))
    ]
