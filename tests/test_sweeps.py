# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: what is known is not run again, what fails does not stop the others, and nothing that was found is lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from analysis.result import Run
from emulation.cli.main import cli, refusal
from emulation.cli.options import specification_of
from emulation.cli.sweep import read
from emulation.lanes import Lane, LaneError, LaneResult, Reason
from emulation.play.errors import Failure, Misuse
from emulation.play.lab import Lab
from emulation.play.run import Task
from emulation.play.session import provide
from emulation.play.store import Store, key
from emulation.play.sweep import Done, Failed, Heard, Here, Sweep

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
GRID = """
topology = "string"
seeds = "1..2"
[options]
seconds = 1
trace = false
[grid]
rts = ["full", "none"]
stations = [2, 3]
"""


def task(seed: int = 1, variant: str = "", **options: Any) -> Task:
    return Task(
        specification_of("string", {"stations": 3, "seconds": 1, "trace": False, **options, "seed": seed}), variant
    )


def found(seed: int = 1, made_of: Mapping[str, str] | None = None, **more: Any) -> Run:
    """What a run could have found."""
    none = {"rtscts": 0, "data": 0, "ack": 0}
    return Run.model_validate({
        "seed": seed, "made_of": made_of or {"plan": str(seed)}, "goodput_segments": 5, "goodput_kbps": 1.5,
        "col": {**none, "any": none}, "fail": none, "in_flight": None, "queue_drops": 0, "trace": "a/air.pcapng",
        "trace_sha256": "00", "air_s": 10, "wall_s": 2, "flows": [], "settings": [], "stations": [], "lost_records": 0,
        "refused_frames": 0, "late_ns_max": 0, **more,
    })  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """One whose kernel is never booted."""
    for name in ("linux", "dcf80211.ko", "tcp_tap.ko"):
        (tmp_path / name).write_bytes(name.encode())
    return Lab(tmp_path / "linux", {name: tmp_path / f"{name}.ko" for name in ("dcf80211", "tcp_tap")})


class Elsewhere:
    """A place that plays nothing: a seed of `bad` fails, and after so many it is interrupted."""

    jobs = 2

    def __init__(self, bad: Sequence[int] = (), ends_after: int = 99) -> None:
        self.bad, self.ends_after, self.played = bad, ends_after, list[int]()

    def __call__(self, lab: Lab, tasks: Sequence[Task], store: Store, done: Done, heard: Heard) -> None:
        from emulation.plan import plan

        for index, one in enumerate(tasks):
            if len(self.played) == self.ends_after:
                raise KeyboardInterrupt
            self.played.append(one.seed)
            if one.seed in self.bad:
                done(index, Failed("it rained"))
                continue
            run = found(one.seed, lab.made_of(plan(one.specification)))
            store.put(run)
            done(index, run)


def test_a_result_is_found_by_what_it_is_made_of(tmp_path: Path) -> None:
    """Without its traces, which are not kept; what is made otherwise, or hangs on no seed, is not known."""
    store = Store(tmp_path / "store")
    assert store.get({"plan": "1"}) is None
    store.put(found(1))
    store.put(found(2, repeatable=False))
    assert store.get({"plan": "1"}) == found(1).model_copy(update={"trace": None})
    assert store.get({"plan": "1", "kernel": "other"}) is None
    assert store.get({"plan": "2"}) is None
    assert store.size()[0] == 1


def test_a_damaged_result_is_not_there(tmp_path: Path) -> None:
    """Cut short, or something else."""
    store = Store(tmp_path)
    store.put(found(1))
    [file] = tmp_path.glob("*/*.json.gz")
    whole = file.read_bytes()
    for damaged in (whole[:-9], b"", b"something else", whole[:20] + b"!!!!" + whole[24:]):
        file.write_bytes(damaged)
        assert store.get({"plan": "1"}) is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2, 3):
        store.put(found(seed))
        name = key({"plan": str(seed)})
        os.utime(tmp_path / name[:2] / f"{name[2:]}.json.gz", (seed, seed))
    assert store.get({"plan": "1"})  # used just now
    _, size = store.size()
    assert store.prune(size) == 0
    assert store.prune(size - 1) == 1
    assert [bool(store.get({"plan": str(seed)})) for seed in (1, 2, 3)] == [True, False, True]


