# SPDX-License-Identifier: BSD-3-Clause
"""`module check` as a program: what it finds comes again, and nothing is left of it, also if it is interrupted."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path

import pytest
from command_line import (
    ROOT,
    assert_answered_with_help,
    assert_interrupted,
    assert_nothing_left,
    assert_refused,
    dcflab,
    obeyed,
    processes,
    started,
    wait_for,
)

from emulation.features.check import build, exercise
from emulation.setup import prepare


@pytest.fixture(scope="session")
def debug_kernel() -> None:
    """What lanes and checks need is there, and checkpatch; else the first to start would make it."""
    prepare()
    exercise.debug_kernel()
    build.checkpatch()


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ("module chek", "'chek'"),
        ("module check nowhere", "there is no nowhere"),
        ("module check .", "neither a Kbuild file nor a Makefile is there"),
        ("module check . --against tahoe", "'tahoe'"),
        ("module check . --against newreno", "'newreno' to compare with; there are: bbr"),
        ("module check . --kernels 5.4", "the headers of a kernel 5.4 are not installed"),
        ("module check . --hops 0", "1 to 20 hops"),
        ("module check . --hops 8..3", "1 to 20 hops"),
        ("module check . --hops x", "a whole number of hops"),
        ("module check . --seeds x", "'--seeds'"),
        ("module check . --cycles -1", "'--cycles'"),
        ("module check . --only lunch", "'lunch'"),
        ("module check . --rounds -1", "'--rounds'"),
        ("module check . --only load --skip load", "every stage is skipped"),
        ("module check . --gdb --json", "--gdb"),
        ("module new 3com", "'3com' is not a name in C"),
        ("module new tcp_a_name_that_is_long", "'a_name_that_is_long' is too long"),
        ("module new cubic", "the congestion control 'cubic' exists"),
        ("module new tcp", "'tcp' has another meaning"),
        ("module new mine --kind filter", "'filter'"),
    ],
)
def test_misuse_is_refused(here: Path, arguments: str, culprit: str) -> None:
    assert_refused(obeyed(here, *arguments.split()), culprit)
    assert list(here.iterdir()) == []


def test_nothing_said_is_answered_with_help(here: Path) -> None:
    assert_answered_with_help(obeyed(here, "module"))


@pytest.mark.lane
@pytest.mark.usefixtures("debug_kernel")
@pytest.mark.parametrize("when", ["build", "workout", "compare"])
def test_an_interrupted_check_leaves_nothing(here: Path, when: str) -> None:
    """Interrupted while compilers run, or lanes of the debug kernel, or lanes side by side."""
    assert dcflab(here, "module", "new", "mine").returncode == 0
    begun = {"build": "tmp/.dcflab-check-*/*/build.log", "workout": "here/run/workout-*/console.log",
             "compare": "here/run/compare-*/3-*/console.log"}  # fmt: skip
    only = ["--only", when] if when != "build" else []
    with started(here, "module", "check", "mine", *only) as check:
        wait_for(lambda: list(here.parent.glob(begun[when])), limit_s=120)
        check.send_signal(signal.SIGINT)
        out, err = check.communicate(timeout=60)
    *stages, last = err.splitlines(keepends=True)
    assert any(line.startswith("dcflab: building against ") for line in stages)  # on a new machine it says more before
    assert_interrupted(check.returncode, out, last)
    assert_nothing_left(here)
    wait_for(lambda: not processes(here, here.parent / "tmp"))


@pytest.mark.lane
@pytest.mark.usefixtures("debug_kernel")
def test_a_new_module_passes_its_check(here: Path) -> None:
    assert dcflab(here, "module", "new", "mine").returncode == 0
    few = ["--seeds", "1", "--cycles", "20", "--hops", "3", "--strict", "--skip", "smp"]
    done = dcflab(here, "module", "check", "mine", *few, "--json", "--out", "run", limit_s=300)
    assert done.returncode == 0, done.stdout
    stages = dict.fromkeys(line.split()[1] for line in done.stderr.splitlines())  # on a busy machine they say how far
    assert list(stages) == ["building", "putting", "comparing"]
    report = json.loads(done.stdout)
    assert [stage["stage"] for stage in report["stages"]] == ["build", "load", "workout", "cycles", "compare"]
    assert report["clean"]
    assert report["stages"][2]["data"]["cycles"] == 20
    assert all(stage["seconds"] is not None for stage in report["stages"])
    assert {"report.json", "report.md", "curves.png"} < {file.name for file in (here / "run").iterdir()}
    assert_nothing_left(here)


@pytest.mark.lane
@pytest.mark.usefixtures("debug_kernel")
def test_what_a_check_finds_comes_again(here: Path) -> None:
    """By the command that it tells, also in the file for a CI."""
    broken = str(ROOT / "tests/features/check/broken/use_after_free")
    few = "--seeds", "2,3", "--cycles", "20", "--rounds", "6", "--kernels", "none"
    options = *few, "--skip", "smp", "--json", "--out", "run", "--junit", "report.xml"
    done = dcflab(here, "module", "check", broken, *options, limit_s=300)
    assert done.returncode == 1
    stages = {stage["stage"]: stage for stage in json.loads(done.stdout)["stages"]}
    assert (stages["build"]["findings"], stages["compare"]["seconds"]) == ([], None)
    finding = next(each for each in stages["workout"]["findings"] if each["name"] == "use after free")
    assert finding["seed"] == 2
    assert f"again: {finding['again']}" in (here / "report.xml").read_text()
    words = shlex.split(finding["again"])
    assert words[:3] == ["./dcflab", "module", "check"]
    again = dcflab(here, *words[1:], "--json", limit_s=300)
    assert again.returncode == 1
    (workout,) = json.loads(again.stdout)["stages"]
    assert finding["text"] in [each["text"] for each in workout["findings"]]
    assert_nothing_left(here)
