# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders, and files that a lane leaves in its run folder: removed, and made harmless."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulation.files import tree
from emulation.lanes import LaneError
from emulation.lanes.virtual import ownership
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
import pathlib, signal, sys
from emulation.lanes.virtual import ownership
from emulation.lanes.virtual.confine import cell
ownership.NOTES = pathlib.Path(sys.argv[2])
with cell([], [sys.argv[1]], as_nobody=True):
    print("lent", flush=True)
    signal.pause()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends")
def test_what_the_killed_had_lent_to_nobody_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the next program that needs a temporary folder; but not a folder that replaced it."""
    run, replaced, temporary, notes = (tmp_path / name for name in ("run", "replaced", "tmp", "notes"))
    for folder in (run, replaced, temporary):
        folder.mkdir()
    monkeypatch.setattr(ownership, "NOTES", notes)
    (run / "plan.json").touch()
    for folder in (run, replaced):
        with subprocess.Popen(
            [sys.executable, "-c", LEND, folder, notes], stdout=subprocess.PIPE, text=True
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
    assert [*temporary.iterdir(), *notes.iterdir()] == []


def test_who_sweeps_a_folder_that_is_just_made_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new folder is not locked yet, and another program's sweep may come first."""
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
    (run / "nothing").symlink_to("never-made")
    os.mkfifo(run / "fifo")
    take_back(run)
    assert {path.relative_to(run).as_posix() for path in run.rglob("*")} == {"kept", "below", "below/in"}
    assert (run / "kept").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "precious").read_text() == "mine"


DEPTH = 5000  # deeper than Python's stack, any path, and this user's descriptors


@pytest.fixture(autouse=True)
def nothing_deep_is_left(tmp_path: Path) -> Iterator[None]:
    """Remove deep folders, because pytest's own removal is recursive."""
    yield
    with tree.handle(str(tmp_path), flags=tree.FOLDER) as left:
        tree.empty(left)


def deep(folder: Path, depth: int = DEPTH) -> int:
    """Make nested folders; return the deepest, open."""
    at = os.open(folder, tree.FOLDER)
    for _ in range(depth):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", tree.FOLDER, dir_fd=at)
        os.close(at)
        at = below
    return at


@pytest.mark.slow
def test_what_leads_out_from_far_below_goes_and_so_does_what_cannot_be_entered(tmp_path: Path) -> None:
    run, precious = tmp_path / "run", tmp_path / "precious"
    run.mkdir()
    precious.write_text("mine")
    deepest = deep(run)
    try:
        os.symlink(precious, "out", dir_fd=deepest)
        os.mkfifo("fifo", dir_fd=deepest)
        (run / "closed").mkdir()
        (run / "closed" / "out").symlink_to(precious)
        (run / "closed").chmod(0)
        take_back(run)
        assert os.listdir(deepest) == list((run / "closed").iterdir()) == []
    finally:
        os.close(deepest)
    assert precious.read_text() == "mine"
    (run / "closed").chmod(0)
    tree.remove(str(run))
    assert list(tmp_path.iterdir()) == [precious]


@pytest.mark.parametrize("forged", ["note", "depth", "mode"])
def test_what_somebody_puts_into_a_scratch_folder_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forged: str
) -> None:
    """A lane can write into its own, and its program is then killed."""
    monkeypatch.setattr(ownership, "NOTES", tmp_path / "notes")
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    left = temporary / ".dcflab-lane-forged"
    left.mkdir(parents=True)
    home.mkdir()
    (home / "link").symlink_to("/etc/passwd")
    found = home.lstat()
    (left / "lent.json").write_text(f'[["{home}", {found.st_dev}, {found.st_ino}]]')
    if forged == "depth":
        os.close(deep(left))
    if forged == "mode":
        left.chmod(0)
    with scratch("next", str(temporary)):
        assert not left.exists()
    assert list(temporary.iterdir()) == [] and (home / "link").is_symlink()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="another user's folder takes root to be made")
def test_another_users_folder_is_left_alone(tmp_path: Path) -> None:
    others = tmp_path / ".dcflab-lane-others"
    others.mkdir()
    os.close(deep(others))
    os.chown(others, NOBODY, NOBODY)
    with scratch("next", str(tmp_path)):
        assert others.exists()
    tree.remove(str(others))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends")
def test_a_note_where_others_can_write_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    home.mkdir()
    (home / "link").symlink_to("/etc/passwd")
    found = home.lstat()
    (notes / "forged").write_text(f'[["{home}", {found.st_dev}, {found.st_ino}]]')
    monkeypatch.setattr(ownership, "NOTES", notes)
    for believed, change in enumerate([lambda: notes.chmod(0o777), lambda: os.chown(notes, NOBODY, 0)]):
        change()
        ownership.take_back_noted()
        assert (home / "link").is_symlink(), believed
    os.chown(notes, 0, 0)
    notes.chmod(0o700)
    ownership.take_back_noted()
    assert not (home / "link").is_symlink() and list(notes.iterdir()) == []


def test_an_ordinary_user_does_not_look_for_what_root_has_lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "notes"
    closed.touch()  # which cannot be opened as a folder, by root neither
    monkeypatch.setattr(ownership, "NOTES", closed)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    with scratch("mine", str(tmp_path)):
        pass


def test_who_walks_is_not_led_outside_by_a_folder_that_moves(tmp_path: Path) -> None:
    """The way back is "..", which is elsewhere by then."""
    run, outside = tmp_path / "run", tmp_path / "outside"
    (run / "below").mkdir(parents=True)
    (run / "below" / "file").touch()
    outside.mkdir()
    (outside / "mine").touch()

    def meet(_: int, name: str, __: int) -> None:
        if name == "file":
            (run / "below").rename(outside / "below")

    with tree.handle(str(run)) as top, pytest.raises(OSError, match="moved meanwhile"):
        tree.walk(top, meet)
    assert (outside / "mine").exists()


def test_a_run_folder_that_is_a_link_is_not_taken_back(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    home.mkdir()
    (home / "link").symlink_to("/etc/passwd")
    run.symlink_to(home)
    with pytest.raises(LaneError, match="cannot be made harmless"):
        take_back(run)
    assert (home / "link").is_symlink()


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
