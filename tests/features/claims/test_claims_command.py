# SPDX-License-Identifier: BSD-3-Clause
"""`claims`: its lists, its runs, and misuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import experiments
from emulation.cli.main import cli
from emulation.features.claims.looks import LOOKS

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = [sys.executable, "-P", "-m", "emulation", "claims"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_all_are_listed() -> None:
    """The list has texts; the JSON has all that is known."""
    people = CliRunner().invoke(cli, ["claims"], prog_name="./dcflab").output
    programs = json.loads(CliRunner().invoke(cli, ["claims", "--json"], prog_name="./dcflab").output)
    assert [one["number"] for one in programs] == list(experiments.numbered())
    for one in programs:
        assert f"│ {one['number']} " in people
        assert one["text"] and one["paper"] in ("000", "001", "002", "003", "004")
        assert one["columns"]
        assert all(of["verdict"] != "open" or of["why"] or of["ours"] for of in one["columns"].values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("C99", "there is no claim 'C99'; there are: C1, C2"), ("C1 --all", "leave out the numbers"),
     ("--hours 1", "--hours needs --all"), ("--seeds 1", "--seeds needs the numbers of claims"),
     ("C1 --plan", "--plan is of all claims"), ("C1 --most-seeds 7", "7")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(arguments: str, said: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        cli.main(["claims", *arguments.split()], prog_name="./dcflab", standalone_mode=False)
    assert said in caught.value.format_message()


def claims(here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *arguments, "--store", "store"]
    return subprocess.run(command, cwd=here, env=ENVIRONMENT, capture_output=True, text=True)


@pytest.mark.lane
def test_a_claim_is_tested_at_its_looks(tmp_path: Path) -> None:
    """The command first prints the planned runs, and runs what the checks name. Another claim on the same study reuses
    the results."""
    done = claims(tmp_path, "c1", "--json", "--most-seeds", "12")
    assert done.returncode == 0, done.stderr
    assert "rts-cts: C1: 3 seeds" in done.stderr and "9 runs; 9 to run, 1,080 s of air" in done.stderr
    assert "rts-cts, as published: C1: 3 seeds" in done.stderr
    [one] = json.loads(done.stdout)
    assert {column: of["seeds"] in LOOKS for column, of in one["columns"].items()} == dict.fromkeys(
        one["columns"], True
    )
    assert one["columns"]["today"]["verdict"] == "reproduced in kind"
    assert [of["finding"] for of in one["contrasts"] if of["column"] == "today"] == ["confirmed"] * 2
    again = claims(tmp_path, "C4", "--seeds", "1..2")
    assert again.stderr.count("6 of 6 runs are in the store: nothing to run") == 2
    assert "One look, at the seeds that were given: intervals of 95 %." in again.stdout
    assert "rts-cts, C4b: No >> Full, segments in flight, mean: 1." in again.stdout


@pytest.mark.lane
def test_nothing_is_lost_when_it_is_stopped(tmp_path: Path) -> None:
    """Neither at Ctrl-C nor when the time is up, which is at once here."""
    command = [*PROGRAM, "C1", "--seeds", "1..40", "--jobs", "1", "--store", "store"]
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as running:
        while not (found := len(list(tmp_path.glob("store/*/*.json.gz")))):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert "runs are left; run the same command to continue" in said
    assert len(list(tmp_path.glob("store/*/*.json.gz"))) >= found
    done = claims(tmp_path, "--all", "--hours", "0")
    assert done.returncode == 0 and "the time is up" in done.stderr
