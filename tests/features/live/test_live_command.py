# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab live` as a program: what it leaves at any end, and misuse."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import HANGS_UP, ROOT, ran

from emulation.files import compressed
from emulation.play.replay import replay
from emulation.setup import Prepared

WITHIN_S = 15
COMMAND = [*HANGS_UP, sys.executable, "-m", "emulation", "live"]


class Live:
    """The running command, and its page."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        assert process.stdout
        self.process, self.folder = process, folder
        self.address = json.loads(process.stdout.readline())["address"]
        self.events = urllib.request.urlopen(f"{self.address}events", timeout=WITHIN_S)

    def do(self, verb: str, **what: Any) -> None:
        body = json.dumps({"do": verb, **what}).encode()
        with urllib.request.urlopen(f"{self.address}do", body, timeout=WITHIN_S) as answer:
            answer.read()

    def state(self, **wanted: Any) -> dict[str, Any]:
        """Return the next state with these values."""
        for line in self.events:
            event = json.loads(line.removeprefix(b"data: ")) if line.startswith(b"data: ") else {}
            if event.get("event") == "state" and wanted.items() <= event.items():
                return event  # type: ignore[no-any-return]
        raise AssertionError(f"it has ended without {wanted}")

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=WITHIN_S)
        return self.process.returncode, said

    def lanes(self) -> list[int]:
        """Return its child processes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Live]:
    command = [*COMMAND, "string", "--stations", "2", "--no-open", "--json", "--out", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            live = Live(process, folder)
            with live.events:
                yield live
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, None], ids=str)
def test_however_it_is_ended_it_leaves_what_any_run_leaves(
    prepared: Prepared, tmp_path: Path, number: signal.Signals | None
) -> None:
    with started(tmp_path / "run") as live:
        live.do("pause")
        live.do("step", to="ns", ns=300_000_000)
        live.state(running=False)
        live.do("move", node="sta2", position=[120, 0])
        if number:
            live.process.send_signal(number)
        else:
            live.do("end")
        ended = live.state(running=False)
        while not ended["ended"]:
            ended = live.state()
        assert "run" in ended["ended"]
        assert live.end()[0] == 0
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            live.do("pause")
    left = {file.name for file in live.folder.iterdir()}
    assert left >= {"live1-1", "result.json", "report.html", "script.py"}
    assert len(compressed.read(live.folder / "live1-1" / "air.pcapng.gz")) > 10_000
    assert "net['sta2'].position = (120.0, 0.0, 0.0)" in (live.folder / "script.py").read_text()
    if number is None:
        assert not replay(live.folder).differences


def test_a_network_in_which_no_time_passed_leaves_nothing(prepared: Prepared, tmp_path: Path) -> None:
    with started(tmp_path / "run") as live:
        live.do("back", moment="start")
        assert live.state(busy=None, running=False)["t_ns"] == 0
        live.do("end")
        while not (ended := live.state())["ended"]:
            pass
        status, said = live.end()
    assert status == 0 and not said and "no results" in ended["ended"] and not live.folder.exists()


@pytest.mark.parametrize("back", [False, True], ids=["where it is", "on its way back"])
def test_a_lane_that_dies_is_reported_and_leaves_what_was_done(prepared: Prepared, tmp_path: Path, back: bool) -> None:
    """On the page and the terminal; the script repeats what was done."""
    with started(tmp_path / "run") as live:
        there_ns = moved(live)
        if back:  # it dies on the way to where all of this was done already
            live.do("back", moment="there")
            while (state := live.state())["t_ns"] >= there_ns:
                pass  # of the lane that is left
            assert state["busy"]
        for pid in live.lanes():
            os.kill(pid, signal.SIGKILL)
        while not (ended := live.state())["ended"]:
            pass
        script = live.folder / "script.py"
        assert "killed" in ended["ended"] and ended["ended"].endswith(f"; {script} has all actions until then")
        status, said = live.end()
    assert status == 1 and "killed" in said and "Traceback" not in said
    end_ns = int(re.findall(r"stage.until\((\d[\d_]*)\)", script.read_text())[-1])
    assert end_ns == there_ns if back else end_ns >= there_ns > 0
    assert not (live.folder / "result.json").exists()
    does_it_again(script, tmp_path / "again")


@pytest.mark.parametrize("back", [False, True], ids=["where it is", "on its way back"])
def test_a_program_that_is_killed_leaves_what_was_done(prepared: Prepared, tmp_path: Path, back: bool) -> None:
    with started(tmp_path / "run") as live:
        moved(live)
        if back:
            live.do("back", moment="there")
        live.process.kill()
        live.process.wait()
    does_it_again(live.folder / "script.py", tmp_path / "again")


def moved(live: Live) -> int:
    """Pause, move a station, let time pass, and save the moment. Return its time in ns."""
    live.do("pause")
    live.state(running=False)
    live.do("move", node="sta2", position=[120, 0])
    live.do("step", to="ns", ns=300_000_000)
    live.do("save", name="there")
    while len(moments := live.state(actions=1)["moments"]) < 2:
        pass
    return int(moments[-1]["t_ns"])


def does_it_again(script: Path, folder: Path) -> None:
    """Check that this script moves what was moved."""
    assert "net['sta2'].position = (120.0, 0.0, 0.0)" in script.read_text()
    ran(ROOT, "run", script, "--out", folder)
    assert [move["node"] for move in json.loads((folder / "live1-1" / "lane.json").read_text())["moves"]] == ["sta2"]


def test_a_port_that_is_taken_is_reported(prepared: Prepared, tmp_path: Path) -> None:
    with started(tmp_path / "one") as live:
        port = live.address.split("/")[2].rpartition(":")[2]
        command = [*COMMAND, "string", "--port", port, "--no-open", "--out", str(tmp_path / "other")]
        done = subprocess.run(command, capture_output=True, text=True)
        live.do("end")
        live.end()
    assert done.returncode == 1 and f"port {port}" in done.stderr and "--port 0" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("options", "said"), [
    (["string", "--no-trace"], "leave out --no-trace"),
    (["nothing"], "there is no topology"),
    (["string", "--lane", "vm"], "only in the lane virtual"),
    (["string", "--medium", "wmediumd-compat"], "leave out --no-trace"),
])  # fmt: skip
def test_what_cannot_be_looked_at_is_refused_before_anything_starts(options: list[str], said: str) -> None:
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
