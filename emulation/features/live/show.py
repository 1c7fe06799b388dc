# SPDX-License-Identifier: BSD-3-Clause
"""What the page gets once, as it does not change, and how far a node is received."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from emulation.features.live.pace import FASTEST, SLOWEST
from emulation.net.station import FIXED
from emulation.plan.air import GAIN, phy_of
from emulation.plan.distance import reach_mm2
from emulation.plan.nodes import RTS_THRESHOLDS
from emulation.specification import Specification
from emulation.specification.propagation import Floats
from emulation.specification.radio import RATES
from traffic import tcp


def radios(plan: Mapping[str, Any]) -> list[str]:
    """Return the name of the node of each of the air's stations, in order."""
    return [node["name"] for node in plan["nodes"] for one in node["interfaces"] if one["kind"] == "radio"]


def network(
    title: str, specification: Specification, plan: Mapping[str, Any], routings: Sequence[str]
) -> dict[str, Any]:
    """Return the event `network` (docs/live.md)."""
    air, on_air = plan["air"], set(radios(plan))
    nodes = [
        {"name": node["name"], "kind": node["kind"], "position": node["position"], "radio": node["name"] in on_air}
        for node in plan["nodes"]
    ]
    thresholds = {name: air[f"{which}_threshold_mdbm"] / 1000 for name, which in (
        ("rx_threshold_dbm", "rx"), ("cs_threshold_dbm", "cs"))}  # fmt: skip
    return {
        "event": "network", "title": title, "nodes": nodes, "slot_ns": air["slot_ns"], "sifs_ns": air["sifs_ns"],
        "propagation": {"model": specification.medium.propagation.name, **thresholds},
        "choices": {
            "rts": list(RTS_THRESHOLDS), "rate": rates(specification), "tcp": sorted(tcp.NAMES),
            "routing": routings,
        },
        "pace_least": SLOWEST, "pace_most": FASTEST,
    }  # fmt: skip


def rates(specification: Specification) -> list[float]:
    """Return the rates that nodes can have; none if the kernel chooses the rate."""
    radio = specification.radio
    if radio.rate_control != FIXED:
        return []
    return [rate for rate in RATES if phy_of(radio.model_copy(update={"rate": rate})) == phy_of(radio)]


def ranges(specification: Specification) -> Any:
    """Return a function of a node's power and settings: how far usual nodes receive and sense it, in metres.

    None if the distance alone does not determine it.
    """
    model, thresholds = specification.medium.propagation, specification.medium.effective_thresholds()
    usual = getattr(model, "tx_power_dbm", None)

    @cache
    def of(tx_power_dbm: float | None, gain_dbi: float) -> tuple[float | None, float | None]:
        if not model.by_distance:
            return None, None
        stronger = (tx_power_dbm - usual if tx_power_dbm is not None and usual is not None else 0.0) + gain_dbi

        def received(metres: Floats) -> Floats:
            return np.asarray(model.received_dbm(metres) + stronger)

        def reach_m(dbm: float | None) -> float:
            assert dbm is not None
            return round(math.sqrt(reach_mm2(received, dbm)) / 1000, 1)

        return reach_m(thresholds.receive_dbm), reach_m(thresholds.sense_dbm)

    return lambda power, settings: of(power, float(settings.get(GAIN, 0.0)))
