# SPDX-License-Identifier: BSD-3-Clause
"""Played studies and topologies: continued, interrupted, drawn, and their output."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from command_line import PROGRAM, ROOT, ran

import emulation.plan
from analysis.load import load
from analysis.pages.packed import unpack
from analysis.results.result import Result
from emulation.cli.main import cli
from emulation.specification import Specification

STUDY = "run", "rts-cts", "--stations", "3"  # the smallest


def finished(here: Path) -> dict[str, int]:
    """Return when each run of the folder was finished."""
    return {file.parent.name: file.stat().st_mtime_ns for file in (here / "run").glob("*/run.json")}


@pytest.mark.slow
@pytest.mark.lane
def test_a_study_is_continued(tmp_path: Path) -> None:
    """Finished runs are reused; others, or with another plan, run again. The result is that of one run."""
    ran(tmp_path, *STUDY, "--seconds", "1", "--out", "run")
    result, before = Result.model_validate_json((tmp_path / "run/result.json").read_text()), finished(tmp_path)
    assert sorted(before) == ["full-1", "none-1", "partial-1"]
    assert not [*(tmp_path / "run").glob("*.png")]  # the report's page draws
    (tmp_path / "run/full-1/run.json").unlink()
    (tmp_path / "run/none-1/plan.json").write_text("{}")
    ran(tmp_path, *STUDY, "--seconds", "1", "--resume", "run")
    again, after = Result.model_validate_json((tmp_path / "run/result.json").read_text()), finished(tmp_path)
    assert [name for name in before if after[name] == before[name]] == ["partial-1"]
    assert again.comparable() == result.comparable()
    ran(tmp_path, *STUDY, "--seconds", "2", "--resume", "run")
    assert not [name for name in after if finished(tmp_path)[name] == after[name]]


@pytest.mark.lane
@pytest.mark.parametrize(
    ("words", "tasks"), [("string --stations 3 --seeds 1,2", 2), ("rts-cts --stations 3 --variant *l --seeds 3", 2),
                         ("string --stations 3 --vary rts=none,full --jobs 1 --seeds 1..2", 4)],
)  # fmt: skip
def test_each_task_is_planned_once(words: str, tasks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, or in the one that plays it."""
    calls, make = tmp_path / "calls", emulation.plan._plan

    def counted(specification: Specification, plugins: Sequence[str]) -> dict[str, Any]:
        with calls.open("a") as said:
            said.write(f"{specification.radio.rts} {specification.measurement.seed}\n")
        return make(specification, plugins)

    monkeypatch.setattr(emulation.plan, "_plan", counted)
    done = CliRunner().invoke(cli, ["run", *words.split(), "--seconds", "1", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "run").glob("*/plan.json"))) == tasks
    planned = calls.read_text().splitlines()
    assert len(planned) == len(set(planned)) == tasks


@pytest.mark.lane
def test_a_topology_says_what_it_is_of_and_draws_it(tmp_path: Path) -> None:
    """Seeds, duration and options stand above the table, flows below. Figures have windows, segments in flight, and
    flows."""
    options = "--stations 3 --seconds 2 --flows 2 --seeds 1,2 --full --figure-format svg --figure-format png --out run"
    done = ran(tmp_path, "run", "string", *options.split())
    title, said, *_ = (line.strip() for line in done.stdout.splitlines())
    assert (title, said) == ("string", "seeds 1..2, mean ± 95 % confidence; 2 s; --stations 3 --flows 2")
    assert [line.split("│")[5].strip() for line in done.stdout.splitlines() if "│ flow" in line] == ["2", "2"]
    assert "TCP retransmissions" in done.stdout
    drawn = {file.name for file in (tmp_path / "run").iterdir() if file.is_file()}
    names = "collisions", "flows", "goodput", "in-flight", "tcp"
    assert drawn == {f"{name}.{form}" for name in names for form in ("svg", "png")} | {"result.json", "report.html"}
    head, _ = unpack((tmp_path / "run/report.html").read_text())
    assert head["said"] == said and head["command"].endswith("--figure-format svg --figure-format png")
    assert head["tables"][0]["rows"][0][1] in done.stdout
    for name, words in (("tcp", "seed 1; 2 s; --stations 3 --flows 2"), ("in-flight", "seeds 1..2, mean")):
        assert words in (tmp_path / f"run/{name}.svg").read_text()


@pytest.mark.lane
def test_what_is_encrypted_is_not_known_to_be_in_flight(tmp_path: Path) -> None:
    """Neither in the result, nor in a figure, nor in a reused run."""
    options = "--stations", "1", "--security", "wpa2", "--passphrase", "correct horse", "--seconds", "1"
    for where in ("--out", "--resume"):
        done = ran(tmp_path, "run", "wlan", *options, where, "run")
        assert "--passphrase 'correct horse'" in done.stdout
        assert not (tmp_path / "run/in-flight.png").exists()
    [kept] = load(tmp_path / "run").runs
    assert kept.result.in_flight is None and kept.result.flows[0].goodput_kbps > 0
    with pytest.raises(ValueError, match="encrypted"):
        _ = kept.flight


@pytest.mark.quick
@pytest.mark.lane
def test_an_interrupted_study_says_how_to_continue(tmp_path: Path) -> None:
    """With the options of its start."""
    command = [*PROGRAM, *STUDY, "--seconds", "20000", "--out", "run", "--seeds", "1,2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as study:
        while not (tmp_path / "run/full-1/air.trace").exists():
            assert study.poll() is None
            time.sleep(0.01)
        study.send_signal(signal.SIGINT)
        _, said = study.communicate()
    given = "run rts-cts --stations 3 --seconds 20000 --seeds 1,2"
    assert [line for line in said.splitlines() if line] == [
        f"to continue: ./dcflab {given} --resume run",
        "dcflab: interrupted",
    ]
