# SPDX-License-Identifier: BSD-3-Clause
"""The applications of a plan, and how TCP and queues are set up where they end."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from emulation.plan.errors import PlanError, known
from emulation.specification import Specification
from topologies import Application, Network
from traffic import applications, tcp

FIRST_PORT = 5001
THINNING = "sch_ackthin"

Nodes = Mapping[str, dict[str, Any]]


def plan_applications(specification: Specification, network: Network) -> tuple[list[dict[str, Any]], list[str]]:
    """docs/interfaces.md, section 1, `applications`; and the TCP of each. Raises PlanError."""
    given = specification.transport.tcp
    names = list(given) if len(given) > 1 else list(given) * len(network.applications)
    planned = [
        _application(specification, number, application, tcp.find(name).congestion)
        for number, (application, name) in enumerate(zip(network.applications, names, strict=True), 1)
    ]
    return planned, names


def _application(
    specification: Specification, number: int, application: Application, congestion: str
) -> dict[str, Any]:
    transport = specification.transport
    kind = application.kind or transport.traffic
    known(applications.find, kind)
    return {
        "name": f"flow{number}",
        "kind": kind,
        "source": application.source,
        "destination": application.destination,
        "port": FIRST_PORT + number - 1,
        "congestion": congestion,
        "mss": transport.mss,
        "send_buffer": transport.send_buffer,
        "receive_buffer": transport.receive_buffer,
        "start_s": 0.0,
        "bytes": transport.bytes,
        **application.settings,
    }


def set_up_tcp(nodes: Nodes, network: Network, names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Put the variables of the flows' TCP into their end points; returns the modules needed, and their parameters.

    A node has each variable once, so all flows that end there must need the same; what one leaves alone counts too.
    Raises PlanError.
    """
    first: dict[str, str] = {}  # node -> TCP of the first flow there
    parameters: dict[str, str] = {}
    modules = list(dict.fromkeys(module for name in names if (module := tcp.find(name).module)))
    for application, name in zip(network.applications, names, strict=True):
        parameters |= tcp.find(name).module_parameters
        for end in (application.source, application.destination):
            mine, other = tcp.find(name).sysctl, tcp.find(first.setdefault(end, name)).sysctl
            if mine != other:
                differ = ", ".join(sorted(key for key in mine | other if mine.get(key) != other.get(key)))
                raise PlanError(
                    f"{name} and {first[end]} cannot both be at {end}, which has these settings only once: {differ}"
                )
            nodes[end]["sysctl"] |= mine
    return modules, parameters


def set_up_queues(specification: Specification, nodes: Nodes, network: Network) -> list[str]:
    """Give the ends of flows their qdiscs: receivers the one that thins their ACKs, or both ends one of the user's.

    Returns the modules needed.
    """
    transport = specification.transport
    ends = [(application.source, application.destination) for application in network.applications]
    if transport.ackthin:
        for _, destination in ends:
            nodes[destination]["interfaces"][0]["qdisc"] = {"kind": "ackthin", **transport.ackthin}
        return [THINNING]
    if transport.qdisc:
        module, _, kind = transport.qdisc.partition(":")
        for end in itertools.chain.from_iterable(ends):
            nodes[end]["interfaces"][0]["qdisc"] = {"kind": kind}
        return [module]
    return []
