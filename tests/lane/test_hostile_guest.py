# SPDX-License-Identifier: BSD-3-Clause
"""A guest changes all files that it can write, in a thousand ways. Nothing outside changes, none of its code runs on
the host, and each attack ends in a message. `DCFLAB_HOSTILE=100000` tries that many ways."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hostile import Kept, Lane, Ways, prey, snapshot, watched
from rooms import needs

import analysis.growing
from analysis.growing import GrowingTrace
from analysis.results.result import Script
from emulation.files import tree
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import LaneError, LaneResult, Listener, virtual
from emulation.lanes.virtual import ownership
from emulation.lanes.virtual.machine import Machine
from emulation.lanes.virtual.ownership import lent_to_lane
from emulation.lanes.virtual.scratch import scratch
from emulation.plan import plan
from emulation.play.lab import Lab
from emulation.play.player import play
from emulation.play.run import Task
from emulation.play.script import play_script
from emulation.setup import Prepared
from emulation.specification import specify

ROOT = os.geteuid() == 0
WAYS = int(os.environ.get("DCFLAB_HOSTILE", "1000"))
FIRST = int(os.environ.get("DCFLAB_HOSTILE_FIRST", "0"))  # to see these again
SAID = (LaneError, Failure, Misuse, OSError)  # errors that the command line prints as a message
TASK = Task(specify("string", {"stations": 2, "seconds": 0.2, "seed": 1}), "one")
SCRIPT = """
from emulation.net import Net
net = Net(rts="full", seconds=0.2)
a, b = (net.addStation(name, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 200)))
net.addFlow(a, b)
with net:
    net.start()
    net.run(0.2)
"""
Host = Callable[[Path], object]  # the host's side, in a folder


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use separate notes of lent folders, and read traces often."""
    monkeypatch.setattr(ownership, "NOTES", tmp_path / "notes")
    monkeypatch.setattr(analysis.growing, "GrowingTrace", partial(GrowingTrace, part=1))


