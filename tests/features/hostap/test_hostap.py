# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab hostap`, with a small tree of tests of our own that has the interface of hostap's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emulation.features.hostap.play import results_of
from emulation.features.hostap.source import Source
from emulation.lane import programs
from emulation.lane.errors import Misuse
from emulation.lanes import CHECKOUT

if TYPE_CHECKING:
    from emulation.setup import Prepared

TREE = Path(__file__).parent / "source"
RADIOS = ["joins", "listens", "listens_while_joined", "is_rejected", "two_networks", "switches_channel",
          "sends_keys_after_other_data", "has_programs", "changes_type"]  # fmt: skip
needs_daemons = pytest.mark.skipif(
    not (programs.path_of("hostapd") and programs.path_of("wpa_supplicant")), reason="needs hostapd and wpa_supplicant"
)


def hostap(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "emulation", "hostap", *words]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})


def play(at: Path, *words: str) -> tuple[int, dict[str, Any]]:
    ran = hostap("--source", str(TREE), "--json", "--out", str(at / "run"), *words)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.returncode, json.loads(ran.stdout)


@needs_daemons
def test_tests_are_played_on_the_air(prepared: Prepared, tmp_path: Path) -> None:
    """Those that our radios must pass; and the results of others, with their reasons. A test that ends the runner has
    failed, and the next one is played."""
    status, found = play(tmp_path)
    results = {test["name"]: (test["result"], test["why"]) for test in found["tests"]}
    assert {name: results[name] for name in RADIOS} == dict.fromkeys(RADIOS, ("passed", ""))
    assert results["needs_more"] == ("skipped", "there is no moon")
    assert results["is_wrong"] == ("failed", "two is not three")
    assert results["ends_the_runner"][0] == "failed" and results["after_it"] == ("passed", "")
    assert (found["passed"], found["failed"], found["skipped"], status) == (10, 2, 1, 1)
    assert all(test["seconds"] < 10 for test in found["tests"] if test["result"] == "passed")  # of the lane's time


@needs_daemons
@pytest.mark.parametrize("medium", ["hwsim", "wmediumd-compat"])
def test_tests_are_played_on_other_media(medium: str, prepared: Prepared, tmp_path: Path) -> None:
    status, found = play(tmp_path, "--medium", medium, "joins")
    assert (status, found["medium"], found["passed"]) == (0, medium, 1)


def test_tests_are_named_by_name_pattern_and_file() -> None:
    tree = Source(TREE)
    assert tree.select(["joins", "after*"]) == {"test_ends.py": ["after_it"], "test_radios.py": ["joins"]}
    assert tree.select(["test_ends.py"]) == {"test_ends.py": ["ends_the_runner", "after_it"]}
    assert tree.select(["test_joins"]) == {"test_radios.py": ["joins"]}
    assert {*tree.select([])} == {"test_ends.py", "test_radios.py"}
    assert not tree.built
    with pytest.raises(Misuse, match="there is no test other"):
        tree.select(["other"])


def test_the_output_of_a_runner_that_ended_early_has_a_result_for_the_test_that_began(tmp_path: Path) -> None:
    lines = ["START a 1/3", "PASS a 1.5 2026", "START b 2/3", "Segmentation fault"]
    a, b = results_of(lines, ["a", "b", "c"], "test_x.py", tmp_path, "the runner ended")
    assert (a.result, a.seconds, b.result, b.why) == ("passed", 1.5, "failed", "the runner ended: Segmentation fault")
    (only,) = results_of([], ["a", "b"], "test_x.py", tmp_path, "the runner ended")
    assert (only.name, only.result) == ("a", "failed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--source", str(TREE), "moon"], "there is no test moon"),
        (["--source", str(TREE.parent)], "give the root of hostap's sources"),
        (["--source", str(TREE), "--medium", "hwsim", "--mode", "n"], "--mode is for --medium air"),
        (["--source", str(TREE), "--wmediumd", "/x"], "--wmediumd is for --medium wmediumd"),
        ([], "Missing option '--source'"),
    ],
)
def test_misuse_is_refused(words: list[str], message: str) -> None:
    ran = hostap(*words)
    assert ran.returncode == 2 and message in ran.stderr and "Traceback" not in ran.stderr
