# SPDX-License-Identifier: BSD-3-Clause
"""Networks beyond a kernel's default limits: hops, open files, memory."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from emulation.lane.net import USABLE_FRACTION
from emulation.lanes import LaneError, Listener, Reason, virtual
from emulation.lanes.virtual import machine
from emulation.plan.memory import MOST_MB


def test_a_packet_goes_over_more_hops_than_the_kernel_s_own_ttl(bench) -> None:  # type: ignore[no-untyped-def]
    bench.plan(stations=66, bytes=14_600, seconds=20)
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["outcome"] == "finished"
    assert flow["delivered_bytes"] == 14_600


def test_a_lane_may_have_more_than_a_thousand_files_open(bench) -> None:  # type: ignore[no-untyped-def]
    bench.plan(stations=230, flows=0, seconds=1)
    bench.run("plan")
    assert bench.result()["ok"]
    assert len(bench.result()["air"]["stations"]) == 230


def test_a_lane_has_the_memory_that_its_network_takes(bench) -> None:  # type: ignore[no-untyped-def]
    made = bench.plan("mobile", stations=120, seconds=1, trace=False)
    bench.run("plan", memory_mb=made["memory"]["lane_mb"])
    assert bench.result()["ok"]


def test_a_lane_with_less_memory_than_its_network_takes_reports_it(bench) -> None:  # type: ignore[no-untyped-def]
    made = bench.plan("mobile", stations=170, seconds=1)
    with pytest.raises(LaneError, match=f"takes {made['memory']['needed_mb']} MB, and its lane has "):
        bench.run("plan")


@pytest.mark.parametrize("traffic", ["bulk", "request,mean_bytes=1e6"])
def test_who_has_no_memory_for_what_is_to_be_sent_waits_for_some(bench, traffic: str) -> None:  # type: ignore[no-untyped-def]
    made = bench.plan("wlan", stations=4, direction="down", rate=54, traffic=traffic, seconds=10, trace=False)
    made["memory"] = {"needed_mb": 1, "lane_mb": 1, "tcp_pages": [100, 100, 100]}
    (bench.folder / "plan.json").write_text(json.dumps(made))
    bench.run("plan")
    assert all(flow["delivered_bytes"] > 100_000 for flow in bench.result()["applications"])
    assert "100 100 100" in [setting["value"] for setting in bench.result()["settings"]]


def test_four_hundred_stations_carry_traffic(bench) -> None:  # type: ignore[no-untyped-def]
    made = bench.plan("mesh", size="20x20", flows=5, seconds=5, trace=False)
    bench.run("plan", memory_mb=made["memory"]["lane_mb"])
    assert len(bench.result()["air"]["stations"]) == 400
    assert all(flow["delivered_bytes"] for flow in bench.result()["applications"])


def test_a_program_that_keeps_time_from_passing_is_named(bench, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(machine, "NEVER_STILL", ("script",))
    monkeypatch.setattr(machine, "CHECK_S", 0.2)
    monkeypatch.setattr(machine, "SET_UP_CHECKS", machine.STILL_CHECKS)
    with pytest.raises(LaneError, match=r"hangs: virtual time has stopped.* python3.* never waits"):
        bench.script("while True: pass")


def test_setting_up_a_large_network_is_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "CHECK_S", 0)
    monkeypatch.setattr(machine, "virtual_time_ns", lambda *_: 5)
    monkeypatch.setattr(machine, "running_program", lambda *_: "python3")
    busy = machine.Machine(tmp_path, Listener(), None, "plan")
    busy.process, busy.program = subprocess.Popen(["true"]), tmp_path
    busy.process.wait()  # it waits for no CPU from now on: its age does not change meanwhile
    for _ in range(2 * machine.STILL_CHECKS):
        busy.check_clock()
    busy.on_report('{"progress": 0.0, "air_s": 0.0}')
    with pytest.raises(LaneError, match="hangs: virtual time has stopped"):
        busy.check_clock()


def test_a_kernel_that_had_no_memory_left_is_no_crash(tmp_path: Path) -> None:
    ended = machine.Machine(tmp_path, Listener(), None, "plan")
    ended.process = subprocess.Popen(["false"])
    ended.process.wait()
    ended.crash = "Kernel panic - not syncing: System is deadlocked on memory"
    with pytest.raises(LaneError, match="no memory left: use fewer stations") as error:
        ended.result()
    assert error.value.reason is Reason.MEMORY


def test_a_machine_without_room_for_a_lane_s_memory_is_no_crash(tmp_path: Path) -> None:
    ended = machine.Machine(tmp_path, Listener(), None, "script")
    ended.process = subprocess.Popen(["false"])
    ended.process.wait()
    ended.crash = "Kernel panic - not syncing: Kernel mode signal 7"
    with pytest.raises(LaneError, match="no memory left: there is no more room for it"):
        ended.result()


def test_a_script_has_the_memory_that_its_kernel_has_room_for(bench) -> None:  # type: ignore[no-untyped-def]
    bench.script("import os; print(os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') >> 20)")
    assert virtual.MOST_MB == MOST_MB
    assert MOST_MB * USABLE_FRACTION <= int(bench.lines[-1]) <= MOST_MB