@pytest.fixture
def at() -> Iterator[Path]:
    """A folder in memory if possible, as hundreds of thousands are made."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(dir=memory)
    os.chmod(folder, 0o755)  # lanes of root run as nobody
    prey(Path(folder, "outside"))
    yield Path(folder)
    tree.remove(folder)


def tried(at: Path, kind: str, share: float, way: Callable[[Ways, Path], object]) -> None:
    """Try this many ways, each in its own folder. Both good and bad ends must occur."""
    before, ended = snapshot(at / "outside"), set[str]()
    for number in range(FIRST, FIRST + max(10, int(share * WAYS))):
        ways = Ways(random.Random(f"{kind} {number}"), at / "outside")
        folder = at / "run"
        folder.mkdir()
        try:
            with watched():
                way(ways, folder)
            ended.add("well")
        except SAID as error:
            assert str(error)
            ended.add("said")
        except BaseException as error:
            raise AssertionError(f"{kind}, way {number}: {ways.said}: {type(error).__name__}: {error}") from error
        assert snapshot(at / "outside") == before, f"{kind}, way {number}: {ways.said}"
        if folder.exists():
            tree.remove(str(folder))
    assert ended == {"well", "said"}


def test_what_is_left_of_a_run(at: Path, prepared: Prepared) -> None:
    """Of a plan: the trace is read while it grows, and run.json is written."""
    play(Lab(prepared.kernel.linux, prepared.modules, Kept(virtual, at / "left")), TASK, at / "base")
    lane = Lane(at / "left", ROOT)
    lab = Lab(prepared.kernel.linux, prepared.modules, lane)

    def way(ways: Ways, folder: Path) -> None:
        lane.ways = ways
        play(lab, TASK, folder)

    tried(at, "plan", 0.2, way)


def test_what_is_left_of_a_run_that_was_killed(at: Path, prepared: Prepared) -> None:
    """A finished run is taken, and another is played again."""
    play(Lab(prepared.kernel.linux, prepared.modules, Kept(virtual, at / "left")), TASK, at / "base")
    (finished,) = (at / "base").iterdir()
    lane = Lane(at / "left", ROOT)
    lab = Lab(prepared.kernel.linux, prepared.modules, lane)

    def way(ways: Ways, folder: Path) -> None:
        lane.ways = ways
        subprocess.run(["cp", "-a", finished, folder], check=True)
        ways.do(folder / finished.name)
        play(lab, TASK, folder, resume=True)

    tried(at, "killed", 0.1, way)


def test_what_a_script_leaves(at: Path, prepared: Prepared) -> None:
    """Its runs are taken, and result.json is written; meanwhile it requests captures."""
    (at / "mine.py").write_text(SCRIPT)
    script = Script(path=str(at / "mine.py"), seeds=[1])
    (at / "base").mkdir()
    play_script(Lab(prepared.kernel.linux, prepared.modules, Kept(virtual, at / "left")), script, at / "base")
    lane = Lane(at / "left", ROOT)
    lab = Lab(prepared.kernel.linux, prepared.modules, lane)

    def way(ways: Ways, folder: Path) -> None:
        lane.ways = ways
        if error := play_script(lab, script, folder, Listener(line=lambda line: None)).error:
            raise error

    tried(at, "script", 0.08, way)


def test_what_is_in_a_scratch_folder(at: Path) -> None:
    """Of a killed program: the next one removes it, and its own."""

    def way(ways: Ways, folder: Path) -> None:
        left = folder / ".dcflab-lane-left"
        (left / "sub").mkdir(parents=True)
        outside = (at / "outside").stat()
        (left / "lent.json").write_text(json.dumps([[str(at / "outside"), outside.st_dev, outside.st_ino]]))
        (left / "boot.json").write_text("{}")
        ways.do(left)
        with scratch("next", str(folder)) as own:
            Path(own, "file").touch()
            ways.do(Path(own))
        assert list(folder.iterdir()) == []
        if ways.random.random() < 0.5:
            raise OSError("as others are said")

    tried(at, "scratch", 0.15, way)


def test_what_is_reported_on_the_lanes_own_channel(at: Path) -> None:
    """Reports with other values, of other commands, and malformed ones."""
    said: list[dict[str, Any]] = [
        {"barriers": ["seccomp"]}, {"boot": "done"}, {"progress": 0.5, "air_s": 1.0}, {"error": "no", "errno": 28},
        {"error": "no", "misuse": True}, {"prompt": "> "}, {"words": {"": ["help"], "help": ["exit"]}},
        {"capture": "new.pcapng", "run": "run1-1", "now_ns": 1}, {"exit": 0},
    ]  # fmt: skip

    def way(ways: Ways, folder: Path) -> None:
        heard: list[object] = []
        listener = Listener(
            line=heard.append, progress=lambda done, air_s: heard.append(f"{done:.0%} {int(1e3 * air_s)}"),
            ask=input_of, words=lambda words: heard.extend(map(" ".join, words.values())),
            capture=lambda run, file, now_ns: heard.append((folder / run / file, now_ns.to_bytes(8))),
        )  # fmt: skip
        machine = Machine(folder, listener, None, ways.random.choice(("plan", "script", "shell")))
        with subprocess.Popen(["true"], start_new_session=True) as machine.process:
            machine.process.wait()
            hostile = ways.random.random() < 0.9
            for one in ways.random.choices(said, k=4) if hostile else [{"boot": "done"}, {"exit": 0}]:
                report = json.loads(json.dumps(one))
                if hostile and ways.random.random() < 0.7:
                    ways.said.append(ways.change(report))
                line = json.dumps(report)
                wrong = (line[:-1], "[" * 200_000) if hostile else ()
                machine.on_report(ways.random.choice((line, line, line, *wrong)))
            machine.result()

    def input_of(prompt: str) -> str:
        assert "\0" not in prompt and prompt.encode()
        return prompt

    tried(at, "reports", 0.3, way)


@needs("live")
def test_what_a_lane_asks_that_somebody_watches_live(at: Path, prepared: Prepared) -> None:
    """Its questions carry the state."""
    from emulation.features.live import actions
    from emulation.features.live.play import trace_of
    from emulation.features.live.session import END, Session

    asked, questions = TASK.specification, list[str]()
    (at / "live.py").write_text(actions.program(asked.model_dump_json()))
    (at / "base").mkdir()

    def answer(question: str) -> str:
        questions.append(question)
        if len(questions) == 1:
            return json.dumps(actions.until(100_000_000))
        shutil.copytree(at / "base", at / "left")
        return json.dumps(END)

    command = ["script", str(at / "live.py")]
    virtual.run(prepared.kernel.linux, prepared.modules, at / "base", command, listener=Listener(ask=answer))
    question = questions[1]
    session = Session("live", asked, plan(asked), trace_of(at / "run", 1), at / "script.py")
    session.end()

    def way(ways: Ways, folder: Path) -> None:
        said = json.loads(question)
        trace = trace_of(folder, 1).parent
        shutil.copytree(at / "left" / trace.name, trace)
        if ways.random.random() < 0.8:
            ways.said.append(ways.change(said))
            ways.do(trace)
        session.begin(())
        assert session.answer(json.dumps(said)) == json.dumps(END)
        if ways.random.random() < 0.1:
            session.answer(question)

    tried(at, "live", 0.05, way)


@pytest.mark.parametrize("what", ["plan", "script"])
def test_what_cannot_be_taken_back_is_neither_read_nor_written(
    at: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """As if its disk failed in the middle."""

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    class Left:
        """A folder whose content must not be touched."""

        name = "virtual"

        def run(self, kernel: Path, modules: object, run_folder: Path, *_: object, **__: object) -> LaneResult:
            with lent_to_lane([run_folder], False):
                for name in ("run1-1", "run2-1"):
                    (run_folder / name).mkdir()
                    (run_folder / name / "asked.json").touch()
                monkeypatch.setattr(tree, "walk", fails)
                left.update(snapshot(run_folder))
            return LaneResult(0, 0.1)

    left: dict[str, object] = {}
    lab = Lab(prepared.kernel.linux, prepared.modules, Left())
    (at / "mine.py").write_text(SCRIPT)
    (at / "run").mkdir()
    with pytest.raises((LaneError, Failure), match=r"cannot be made harmless: .*Input/output error"):
        if what == "plan":
            play(lab, TASK, at / "run")
        else:
            play_script(lab, Script(path=str(at / "mine.py"), seeds=[1]), at / "run")
    monkeypatch.undo()
    assert left.items() <= snapshot(at / "run").items() and len(left) == len(snapshot(Path(min(left))))


DEEDS = """
import os, sys
sys.path.insert(0, "/run/lab/checkout")
from emulation.lane import guest, syscalls
outside, run = {outside!r}, os.environ["DCFLAB_RUN"]

