# SPDX-License-Identifier: BSD-3-Clause
"""manet.ko at work in the debug kernel: routing over stations that move, under KASAN, lockdep and kmemleak."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emulation.features.check import exercise, splats
from emulation.lanes import virtual
from emulation.plan import plan
from emulation.setup import Prepared
from emulation.specification import specify

NETWORK = {"stations": 12, "area": "700x300", "vmax": 20, "flows": 3, "seconds": 15, "seed": 3}
PROTOCOLS = ("aodv", "dsr", "dsr,feedback=0", "olsr,feedback=1,tell=1", "dsdv,feedback=1", "aodv,tell=1")


@pytest.fixture(scope="module")
def debug() -> Prepared:
    return exercise.debug_kernel()


@pytest.mark.lane
@pytest.mark.parametrize("routing", PROTOCOLS)
def test_nothing_is_found_while_routes_come_and_go(debug: Prepared, tmp_path: Path, routing: str) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(plan(specify("mobile", {**NETWORK, "routing": routing}))))
    done = virtual.run(debug.kernel.linux, debug.modules, tmp_path, ("plan",), wall_limit_s=300)
    assert done.status == 0
    nodes = json.loads((tmp_path / "lane.json").read_text())["recorders"]["manet_trace"]["nodes"].values()
    assert sum(node["delivered"] for node in nodes) > 100
    assert splats.find((tmp_path / "console.log").read_text().splitlines()) == []
