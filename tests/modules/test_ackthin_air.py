# SPDX-License-Identifier: BSD-3-Clause
"""ackthin on a station of a lab: in front of mac80211's queues, with reports from the air."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
from output import MODULE

from emulation.lanes import virtual
from emulation.lanes.virtual import Listener
from emulation.setup import AIR, kernel, modules

pytestmark = pytest.mark.lane
ROOT = Path(__file__).parents[2]
WALL_LIMIT_S = 120


def test_a_station_whose_acks_follow_the_air(lane_kernel: kernel.Kernel, tmp_path: Path) -> None:
    """On a wireless device ackthin is the root queue in front of mac80211's. `dynamic` learns of all failed attempts,
    including those of RTSs; their sum is the air's own."""
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import json
        from emulation.lane import ackthin
        from emulation.net import Adhoc, Net
        from emulation.lane.netlink import parse

        net = Net(rts="full", seed=1, tcp_trace=False)
        stations = [net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in range(1, 6)]
        net.addLink(*stations, cls=Adhoc)
        net.addFlow(stations[0], stations[-1], bytes=200_000)
        with net:
            net.start()
            last = stations[-1]
            last.route.replace_qdisc(last.radio.index, "ackthin", ackthin.pack({"policy": "dynamic"}))
            result = net.run(20)
            statistics = ackthin.statistics(parse(last.route.qdisc(last.radio.index)[7])[4])
            told = last.cmd("iw dev sta5-wlan0 station dump")
            print(json.dumps([statistics, told, result["air"]["stations"][-1]["counters"], result["applications"][0]]))
        print("closed")
        """)
    )
    lines: list[str] = []
    built = modules.obtain(ROOT / "tc_modules", lane_kernel) | modules.obtain(AIR, lane_kernel)
    wanted = {name: built[name] for name in (MODULE, "dcf80211")}
    command = ["script", str(tmp_path / "script.py")]
    listener = Listener(lines.append)
    done = virtual.run(lane_kernel.linux, wanted, tmp_path, command, listener=listener, wall_limit_s=WALL_LIMIT_S)
    assert (done.status, lines[-1]) == (0, "closed")
    statistics, told, air, flow = json.loads(lines[0])
    assert flow["delivered_bytes"] == 200_000
    assert statistics["samples"] > 10
    assert statistics["failures_milli"] > 100
    assert 1 <= statistics["skip"] <= 3
    assert statistics["thinned"] > 0
    left = sum(n for reason, n in statistics["passed"].items() if reason not in ("other", "control"))
    assert left == sum(air["end"]["tcp_ack"].values())
    [(retries, failed)] = re.findall(r"tx retries:\s+(\d+)\s+tx failed:\s+(\d+)", told)
    assert int(retries) + int(failed) == air["retries"]["short"] + air["retries"]["long"]
