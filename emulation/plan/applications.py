# SPDX-License-Identifier: BSD-3-Clause
"""The applications of a plan, and the TCP settings and qdiscs of the nodes at their ends."""

import itertools
from collections.abc import Collection, Mapping
from typing import Any

from emulation.lane.errors import Misuse
from emulation.plan.checks import as_misuse, check_names, find_kind
from emulation.specification import Specification
from emulation.specification.transport import AUTO, Flow, Transport
from topologies import Application, Network
from topologies.files import ask, is_a
from traffic import applications, tcp
from traffic.settings import setting

FIRST_PORT = 5001
THINNING, NETEM = "sch_ackthin", "sch_netem"
# netem stops charging a segment to its socket before it delays it (skb_orphan_partial), whatever the delay is.
PAST_SMALL_QUEUES = {"kind": "netem", "latency_ns": 1}

Nodes = Mapping[str, dict[str, Any]]


def plan_applications(specification: Specification, network: Network) -> tuple[list[dict[str, Any]], list[str]]:
    """Return `applications` of docs/interfaces.md, section 1, and the TCP of each. Raises Misuse."""
    given = specification.transport.tcp
    names = list(given) if len(given) > 1 else list(given) * len(network.applications)
    planned, theirs, taken = [], [], dict[tuple[str, int], str]()
    for number, (application, usual) in enumerate(zip(network.applications, names, strict=True), 1):
        transport = specification.transport.model_copy(update={"tcp": (usual,)})
        one, tcp_name = _application(transport, number, application)
        planned.append(one)
        theirs.append(tcp_name)
        if (other := taken.setdefault((one["destination"], one["port"]), one["name"])) != one["name"]:
            raise Misuse(f"{other} and {one['name']} both go to port {one['port']} of {one['destination']}")
    return planned, theirs


def plan_flow(transport: Transport, application: Application) -> tuple[dict[str, Any], dict[str, str]]:
    """Plan a flow that is added to a running network. Return it, and its TCP's sysctls. Raises Misuse."""
    planned, name = _application(transport, 1, application)
    return planned, variables(transport, name) if name else {}


def variables(transport: Transport, name: str) -> dict[str, str]:
    """Return the sysctls of a node at which flows with this TCP end."""
    own = {} if transport.max_reordering is None else {"net.ipv4.tcp_max_reordering": str(transport.max_reordering)}
    return tcp.find(name).sysctl | own


def _application(transport: Transport, number: int, application: Application) -> tuple[dict[str, Any], str]:
    """Return an application of the plan, and its TCP ("" if it has none). Raises Misuse."""
    kind, flow, own = resolve_flow(transport, application)
    has_tcp = "tcp" in used_settings(kind)
    if has_tcp and transport.tcp_like == "ns2" and not tcp.is_classic(flow.tcp):
        there = ", ".join(name for name in tcp.NAMES if tcp.is_classic(name))
        raise Misuse(f"tcp_like ns2: {flow.tcp} recovers from losses as Linux does; choose one of: {there}")
    return {
        "name": f"flow{number}",
        "kind": kind,
        "source": application.source,
        "destination": application.destination,
        "port": flow.port or FIRST_PORT + number - 1,
        "congestion": tcp.find(flow.tcp).congestion if has_tcp else "",
        "mss": flow.mss,
        "send_buffer": None if flow.send_buffer == AUTO else flow.send_buffer,
        "receive_buffer": None if flow.receive_buffer == AUTO else flow.receive_buffer,
        "window_limit": flow.window_limit,
        "tos": flow.tos,
        "start_s": flow.start_s,
        "stop_s": flow.stop_s,
        "bytes": flow.bytes,
        **own,
    }, flow.tcp if has_tcp else ""


def used_settings(kind: str) -> Collection[str]:
    """Return the settings of flows that this kind uses."""
    heeds = find_kind(applications, kind).heeds
    return Flow.model_fields if heeds is None else heeds


