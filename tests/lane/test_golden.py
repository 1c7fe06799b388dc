# SPDX-License-Identifier: BSD-3-Clause
"""Golden traces: the hashes of air.trace for experiments of all kinds, 5 s each, under seed 1.

They depend on the kernel's release, the air's model and what the lane does, and on nothing else: no program of this
machine, such as iperf3, takes part. A change here is a change of behaviour: say why in the commit. `GOLDEN_WRITE=1`
writes them again; do not use it under xdist, which would mix them up.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from lane_bench import Bench

from emulation.setup import Prepared, kernel, prepare, uml

GOLDEN = Path(__file__).with_name("golden.json")
TAKE = "GOLDEN_WRITE=1 ./dcflab test tests/lane/test_golden.py"
EXPERIMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "no RTS": ("string", {}),
    "full": ("string", {"rts": "full"}),
    "partial": ("string", {"rts": "partial"}),
    "two Vegas, 6 hops": ("string", {"stations": 7, "tcp": "vegas", "flows": 2}),
    "NewReno beside Vegas": ("string", {"stations": 3, "tcp": "newreno,vegas", "flows": 2, "rts": "full"}),
    "SACK": ("string", {"tcp": "sack", "rts": "full"}),
    "CUBIC": ("string", {"tcp": "cubic"}),
    "BBR": ("string", {"tcp": "bbr", "stations": 4}),
    "delayed ACKs": ("string", {"ack": "delayed", "rts": "partial"}),
    "DAA and CWL": ("string", {"ackthin": "daa", "tcp": "cwl", "rts": "full"}),
    "every third ACK": ("string", {"ackthin": "skip,skip=2,start=5"}),
    "SCA": ("string", {"tcp": "sca", "module_parameters": "tcp_sca.ca_increase_thresh=4", "rts": "full"}),
    "seed 002's S3": ("string", {"tcp": "dcr", "short_retry": 14, "long_retry": 8, "queue": 20, "spacing": 80,
                                 "propagation": "free-space", "rts": "partial",
                                 "ranges": {"transmission_m": 100, "carrier_sense_m": 100}}),
    "11 Mb/s": ("string", {"rate": 11, "rts": "full"}),
    "54 Mb/s": ("string", {"rate": 54, "rts": "partial", "stations": 4}),
    "minstrel": ("string", {"rate": 11, "rate_control": "minstrel", "spacing": 100, "stations": 3}),
    "bit errors": ("string", {"reception": "sinr", "stations": 4}),
    "discs": ("string", {"propagation": "disc", "spacing": 200, "rts": "full"}),
    "a window of 8": ("string", {"window_limit": 8, "stations": 4}),
    "100 kB": ("string", {"bytes": 100_000, "stations": 3, "tcp_trace": False}),
    "mesh": ("mesh", {"size": "5x5", "flows": 6, "rts": "full"}),
    "standard EIFS": ("mesh", {"size": "3x3", "flows": 2, "eifs": "frame", "snap": 80}),
    "stations that move": ("random", {"stations": 20, "area": "800x300", "flows": 3, "unreachable": True,
                                      "motion": "random_waypoint,vmax=20"}),
    "frequent beacons": ("string", {"freq": 2437, "beacon_tu": 100, "stations": 4}),
}  # fmt: skip
QUICK = ("partial", "BBR", "DAA and CWL", "54 Mb/s", "bit errors", "stations that move")


def release_of(prepared: Prepared) -> str:
    return (prepared.kernel.folder / "include/config/kernel.release").read_text().strip()


def trace_of(bench: Bench, name: str) -> str:
    topology, options = EXPERIMENTS[name]
    bench.plan(topology, seconds=5, **options)
    bench.run("plan")
    return hashlib.sha256((bench.folder / "air.trace").read_bytes()).hexdigest()


def hold(release: str, name: str, found: str, golden: dict[str, dict[str, str]]) -> None:
    """Fail for a kernel of another release, which has no golden traces."""
    if release not in golden:
        same = [known for known, traces in golden.items() if traces[name] == found]
        pytest.fail(
            f"{GOLDEN.name} has no traces of Linux {release}; this one is that of {' and '.join(same) or 'no release'} "
            f"that it has. Do all agree? Then the releases do the same: `{TAKE}` adds this one. If not, find out why "
            "before you add it. Or build the lab's kernel from a release that is there: name its archive in "
            f"$DCFLAB_LINUX_SOURCE. There are: {', '.join(golden)}",
            pytrace=False,
        )
    assert found == golden[release][name]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.quick] if name in QUICK else []) for name in EXPERIMENTS]
)
def test_golden_trace(bench: Bench, name: str) -> None:
    found, release = trace_of(bench, name), release_of(bench.prepared)
    golden = json.loads(GOLDEN.read_text())
    if os.environ.get("GOLDEN_WRITE"):
        golden.setdefault(release, {})[name] = found
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    hold(release, name, found, golden)


def test_a_kernel_without_golden_traces_fails_and_says_what_to_do() -> None:
    golden = {"6.12.1": {"mesh": "a"}, "6.12.2": {"mesh": "b"}}
    hold("6.12.2", "mesh", "b", golden)
    with pytest.raises(AssertionError):
        hold("6.12.2", "mesh", "a", golden)
    for found, said in (("b", "is that of 6.12.2 that"), ("c", "is that of no release that")):
        with pytest.raises(pytest.fail.Exception, match=f"no traces of Linux 6.12.3; this one {said}.*GOLDEN_WRITE=1 "):
            hold("6.12.3", "mesh", found, golden)


@pytest.fixture(scope="session")
def debug_kernel() -> Prepared:
    """The kernel in which modules are checked, without the patches that only save time."""
    return prepare(configuration=kernel.DEBUG)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_patch_for_speed_changes_a_trace(debug_kernel: Prepared, tmp_path: Path, name: str) -> None:
    assert not {*uml.patches(kernel.DEBUG)} & {uml.RECIPE / f"speed/{patch}.patch" for patch in uml.SPEED}
    found = trace_of(Bench(debug_kernel, tmp_path), name)
    hold(release_of(debug_kernel), name, found, json.loads(GOLDEN.read_text()))
