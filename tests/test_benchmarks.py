# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks still work, those with another simulator where it is; how fast is not a test's business."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.compare import build_core, build_peer, events_per_s, output
from benchmarks.mutants import HERE, MISTAKES, mutants


def test_the_cores_benchmark_plays(tmp_path: Path) -> None:
    assert events_per_s(build_core(tmp_path), 5, 1) > 0


@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_the_ns3_peer_is_the_scenario_that_it_claims(tmp_path: Path) -> None:
    """All control frames at 1 Mb/s; and what a queue of 50 loses of a window of 256 is counted."""
    found = json.loads(output(build_peer(tmp_path), "--rts=full", "--seconds=5", "--window=256"))
    assert found["goodput_segments"] > 50
    assert found["rates"] == {"CTL_ACK": [1], "CTL_CTS": [1], "CTL_RTS": [1], "DATA": [2]}
    assert found["queue_drops"] > 0


def test_there_are_mutants_of_each_kind() -> None:
    """More than a hundred, each of them one line that is not as it was."""
    found = list(mutants())
    assert len(found) == len(set(found)) > 100
    assert {mutant.what for mutant in found} >= {what for what, _, _ in MISTAKES} - {"a lock is another"}
    for mutant in found:
        assert mutant.text != (HERE / mutant.file).read_text().splitlines()[mutant.line - 1]
