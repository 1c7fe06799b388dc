# SPDX-License-Identifier: BSD-3-Clause
"""Convert a verb of the page to requests for the lane's program (`lane_program`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emulation.features.live import show, verbs
from emulation.lane.errors import Misuse
from traffic import tcp as variants


def requests(verb: verbs.AnyVerb, plan: Mapping[str, Any], latest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the requests for a verb, in the network of this plan, whose latest state is `latest`. Raises Misuse."""
    radios = list(dict.fromkeys(show.radios(plan)))
    match verb:
        case verbs.Move(node=node, position=position):
            _known("node", node, radios)
            return [{"do": "move", "node": node, "position": [round(each, 3) for each in (*position, 0.0)][:3]}]
        case verbs.Set(node=node):
            _known("node", node or radios[0], radios)
            if not (values := verb.values()):
                raise Misuse("set: there is no value; give rts, rate or tx_power_dbm")
            names = [node] if node else radios
            return [
                {"do": "set", "node": each, "name": name, "value": values[name]} for each in names for name in values
            ]
        case verbs.Tcp(flow=flow, congestion=congestion):
            flows = latest["flows"]
            _known("flow", flow or next(iter(flows), ""), list(flows))
            names = [flow] if flow else [name for name in flows if flows[name]["running"]]
            return [{"do": "tcp", "flow": name, "name": _tcp(congestion)} for name in names]
        case verbs.Start(source=source, destination=destination, tcp=tcp):
            for name in (source, destination):
                _known("node", name, [node["name"] for node in plan["nodes"]])
            if source == destination:
                raise Misuse(f"start: {source} is both source and destination; choose two different nodes")
            return [{"do": "start", "source": source, "destination": destination, "name": _tcp(tcp)}]
        case verbs.Stop(flow=flow):
            _known("flow", flow, list(latest["flows"]))
            return [{"do": "stop", "flow": flow}]
        case verbs.Switch(node=node, on=on):
            _known("node", node, radios)
            return [{"do": "switch", "node": node, "on": on}]
        case verbs.Routing():
            return [{"do": "reroute"}]
    raise Misuse(f"{verb.do}: the network has no such action; reload the page")


def _tcp(name: str | None) -> str:
    """Check the name of a TCP; None means that of the network's flows. Raises Misuse."""
    try:
        return name if name and variants.find(name) else ""
    except ValueError as error:
        raise Misuse(f"tcp: {error}") from None


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise Misuse(f"there is no {what} {name}; there are: {', '.join(names) or 'none'}")
