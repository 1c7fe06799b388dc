# SPDX-License-Identifier: BSD-3-Clause
"""Plans: all numbers that a lane needs, computed from a specification (docs/interfaces.md, section 1).

`plan` is a pure function: it uses no clock and no randomness, and reads no files but plug-ins. All decisions are made
here, and the lane only carries them out.
"""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emulation import features
from emulation.lane import recorders
from emulation.lane.errors import Misuse
from emulation.lane.plugin_folders import extend
from emulation.plan.air import basic_rates, owners_of, plan_air, reached, received_powers
from emulation.plan.applications import plan_applications, set_up_queues, set_up_tcp
from emulation.plan.checks import find_kind
from emulation.plan.memory import plan_memory
from emulation.plan.motion import plan_motion, plan_presence
from emulation.plan.nodes import plan_links, plan_nodes, recorders_of
from emulation.plan.routes import plan_routing
from emulation.specification import Specification, explain
from emulation.specification.medium import OURS
from topologies.files import own_mistakes

__all__ = ["Misuse", "plan"]

AIR_TRACE, TCP_TAP = "air_trace", "tcp_tap"  # recorders; tcp_tap is also a kernel module


def plan(specification: Specification) -> dict[str, Any]:
    """Return the plan of a specification, as plain JSON. Raises Misuse if it cannot be planned."""
    plugins = [str(Path(folder).resolve()) for folder in specification.kernel.plugins]
    extend(plugins)
    with contextlib.ExitStack() as stack:
        for folder in plugins:
            stack.enter_context(own_mistakes(Path(folder), Misuse))
        return _plan(specification, plugins)


def _plan(specification: Specification, plugins: Sequence[str]) -> dict[str, Any]:
    measurement, kernel = specification.measurement, specification.kernel
    try:
        network = specification.made()
    except ValueError as error:
        raise Misuse(f"motion: {'; '.join(explain(error))}") from error
    aired = network.on_air()
    standing = received_powers(specification, aired)
    links = plan_links(specification, network, basic_rates(specification.radio))
    nodes = plan_nodes(specification, network, links)
    by_name = {node["name"]: node for node in nodes}
    applications, tcp = plan_applications(specification, network)
    tcp_modules, parameters = set_up_tcp(specification.transport, by_name, network, tcp)
    received = reached(specification, aired, standing.power_mdbm)
    for node in nodes:
        node["sysctl"] |= kernel.sysctl
    found, ways = plan_routing(specification, network, links, nodes, received)
    owners = owners_of(nodes)
    air = plan_air(specification, links, standing.between_radios(owners), found)
    moving = plan_motion(specification, aired, standing, owners)
    other = None
    if specification.medium.medium != OURS:
        medium = features.medium(specification.medium.medium)
        other = medium.plan_medium(specification, air, links, nodes, moving is not None)
    memory = plan_memory(nodes, links, received, moving is not None, applications)
    modules = [*kernel.load, *getattr(found, "MODULES", ()), *tcp_modules]  # modules that others need come first
    modules += set_up_queues(specification, by_name, network)
    modules = list(dict.fromkeys([TCP_TAP] * measurement.tcp_trace + modules))
    recording = [AIR_TRACE] * measurement.trace + [TCP_TAP] * measurement.tcp_trace + list(measurement.recorders)
    recording += [*getattr(found, "RECORDERS", ()), *recorders_of(links)]
    return {
        "version": 6,
        "name": Path(specification.network.topology or "script").stem,
        "seed": measurement.seed,
        "seconds": measurement.seconds,
        "sample_s": measurement.sample_s,
        "air": air,
        "links": links,
        "nodes": nodes,
        "routing": ways,
        "applications": applications,
        "motion": moving,
        "presence": plan_presence(network, applications, measurement.seconds),
        "recorders": [{"kind": kind} for kind in recording if find_kind(recorders, kind)],
        "modules": modules + _modules_of(kernel.module_parameters, modules),
        "module_parameters": parameters | kernel.module_parameters,
        "plugins": plugins,
        **({"medium": other} if other else {}),
        **({"memory": memory} if memory else {}),
    }


def _modules_of(parameters: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Return the modules that these parameters belong to, except those that are known."""
    named = dict.fromkeys(name.partition(".")[0] for name in parameters)
    return [name for name in named if name not in known]