def resolve_flow(transport: Transport, application: Application) -> tuple[str, Flow, dict[str, Any]]:
    """Return a flow's kind, its settings with the common defaults, and the settings of its kind. Raises Misuse."""
    what = f"flow {application.source} -> {application.destination}"
    of_all = dict(transport.traffic)
    kind, settings = str(of_all.pop("kind")), dict(application.settings)
    if application.kind is None:
        settings = {**of_all, **settings}
    else:
        kind = application.kind
    found, heeds = find_kind(applications, kind), used_settings(kind)
    settings = {"tcp" if name == "congestion" else name: value for name, value in settings.items()}
    kinds = {name: setting(of) for name, of in found.settings.items()}
    check_names(what, settings, (*heeds, *(name for name in kinds if name not in heeds)))
    own = {name: of.default for name, of in kinds.items() if name not in Flow.model_fields}
    for name in own.keys() & settings.keys():
        with as_misuse(f"{what}: {name}"):
            own[name] = kinds[name].read(settings.pop(name))
    with as_misuse(what):
        ask(found.check, is_a(object), own)
        usual = Flow.usual(transport) | {n: of.default for n, of in kinds.items() if n in Flow.model_fields}
        flow = Flow.model_validate({**usual, **settings})
    unheeded = [name for name in ("window_limit", "bytes") if getattr(flow, name) is not None and name not in heeds]
    if unheeded and "tcp" in heeds:  # other kinds ignore the common settings that are TCP's
        name = unheeded[0]
        raise Misuse(f"{what}: {kind} takes no {name}; for flows of another kind only: --traffic KIND,{name}=…")
    return kind, flow.model_copy(update=dict.fromkeys(unheeded)), own


def set_up_tcp(
    transport: Transport, nodes: Nodes, network: Network, names: list[str]
) -> tuple[list[str], dict[str, str]]:
    """Set the sysctls of each flow's TCP at its two ends. Return the modules needed, and their parameters.

    A node has each variable once, so all its flows must need the same values; a variable that only one of them sets is
    a conflict, too. Raises Misuse.
    """
    first: dict[str, str] = {}  # node -> TCP of its first flow
    parameters: dict[str, str] = {}
    modules = list(dict.fromkeys(module for name in names if name and (module := tcp.find(name).module)))
    for application, name in zip(network.applications, names, strict=True):
        if not name:
            continue
        parameters |= tcp.find(name).module_parameters
        for end in (application.source, application.destination):
            mine, other = variables(transport, name), variables(transport, first.setdefault(end, name))
            if mine != other:
                differ = ", ".join(sorted(key for key in mine | other if mine.get(key) != other.get(key)))
                raise Misuse(
                    f"{name} and {first[end]} cannot both be at {end}, which has these settings only once: {differ}"
                )
            nodes[end]["sysctl"] |= mine
    return modules, parameters


def set_up_queues(specification: Specification, nodes: Nodes, network: Network) -> list[str]:
    """Set the qdiscs of nodes at the ends of flows, and return the modules needed.

    Both ends get the user's qdisc. Receivers get ackthin, which thins their ACKs. Without TCP small queues, both ends
    get a netem; at a sender it is above the other qdisc.
    """
    transport, modules, own = specification.transport, [], dict[str, dict[str, Any]]()
    ends = [(application.source, application.destination) for application in network.applications]
    if transport.qdisc:
        module, _, kind = transport.qdisc.partition(":")
        modules.append(module)
        own |= {end: {"kind": kind} for end in itertools.chain.from_iterable(ends)}
    if not transport.small_queues:
        modules.append(NETEM)
    if transport.ackthin:
        modules.append(THINNING)
        thinned = [destination for _, destination in ends[: transport.thinned_flows]]
        own |= {end: {"kind": "ackthin", **transport.ackthin} for end in thinned}
    if not transport.small_queues:
        senders, below = {source for source, _ in ends}, own
        own = {end: dict(PAST_SMALL_QUEUES) for end in itertools.chain.from_iterable(ends)}
        own |= {end: {**PAST_SMALL_QUEUES, "below": it} if end in senders else it for end, it in below.items()}
    for end, qdisc in own.items():
        nodes[end]["interfaces"][0]["qdisc"] = qdisc
    return modules
