# SPDX-License-Identifier: BSD-3-Clause
"""Damaged run folders: each reader reports the damage in one message, and ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emulation.lanes import CHECKOUT

DAMAGES = int(os.environ.get("DCFLAB_DAMAGES", "40"))  # of each folder
RUNS = {
    "routed": ["string", "--stations", "3", "--seconds", "1", "--vary", "rts=none,full", "--routing", "aodv",
               "--flows", "2"],
    "told": ["mobile", "--stations", "4", "--area", "300x300", "--seconds", "1", "--routing", "batman_adv"],
    "moved": ["moves.py"],
}  # fmt: skip
MOVES = """
from emulation.net import Net

net = Net(rts="full", edca="standard")
a, b, c = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3))
net.addFlow(a, c, tcp="vegas")
net.addFlow(a, b, kind="voice")
with net:
    net.start()
    net.at(0.2, lambda: setattr(c, "position", (620, 0, 0)))
    net.at(0.3, lambda: setattr(a, "short_retry", 3))
    net.at(0.4, lambda: b.move((420, 0, 0), 20))
    net.run(0.8, name="moved")
"""


@pytest.mark.parametrize("kind", RUNS)
def test_damage_is_reported_in_a_sentence(kind: str, tmp_path: Path) -> None:
    """More of it: DCFLAB_DAMAGES=5000 ./dcflab test tests/lane/test_damaged.py"""
    (tmp_path / "moves.py").write_text(MOVES)
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    program = [sys.executable, "-P", "-m", "emulation", "run", *RUNS[kind], "--out", "run"]
    subprocess.run(program, cwd=tmp_path, env=env, check=True, capture_output=True)
    fuzzer = [sys.executable, Path(__file__).with_name("damage.py"), tmp_path / "run", "1", str(DAMAGES)]
    done = subprocess.run(fuzzer, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
