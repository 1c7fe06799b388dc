# SPDX-License-Identifier: BSD-3-Clause
"""A started network that is played step by step (`emulation.lane.stage`), by a script or its user."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from emulation import plan
from emulation.lane.errors import Misuse
from emulation.lane.measurement import Measurement
from emulation.lane.routing import static
from emulation.lane.stage import Stage
from emulation.plan.checks import as_misuse
from emulation.specification import specify
from traffic.loop import Loop

if TYPE_CHECKING:
    from emulation.net import Net

LIVE = "live"  # the name of such a run


@contextlib.contextmanager
def play(net: Net) -> Iterator[Stage]:
    """Run the network's flows while time passes as the stage's caller requests.

    What happens is kept like a run, if time has passed. Raises Misuse.
    """
    if not net.started:
        raise Misuse("play: the network has not started: net.start()")
    with net.run_folder(LIVE, True) as keep:
        with Loop() as loop, Measurement(net, loop) as measurement:
            measurement.start()
            net.began_ns = measurement.started_ns
            net.begin(loop)
            with contextlib.closing(Stage(net, measurement)) as stage:
                yield stage
                measurement.stop()
                net.presence.loop = None
                flows, reports = stage.finish()
        result = measurement.result(reports)
        if result["air_s"]:
            keep(result, result["air_s"], applications=flows)


def reroute(net: Net) -> dict[str, dict[str, str]]:
    """Recompute static routes for the nodes' current positions, and return each node's next hops, by addresses.

    Nodes probe for new neighbours. Raises Misuse or OSError.
    """
    if not isinstance(net.routing, static.Routing):
        raise Misuse(f"routing {net.plan['routing']['kind']} finds its routes by itself")
    if any(len(node.interfaces) != 1 for node in net.nodes.values()):
        raise Misuse("routes can be recomputed only where each node has one interface")
    network = net.network()
    nodes = {
        name: node.model_copy(update={"position": net.nodes[name].position}) for name, node in network.nodes.items()
    }
    here = network.model_copy(update={"nodes": nodes, "motion": {}, "presence": {}})
    with as_misuse("routing"):
        planned = plan.plan(specify(here, {**net.options, "motion": None, "unreachable": True}))
    for made in planned["nodes"]:
        node = net.nodes[made["name"]]
        net.routing.replace(node, made["routing"]["routes"], made["interfaces"][0]["neighbours"])
        own: Any = node.interfaces[0]
        net.link_of(own).greet(own)
    return {made["name"]: static.next_hops(made) for made in planned["nodes"]}