def deep(at, depth=1200):
    for _ in range(depth):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.symlink(outside, "out", dir_fd=at)
"""
WHILE_IT_RUNS = """
trace = run + "/run1-1/air.trace"
os.rename(trace, trace + ".kept")
for trap in (lambda: os.symlink("/dev/zero", trace), lambda: os.mkfifo(trace)):
    trap()
    guest.report(capture="new.pcapng", run="run1-1", now_ns=1)
    guest.read_line("has it looked?")
    os.unlink(trace)
os.rename(trace + ".kept", trace)
for name in ("run1-1/run.json", "run1-1/run.json.new", "run1-1/air.pcapng.gz", "result.json"):
    os.symlink(outside + "/precious", run + "/" + name)
deep(os.open(run + "/run1-1", os.O_RDONLY))
"""
IN_ITS_SCRATCH = """
private = os.path.dirname(next(word for word in open("/proc/cmdline").read().split() if word.endswith("/boot.json")))
os.mkdir("/run/private")
syscalls.mount("hostfs", "/run/private", data=private)
found = os.stat(outside)
open("/run/private/lent.json", "w").write(f'[["{{outside}}", {{found.st_dev}}, {{found.st_ino}}]]')
deep(os.open("/run/private", os.O_RDONLY))
os.chmod("/run/private", 0)
print(private, flush=True)
import signal
signal.pause()
"""
PLAYED = """
import sys
from pathlib import Path
from emulation.lanes import virtual
from emulation.lanes.virtual import ownership
at = Path(sys.argv[2])
ownership.NOTES, virtual.memory_folder = at / "notes", lambda megabytes: str(at / "place")  # nobody else sweeps there
virtual.run(Path(sys.argv[1]), {}, at / "run", ["script", str(at / "mine.py")])
"""


def test_a_guest_at_work(at: Path, prepared: Prepared) -> None:
    """In a lane: it makes the host read traps, and puts some where the host is about to write."""
    before, lines = snapshot(at / "outside"), list[str]()
    (at / "mine.py").write_text(SCRIPT + DEEDS.format(outside=str(at / "outside")) + WHILE_IT_RUNS)
    (at / "run").mkdir()
    lab, script = Lab(prepared.kernel.linux, prepared.modules), Script(path=str(at / "mine.py"), seeds=[1])
    with watched():
        played = play_script(lab, script, at / "run", Listener(line=lines.append, ask=lambda prompt: "yes"))
    assert played.error is None and [outcome.run.variant for outcome in played.outcomes] == ["run1"]
    assert lines == [f"*** capture: air.trace: it is {what}" for what in ("a link", "not a plain file")]
    for name in ("result.json", "run1-1/run.json", "run1-1/air.pcapng.gz"):
        assert not (at / "run" / name).is_symlink() and (at / "run" / name).stat().st_size > 100
    assert snapshot(at / "outside") == before
    tree.remove(str(at / "run"))


def test_a_guest_whose_host_is_killed(at: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content of its scratch folder is not trusted, and is removed."""
    monkeypatch.setattr(ownership, "NOTES", at / "notes")
    before = snapshot(at / "outside")
    (at / "mine.py").write_text(DEEDS.format(outside=str(at / "outside")) + IN_ITS_SCRATCH)
    for folder in ("run", "place"):
        (at / folder).mkdir(mode=0o755)
    command = [sys.executable, "-u", "-c", PLAYED, prepared.kernel.linux, at]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout
        private = Path(host.stdout.readline().strip())
        assert private.parent == at / "place" and private.exists()
        host.kill()
    with watched(), scratch("next", str(at / "place")) as own:
        assert os.listdir(at / "place") == [os.path.basename(own)]
    assert snapshot(at / "outside") == before
