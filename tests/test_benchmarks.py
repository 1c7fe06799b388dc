# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks still work, as far as they need no other simulator; how fast is not a test's business."""

from __future__ import annotations

from pathlib import Path

from benchmarks.compare import build_core, events_per_s


def test_the_cores_benchmark_plays(tmp_path: Path) -> None:
    assert events_per_s(build_core(tmp_path), 5, 1) > 0
