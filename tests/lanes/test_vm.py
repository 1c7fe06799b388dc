# SPDX-License-Identifier: BSD-3-Clause
"""The lane `vm`: a distribution's kernel in virtual time carries TCP with our modules, as the virtual lane does, and
repeats all of it to the byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from emulation import lanes
from emulation.files.compressed import kept
from emulation.play import traces
from emulation.play.lab import HT_LINUX
from emulation.play.player import play_all
from emulation.play.run import Task
from emulation.play.session import provide
from emulation.setup import stock
from emulation.specification import specify

RELEASES = [stock.release_of(image) for image in stock.installed()]
KERNELS = [release for release in RELEASES if (stock.modules_of(release) / "build").exists()]
SECONDS = 2.0
LATEST_NS = 100_000  # of the air's timers, in the lane's time

pytestmark = [
    pytest.mark.stock,
    pytest.mark.skipif(not KERNELS, reason="no kernel of the distribution with mac80211_hwsim and headers"),
    pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="no qemu-system-x86_64"),
]


@pytest.mark.parametrize("release", KERNELS[-2:])
def test_a_distributions_kernel_carries_tcp_and_does_it_again(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = specify("string", {"stations": 3, "seconds": SECONDS, "rts": "full", "tcp": "sca", "ackthin": "delayed"})
    lab = provide(lane=lanes.with_settings(lanes.find("vm"), {"stock": release}))
    assert lab.release == release
    (run,) = (outcome.run for outcome in play_all(lab, [Task(asked, "once")], tmp_path))
    assert run.repeatable and run.trace_sha256
    if release == KERNELS[-1]:
        monkeypatch.chdir(tmp_path)
        (again,) = (outcome.run for outcome in play_all(lab, [Task(asked, "again")], tmp_path))
        assert again.trace_sha256 == run.trace_sha256
    assert run.flows[0].goodput_segments > 10
    sent, answered = (sum(run.stations[at].counters["end"].get(kind, {}).values())
                      for at, kind in ((0, "tcp_data"), (2, "tcp_ack")))  # fmt: skip
    assert 0 < answered < 0.8 * sent  # thinned
    assert all(station.counters["tx"].get("rts", 0) > 0 for station in run.stations[:2])
    assert run.refused_frames == 0
    assert kept(tmp_path / run.folder / traces.TCP_TRACE).stat().st_size > 0
    lane = json.loads((tmp_path / run.folder / "lane.json").read_text())
    assert lane["applications"][0]["congestion"] == "sca"
    late = lane["air"]["late_ns"]
    assert late["count"] > 100 and late["p50"] <= late["p99"] <= late["max"] == run.late_ns_max < LATEST_NS


@pytest.mark.skipif(not [name for name in KERNELS if name.startswith(HT_LINUX)], reason=f"no Linux {HT_LINUX}")
def test_it_carries_aggregates(tmp_path: Path) -> None:
    asked = specify("string", {"stations": 2, "spacing": 20, "seconds": 0.3, "mode": "n", "streams": 2})
    lab = provide(lane=lanes.with_settings(lanes.find("vm"), {"stock": HT_LINUX}))
    (run,) = (outcome.run for outcome in play_all(lab, [Task(asked, "once")], tmp_path))
    assert run.aggregates and run.aggregates.mpdus > 10 * run.aggregates.block_acks > 0 and run.refused_frames == 0


def test_a_kernel_that_is_not_there_is_named_with_those_that_are() -> None:
    from emulation.lane.errors import Failure

    with pytest.raises(Failure, match=rf"there is no kernel 5\.10 .*{KERNELS[-1]}".replace("+", r"\+")):
        provide(lane=lanes.with_settings(lanes.find("vm"), {"stock": "5.10"}))