def test_a_store_is_made_smaller(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2):
        store.put(found(seed))
    command = ["results", "--store", str(tmp_path)]
    assert "2 results, 0.0 MB: " in CliRunner().invoke(cli, command, prog_name="./dcflab").output
    said = CliRunner().invoke(cli, [*command, "--prune", "0"], prog_name="./dcflab").output
    assert said.startswith("2 results are removed\n0 results, ")


def test_what_runs_took_is_remembered(tmp_path: Path) -> None:
    """By their options, whatever the seed and the duration; else by their size."""
    store, one = Store(tmp_path), task()
    assert store.cost(one) is None
    store.took([(one, found(1))])  # 2 s for 10 s of air
    again = Store(tmp_path)
    assert again.cost(task(7, seconds=100)) == pytest.approx(20)
    assert again.cost(task(rts="full")) == pytest.approx(0.2)
    assert again.cost(task(stations=4)) is None


def test_what_is_known_is_not_run_again(lab: Lab, tmp_path: Path) -> None:
    """Nor is what is made of the same run twice; each has its own name in the end."""
    tasks = [task(1, "a"), task(2, "a"), task(1, "b"), task(1, "c", rts="full")]
    sweep, place = Sweep(lab, tasks, Store(tmp_path / "store")), Elsewhere()
    assert len(sweep.missing) == 3
    sweep.play(place)
    assert place.played == [1, 2, 1]
    assert [(run.variant, run.seed) for _, run in sweep.runs] == [("a", 1), ("a", 2), ("b", 1), ("c", 1)]
    again = Sweep(lab, [*tasks, task(3)], Store(tmp_path / "store"))
    assert [one.seed for one in again.missing] == [3]
    assert [run for _, run in again.runs] == [
        run.model_copy(update={"trace": None}) for _, run in sweep.runs
    ]  # fmt: skip
    other = replace(lab, kernel=tmp_path / "tcp_tap.ko")
    assert len(Sweep(other, tasks, Store(tmp_path / "store")).missing) == 3, "made of another kernel"


def test_what_fails_is_shown_and_tried_again(lab: Lab, tmp_path: Path) -> None:
    sweep = Sweep(lab, [task(seed) for seed in (1, 2, 3)], Store(tmp_path / "store"))
    sweep.play(Elsewhere(bad=[2]))
    assert sweep.failed == {"2": "it rained"}
    assert [run.seed for _, run in sweep.runs] == [1, 3]
    place = Elsewhere()
    sweep.play(place)
    assert (place.played, sweep.failed, sweep.missing) == ([2], {}, [])


def test_nothing_is_lost_when_it_is_stopped(lab: Lab, tmp_path: Path) -> None:
    sweep = Sweep(lab, [task(seed) for seed in range(1, 6)], Store(tmp_path / "store"))
    with pytest.raises(KeyboardInterrupt):
        sweep.play(Elsewhere(ends_after=3))
    assert [one.seed for one in Sweep(lab, sweep.tasks, Store(tmp_path / "store")).missing] == [4, 5]


def test_what_it_may_take_is_known_from_its_like(lab: Lab, tmp_path: Path) -> None:
    """And it says of how many runs that is a guess."""
    store = Store(tmp_path / "store")
    sweep = Sweep(lab, [task(seed, seconds=10) for seed in range(1, 9)], store)
    assert sweep.estimate(2)[1] == 8
    sweep.play(Elsewhere(), most=2)
    assert len(sweep.missing) == 6
    assert sweep.estimate(2) == (pytest.approx(6.0), 0)  # 6 runs of 2 s, two at a time
    assert sweep.estimate(100) == (pytest.approx(2.0), 0)


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "my.toml").write_text(text)
    return tmp_path / "my.toml"


def test_a_file_is_a_study(tmp_path: Path) -> None:
    """The first of its grid are the columns, the others, each with each, the rows."""
    study, seeds = read(written(tmp_path, GRID + "queue = [5, 9]\n"))
    assert (study.name, study.topology, seeds) == ("my", "string", [1, 2])
    assert study.variants == {"rts full": {"rts": "full"}, "rts none": {"rts": "none"}}
    assert list(study.cases.values()) == [{"stations": s, "queue": q} for s in (2, 3) for q in (5, 9)]
    assert study.rows == "stations, queue"


