# SPDX-License-Identifier: BSD-3-Clause
"""A stored result hangs on the kernel modules that its run loads, and on no others."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from emulation import features
from emulation.plan import plan
from emulation.play.lab import Lab
from emulation.play.store import key
from emulation.setup import MODULES, ROOT, kernel, modules
from emulation.specification import Specification, specify
from topologies import Link, Network, Node

QUIET = {"tcp_trace": False}
WIRES = Network(nodes={name: Node(kind="host") for name in "ab"}, links=(Link(nodes=("a", "b"), kind="wired"),))
PLANS = {
    "ackthin": specify("string", {**QUIET, "ackthin": "skip"}),
    "dcr": specify("string", {**QUIET, "tcp": "dcr"}),
    "traced": specify("string", {}),
    "plain": specify("string", QUIET),
    "wires": Specification.model_validate({"network": {"own": WIRES, "topology": None}, "measurement": QUIET}),
    **{name: specify("string", {**QUIET, "medium": name}) for name in features.media()},
}


def results(lane: kernel.Kernel, found: Mapping[str, Path]) -> dict[str, str]:
    """Return the names of the plans' results in the store."""
    lab = Lab(lane.linux, found)
    return {name: key(lab.made_of(plan(specification))) for name, specification in PLANS.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "file", "words", "discards"),
    [
        ("tc_modules", "ackthin/flow.c", "MAX_FLOWS 1024/MAX_FLOWS 1025", {"ackthin"}),
        ("tc_modules", "tcp_dcr.c", "delay_percent = 100/delay_percent = 101", {"dcr"}),
        ("tc_modules", "tc/q_ackthin.c", "ackthin/ack_thin", set()),  # of a program
        ("emulation/tcp_tap", "tcp_tap.c", "RECORDS 4096/RECORDS 4095", {"traced"}),
    ],
)
def test_a_changed_module_discards_the_results_of_runs_that_load_it(
    lane_kernel: kernel.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, file: str, words: str,
    discards: set[str],
) -> None:  # fmt: skip
    there = {name: path for each in MODULES for name, path in modules.obtain(each, lane_kernel).items()}
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "cache"))
    copy = shutil.copytree(ROOT / folder, tmp_path / Path(folder).name)
    text = (copy / file).read_text()
    (copy / file).write_text(text.replace(*words.split("/")))
    assert (copy / file).read_text() != text
    before, after = results(lane_kernel, there), results(lane_kernel, there | modules.obtain(copy, lane_kernel))
    assert {name for name in PLANS if before[name] != after[name]} == discards


def test_a_run_without_our_air_does_not_hang_on_its_module(lane_kernel: kernel.Kernel, tmp_path: Path) -> None:
    """Neither a network of wires, nor one of another medium, loads it."""
    there = {name: path for each in MODULES for name, path in modules.obtain(each, lane_kernel).items()}
    other = tmp_path / "dcf80211.ko"
    other.write_bytes(there["dcf80211"].read_bytes() + b"another")
    before, after = results(lane_kernel, there), results(lane_kernel, {**there, "dcf80211": other})
    assert {name for name in PLANS if before[name] != after[name]} == PLANS.keys() - {"wires", *features.media()}
