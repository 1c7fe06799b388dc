# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps on the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_up import ENVIRONMENT, GRID, task, written

from emulation.features.sweeps.file import read
from emulation.features.sweeps.sweep import Failed, LocalProcesses, Sweep
from emulation.lane.errors import Failure
from emulation.play.lab import Lab
from emulation.play.run import Task
from emulation.play.session import provide
from emulation.play.store import Store
from emulation.play.tasks import specification_for


@contextlib.contextmanager
def program(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of Dask during the block."""
    command = [sys.executable, "-P", "-m", "emulation", "dask", *arguments]
    with open(log, "wb") as out, subprocess.Popen(command, env=ENVIRONMENT, stderr=out) as running:
        try:
            yield running
        finally:
            running.terminate()


def wait_for(log: Path, word: str) -> str:
    """Return the rest of the first line that has the word."""
    while not (lines := [line for line in log.read_text().splitlines(True) if word in line and line.endswith("\n")]):
        time.sleep(0.01)
    return lines[0].partition(word)[2].strip()


@pytest.mark.lane
def test_workers_are_killed(tmp_path: Path) -> None:
    """One is killed, and one may end in order, in the middle of a sweep: all results are there, and equal this
    machine's."""
    store = tmp_path / "store"
    written(tmp_path, GRID.replace("1..2", "1..10").replace("stations = [2, 3]", "queue = [9]"))
    with contextlib.ExitStack() as stack:
        stack.enter_context(program(tmp_path / "scheduler.log", "scheduler", "--port", "0"))
        address = wait_for(tmp_path / "scheduler.log", "the scheduler is at ")
        logs = [tmp_path / f"{name}.log" for name in "abc"]
        workers = [stack.enter_context(program(log, "worker", address, "--jobs", "1")) for log in logs]
        for log in logs:
            wait_for(log, " plays ")
        options = ["--dask", address, "--store", str(store), "--out", "out"]
        command = [sys.executable, "-P", "-m", "emulation", "sweep", "my.toml", *options]
        sweep = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)  # fmt: skip
        while len(list(store.glob("*/*.json.gz"))) < 3 and sweep.poll() is None:
            time.sleep(0.01)
        workers[0].kill()
        workers[1].terminate()
        assert workers[1].wait() == 130
        _, said = sweep.communicate()
        assert sweep.returncode == 0, said.decode()
    there = json.loads((tmp_path / "out/result.json").read_text())["runs"]
    assert sorted((run["variant"], run["seed"]) for run in there) == [
        (f"rts {rts}", seed) for rts in ("full", "none") for seed in range(1, 11)
    ]
    study, _ = read(tmp_path / "my.toml")
    last = {**study.options, **study.cases["queue 9"], "rts": "none", "seed": 10}
    alone = Sweep(provide(), [Task(specification_for("string", last))], Store(tmp_path / "other"))
    alone.play(LocalProcesses(1))
    [(_, here)] = alone.runs
    assert next(run for run in there if run["variant"] == "rts none" and run["seed"] == 10)["stations"] == [
        station.model_dump() for station in here.stations
    ]


def test_a_worker_of_another_kernel_refuses(lab: Lab, tmp_path: Path) -> None:
    """Its results would be those of another kernel."""
    from emulation.features.sweeps.workers import serve_threads
    from emulation.play.processes import Child, Message

    wanted = {**lab.sha256, "kernel": "another"}
    with Child(lambda parent: serve_threads(lab, Store(tmp_path), parent), daemon=False) as player:
        player.send((task(), wanted))
        kind, failed = player.receive()
    assert kind is Message.PROGRESS and isinstance(failed, Failed)
    assert "this worker has another kernel" in failed.why


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from emulation.features.sweeps import workers as dask

    monkeypatch.setattr(dask, "CONNECT_S", 0.1)
    with pytest.raises(Failure, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        dask.DaskWorkers("tcp://127.0.0.1:1")