def test_points_are_the_columns(tmp_path: Path) -> None:
    """By their names, or by what they set; and each is run with each row of the grid."""
    points = (
        'show = ["goodput_kbps"]\n'
        + GRID.replace('rts = ["full", "none"]', "")
        + """
[[points]]
name = "SCA"
tcp = "sca"
module-parameters = {"tcp_sca.ca_increase_thresh" = 4}
[[points]]
tcp = "vegas"
"""
    )
    study, _ = read(written(tmp_path, points))
    assert study.variants == {"SCA": {"tcp": "sca", "module_parameters": {"tcp_sca.ca_increase_thresh": 4}},
                              "tcp vegas": {"tcp": "vegas"}}  # fmt: skip
    assert list(study.cases) == ["stations 2", "stations 3"]
    assert study.quantities == {"goodput_kbps": "goodput, kb/s"}


@pytest.mark.parametrize(
    ("wrong", "said", "meant"),
    [
        ("[grid", "my.toml", None), ("", "nothing to vary", None), ("[grid]\nrts = []\n", "rts needs values", None),
        ("[grid]\nrts = [1, 1]\n", "each once", None), ("[[points]]\nrts=1\n[[points]]\nrts=1", "there twice", None),
        ("[gird]\nrts = ['full', 'none']\n", "gird: there are: topology", None),
        ("[grid]\nrts = ['full', 'nne']\n", "rts nne: rts: must be", "none"),
        ("[grid]\nrtss = ['full', 'none']\n", "there is no option 'rtss'", "rts"),
        ("[options]\nstatons = 3\n[grid]\nrts = ['full', 'none']\n", "there is no option 'statons'", "stations"),
        ("[grid]\nstations = [3, 0]\n", "stations 0: stations: must be at least", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_starts(tmp_path: Path, wrong: str, said: str, meant: str | None) -> None:
    """Also of the last point; and what may have been meant."""
    file = written(tmp_path, f'topology = "string"\n{wrong}')
    with pytest.raises(click.UsageError, match=r"my\.toml|rts|stations") as caught:
        cli.main(["sweep", str(file)], prog_name="./dcflab", standalone_mode=False)
    assert said in caught.value.format_message()
    assert refusal(caught.value)[1] == meant


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"none\.toml: No such file"):
        read(tmp_path / "none.toml")
    done = CliRunner().invoke(cli, ["sweep", "xyzzy"], prog_name="./dcflab")
    assert "there is no study 'xyzzy'" in done.output or "xyzzy" in str(done.exception)


@dataclass(frozen=True)
class Moody:
    """The virtual lane, but a run of seed 2 fails, and the process of one of seed 3 is killed."""

    inner: Lane
    name: str = "virtual"

    def run(self, *arguments: Any, seed: int = 1, **more: Any) -> LaneResult:
        if seed == 2:
            raise LaneError(Reason.CRASHED, "it rained", ["its last words"])
        if seed == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.inner.run(*arguments, seed=seed, **more)


@pytest.mark.lane
def test_what_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    """In a lane, and by its process; what is found is in the store, and is what a run by itself finds."""
    well = provide()
    store, tasks = Store(tmp_path / "store"), [task(seed) for seed in (1, 2, 3, 4)]
    sweep = Sweep(replace(well, lane=Moody(well.lane)), tasks, store)
    sweep.play(Here())
    assert sweep.failed.keys() == {"2", "3"}
    assert "it rained" in sweep.failed["2"] and "its last words" in sweep.failed["2"]
    assert "was killed by SIGKILL" in sweep.failed["3"]
    assert [one.seed for one in sweep.missing] == []
    again = Sweep(well, tasks, Store(tmp_path / "store"))
    assert [one.seed for one in again.missing] == [2, 3]
    again.play(Here(1))
    assert len(again.runs) == 4 and not again.failed
    assert all(run.goodput_segments for _, run in again.runs)


@pytest.mark.lane
def test_a_sweep_by_its_command(tmp_path: Path) -> None:
    """It says beforehand what it is, and the second time that there is nothing to do; both leave the same."""
    written(tmp_path, GRID)
    said, results = [], []
    for where in ("one", "two"):
        command = [sys.executable, "-P", "-m", "emulation", "sweep", "my.toml", "--store", "store", "--out", where]
        done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stderr)
        results.append(json.loads((tmp_path / where / "result.json").read_text())["runs"])
        assert "rts none" in done.stdout
    assert "8 to run, 8 s of air" in said[0]
    assert "8 of 8 runs are in the store: nothing to run" in said[1]
    assert results[0] == results[1]
    assert [run["changes"] for run in results[0]][:2] == [{}, {"rts": "none"}]


MOODY = """
from emulation import lanes
from emulation.lanes import LaneError, Reason

class Moody:
    name = "moody"

    def run(self, kernel, modules, run_folder, *arguments, **more):
        if run_folder.name == "stations-3-rts-none-2":
            raise LaneError(Reason.CRASHED, "it rained")
        return lanes.find("virtual").run(kernel, modules, run_folder, *arguments, **more)

LANE = Moody()
"""


@pytest.mark.lane
def test_what_failed_is_filed_and_the_rest_is_shown(tmp_path: Path) -> None:
    """The tables are of the seeds that all have, result.json of all that was found; where it does not rain, the same
    command has the rest."""
    written(tmp_path, GRID)
    (tmp_path / "moody.py").write_text(MOODY)
    command = [sys.executable, "-P", "-m", "emulation", "sweep", "my.toml", "--store", "store", "--out"]
    bad = subprocess.run([*command, "bad", "--lane", "./moody.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True,
                         text=True)  # fmt: skip
    assert bad.returncode == 1
    assert "1 of 8 runs failed: stations-3-rts-none-2: the lane's kernel crashed: it rained" in bad.stderr
    assert "seed 1; 1 s" in bad.stdout
    assert json.loads((tmp_path / "bad/failures.json").read_text()).keys() == {"stations-3-rts-none-2"}
    assert len(json.loads((tmp_path / "bad/result.json").read_text())["runs"]) == 7
    good = subprocess.run([*command, "good"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert "7 of 8 runs are in the store; 1 to run" in good.stderr
    assert not (tmp_path / "good/failures.json").exists()


@contextlib.contextmanager
def program(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Dask's side, as long as the block."""
    command = [sys.executable, "-P", "-m", "emulation", "dask", *arguments]
    with open(log, "wb") as out, subprocess.Popen(command, env=ENVIRONMENT, stderr=out) as running:
        try:
            yield running
        finally:
            running.terminate()


def wait_for(log: Path, word: str) -> str:
    """The rest of the line that has the word, as soon as it is there."""
    while not (lines := [line for line in log.read_text().splitlines(True) if word in line and line.endswith("\n")]):
        time.sleep(0.01)
    return lines[0].partition(word)[2].strip()


@pytest.mark.lane
def test_workers_are_killed(tmp_path: Path) -> None:
    """One of three at once and one that may end in order, in the middle of a sweep: all results are there, and they are
    what this machine finds."""
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
    alone = Sweep(provide(), [Task(specification_of("string", last))], Store(tmp_path / "other"))
    alone.play(Here(1))
    [(_, here)] = alone.runs
    assert next(run for run in there if run["variant"] == "rts none" and run["seed"] == 10)["stations"] == [
        station.model_dump() for station in here.stations
    ]


def test_a_worker_of_another_kernel_refuses(lab: Lab, tmp_path: Path) -> None:
    """Its results would not be what was asked for."""
    from emulation.play.dask import play_for_threads
    from emulation.play.processes import Child, Said

    wanted = {**lab.sha256, "kernel": "another"}
    with Child(lambda parent: play_for_threads(lab, Store(tmp_path), parent), daemon=False) as player:
        player.say((task(), wanted))
        kind, failed = player.listen()
    assert kind is Said.TOLD and isinstance(failed, Failed)
    assert "this worker has another kernel" in failed.why


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from emulation.play import dask

    monkeypatch.setattr(dask, "CONNECT_S", 0.1)
    with pytest.raises(Failure, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        dask.There("tcp://127.0.0.1:1")
