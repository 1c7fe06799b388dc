# SPDX-License-Identifier: BSD-3-Clause
"""Warnings about plans that can be played but rarely do what the user intends, a sentence each."""

from collections.abc import Iterator, Mapping
from typing import Any

from emulation.lane.ackthin import PARAMETERS

# tc_modules/tcp_cwl.c: Chen, Xue and Nahrstedt 2003, for 1, 2, ... hops
CHEN = (2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5)
DEFAULTS = {"rule": "chen", "limit": "4", "hops": "0"}


def advice(plan: Mapping[str, Any]) -> list[str]:
    return [*_windows_below_what_receivers_wait_for(plan), *_more_memory_than_a_lane_has(plan)]


def _more_memory_than_a_lane_has(plan: Mapping[str, Any]) -> Iterator[str]:
    """Warn if the network may need more memory than its lane has."""
    memory = plan.get("memory", {"needed_mb": 0, "lane_mb": 0})
    if memory["needed_mb"] > memory["lane_mb"]:
        yield (
            f"this network may take {memory['needed_mb']} MB, and a lane has {memory['lane_mb']}: if that is not "
            "enough it ends before its time; fewer stations that come into each other's earshot take less"
        )


def _windows_below_what_receivers_wait_for(plan: Mapping[str, Any]) -> Iterator[str]:
    """Warn if a receiver waits for more segments than the sender may send: then its timer fires each time."""
    nodes = {node["name"]: node for node in plan["nodes"]}
    for flow in plan["applications"]:
        source, destination = nodes[flow["source"]], nodes[flow["destination"]]
        there, back = _route(source, destination), _route(destination, source)
        if flow["congestion"] != "cwl" or not there or not back:
            continue
        window, (by, awaited) = _window(plan["module_parameters"], there["metric"]), _awaited(destination, back)
        if window < awaited:
            yield (
                f"{flow['name']}: cwl holds its window to {window} segment{'s' * (window > 1)}, and the receiver's "
                f"{by} waits for {awaited}, each time until its timer fires; a larger window: "
                f"--module-parameters tcp_cwl.rule=fixed,tcp_cwl.limit={awaited}"
            )


def _route(at: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a node's planned route to another; None: there is none, or a protocol finds it."""
    if "routes" not in at["routing"]:
        return None
    ip = to["interfaces"][0]["ip"].partition("/")[0]
    near: dict[str, Any] | None = (
        {"to": ip, "metric": 1, "tcp": {}} if ip in at["interfaces"][0]["neighbours"] else None
    )
    return next((route for route in at["routing"]["routes"] if route["to"] == ip), near)


def _window(parameters: Mapping[str, str], hops: int) -> int:
    """Return the limit of tcp_cwl, in segments."""
    rule, limit, own = (parameters.get(f"tcp_cwl.{name}", default) for name, default in DEFAULTS.items())
    hops = (int(own) if own.isdecimal() else 0) or hops
    if rule == "fixed":
        return int(limit) if limit.isdecimal() else int(DEFAULTS["limit"])
    by_hops = {"h/4": hops // 4, "rthc/5": 2 * hops // 5, "3h/2": (3 * hops + 1) // 2}
    return max(by_hops.get(rule, CHEN[min(hops, len(CHEN)) - 1]), 1)


def _awaited(node: Mapping[str, Any], back: Mapping[str, Any]) -> tuple[str, int]:
    """Return what delays a receiver's ACKs, and for how many segments it waits at least."""
    qdisc = node["interfaces"][0]["qdisc"] or {}
    qdisc = qdisc.get("below", qdisc)
    if qdisc.get("kind") == "ackthin":
        values = {name: parameter.default for name, parameter in PARAMETERS.items()} | qdisc
        waits = {"delayed": values["count"], "skip": values["skip"] + 1, "daa": values["dwin_min"]}
        return f"ackthin {values['policy']}", waits.get(values["policy"], 1)
    settings = back["tcp"] if "tcp" in back else node["routing"]["tcp"].get(back["to"], {})
    return "delayed ACK", 1 if "quickack" in settings else 2
