# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders, and what a lane leaves in its run folder: swept, and made harmless."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from emulation.lanes.virtual.barriers import NOBODY
from emulation.lanes.virtual.confine import open_to_all
from emulation.lanes.virtual.ownership import take_back
from emulation.lanes.virtual.scratch import scratch

HOLD = """
import signal, sys
from emulation.lanes.virtual.scratch import scratch
with scratch("held", sys.argv[1]) as folder:
    open(folder + "/file", "w").close()
    print(folder, flush=True)
    signal.pause()
"""


def test_who_is_killed_leaves_nothing_that_the_next_does_not_sweep(tmp_path: Path) -> None:
    others = tmp_path / "dcflab-mine"
    others.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        held = Path(holder.stdout.readline().strip())
        with scratch("other", str(tmp_path)) as folder:
            assert os.path.isdir(folder) and (held / "file").exists()
        assert not os.path.exists(folder) and (held / "file").exists()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert (held / "file").exists()
        with scratch("other", str(tmp_path)):
            assert not held.exists()
    assert list(tmp_path.iterdir()) == [others]


LEND = """
import signal, sys
from emulation.lanes.virtual.confine import cell
with cell([], [sys.argv[1]], nobodys=True):
    print("lent", flush=True)
    signal.pause()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends")
def test_what_the_killed_had_lent_to_nobody_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the next program that needs a folder of its own; but not what has taken the lent one's place."""
    run, replaced, temporary = tmp_path / "run", tmp_path / "replaced", tmp_path / "tmp"
    for folder in (run, replaced, temporary):
        folder.mkdir()
    (run / "plan.json").touch()
    for folder in (run, replaced):
        command = [sys.executable, "-c", LEND, folder]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)}
        ) as lender:  # fmt: skip
            assert lender.stdout
            assert lender.stdout.readline() == "lent\n"
            lender.send_signal(signal.SIGKILL)
        assert {path.stat().st_uid for path in (folder, *folder.iterdir())} == {NOBODY}
    replaced.rename(tmp_path / "moved")
    replaced.mkdir()
    os.chown(replaced, NOBODY, NOBODY)
    with scratch("next", str(temporary)):
        assert {path.stat().st_uid for path in (run, run / "plan.json")} == {0}
        assert replaced.stat().st_uid == NOBODY
    assert list(temporary.iterdir()) == []


def test_who_sweeps_a_folder_that_is_just_made_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not locked yet when it is made: another's sweep may be faster."""
    made: list[str] = []

    def swept_at_once(**options: str) -> str:
        made.append(mkdtemp(**options))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    mkdtemp = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_once)
    with scratch("mine", str(tmp_path)) as folder:
        assert (folder, os.path.isdir(folder)) == (made[1], True)


def test_what_leads_out_of_a_run_folder_goes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "below").mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    (run / "kept").write_text("kept")
    (run / "kept").chmod(0o4755)
    (run / "below/in").symlink_to("../kept")
    (run / "below/out").symlink_to("../../precious")
    (run / "whole").symlink_to(tmp_path)
    (run / "round").symlink_to("round")
    os.mkfifo(run / "fifo")
    take_back(run)
    assert {path.relative_to(run).as_posix() for path in run.rglob("*")} == {"kept", "below", "below/in", "round"}
    assert (run / "kept").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize(("mode", "open_"), [(0o755, True), (0o700, False), (0o754, False)])
def test_what_all_may_read(tmp_path: Path, mode: int, open_: bool) -> None:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.touch()
    file.chmod(0o644)
    file.parent.chmod(mode)
    assert open_to_all(file, tmp_path / "folder") is open_
    file.parent.chmod(0o755)
    file.chmod(0o640)
    assert not open_to_all(file, tmp_path / "folder")
