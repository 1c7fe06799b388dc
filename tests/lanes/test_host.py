# SPDX-License-Identifier: BSD-3-Clause
"""The lane `host` leaves nothing behind, killed or not, and does not touch other radios. It is tested where root has a
distribution's kernel: in the lane `vm`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from emulation import lanes
from emulation.lane.init import CHECKOUT  # as a lane sees it
from emulation.lanes import Listener
from emulation.plan import plan
from emulation.play.session import provide
from emulation.specification import specify

from .test_vm import KERNELS

INSIDE = Path(__file__).with_name("on_host.py")
NONE: dict[str, list[str]] = {"radios": [], "modules": [], "names": [], "processes": []}
WALL_LIMIT_S = 300.0


@pytest.mark.stock
@pytest.mark.skipif(not KERNELS, reason="no kernel of the distribution with mac80211_hwsim and headers")
@pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="no qemu-system-x86_64")
def test_nothing_outlives_it_and_others_are_left_alone(tmp_path: Path) -> None:
    for name, seconds in (("short", 1.0), ("long", 1000.0)):
        made = plan(specify("string", {"stations": 2, "seconds": seconds}))
        (tmp_path / f"{name}.json").write_text(json.dumps(made))
    lab = provide(lane=lanes.with_settings(lanes.find("vm"), {"stock": KERNELS[-1]}))
    modules = [f"{name}={lab.modules[name]}" for name in ("dcf80211", "tcp_tap")]
    heard: list[str] = []
    command = ["script", str(INSIDE), CHECKOUT, str(lab.kernel), *modules]
    ended = lab.lane.run(lab.kernel, {}, tmp_path, command, wall_limit_s=WALL_LIMIT_S, listener=Listener(heard.append))
    assert ended.status == 0 and not ended.repeatable, "\n".join(heard)
    taken, ran, script, killed, again, refused = (json.loads(line) for line in heard if line.startswith("{"))
    assert [Path(path).name for path in taken["taken"]] == ["dcf80211.ko"]  # what the kernel has is not built again
    assert ran["before"] == ran["after_a_run"] == NONE
    assert ran["result"]["delivered_bytes"] > 0
    assert script == {"status": 0, "finds": ["[True, True]"]}  # also what is in /usr/sbin
    during: dict[str, Any] = killed["during"]
    assert len(during["radios"]) == 2 and during["modules"] == ["dcf80211", "mac80211_hwsim", "tcp_tap"]
    assert not during["names"] and during["processes"]  # names are in its own mount namespace
    assert killed["after_a_kill"] == {**NONE, "modules": during["modules"]} and killed["note"]
    assert again == {"after_the_next": NONE, "note": False}
    assert len(refused["radios"]) == 1
    assert refused["refused"].startswith(f"others use mac80211_hwsim on this machine ({refused['radios'][0]})")


@pytest.mark.skipif(os.geteuid() == 0, reason="only an ordinary user is refused")
def test_it_takes_root() -> None:
    assert lanes.refusal(lanes.find("host")).startswith("--lane host takes root")
