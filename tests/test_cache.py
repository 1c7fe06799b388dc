# SPDX-License-Identifier: BSD-3-Clause
"""The cache: each thing is built once, completely or not at all, by the first process; damage is found and repaired."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from emulation.lane.errors import Failure
from emulation.setup import cache
from emulation.setup.cache import State


def writes(text: str) -> cache.Build:
    """A build that makes one file."""

    def build(folder: Path) -> Iterable[str]:
        (folder / "file").write_text(text)
        return ["file"]

    return build


def never(folder: Path) -> Iterable[str]:
    raise AssertionError("built what is there already")


def left(own_cache: Path) -> list[str]:
    return sorted(path.name for path in own_cache.iterdir() if not path.name.startswith(cache.LOCK))


def test_a_key_depends_on_each_part_and_where_it_ends() -> None:
    keys = {
        cache.key("ab", "c"),
        cache.key("a", "bc"),
        cache.key("abc"),
        cache.key("c", "ab"),
        cache.key(b"ab", "c", ""),
    }
    assert len(keys) == 5
    assert cache.key("ab", b"c") == cache.key(b"ab", "c")


def test_a_link_to_a_program_must_lead_to_one(own_cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"

    def build(folder: Path) -> Iterable[str]:
        program.touch(0o755)
        (folder / "link").symlink_to(program)
        return ["link"]

    entry = cache.obtain("thing-1", build)
    assert cache.inspect(entry) == (State.SOUND, "")
    program.write_text("a newer version")  # of the system's, which is nobody's damage
    assert cache.inspect(entry) == (State.SOUND, "")
    program.unlink()
    assert cache.inspect(entry) == (State.DAMAGED, "link cannot be executed")
    assert cache.inspect(cache.obtain("thing-1", build)) == (State.SOUND, "")
    (entry / "link").unlink()
    assert cache.inspect(entry)[0] is State.DAMAGED


def test_an_entry_is_built_once(own_cache: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    assert (entry / "file").read_text() == "made"
    assert cache.obtain("thing-1", never) == entry
    assert left(own_cache) == ["thing-1"]


def test_everyone_may_read_what_one_built(own_cache: Path) -> None:
    before = os.umask(0o077)
    try:
        entry = cache.obtain("thing-1", writes("made"))
    finally:
        os.umask(before)
    assert entry.stat().st_mode & 0o777 == 0o755
    assert (entry / "file").stat().st_mode & 0o044 == 0o044


@pytest.mark.parametrize("failure", [Failure("no"), KeyboardInterrupt()])
def test_a_build_that_ends_early_leaves_nothing(own_cache: Path, failure: BaseException) -> None:
    def build(folder: Path) -> Iterable[str]:
        (folder / "half").touch()
        raise failure

    with pytest.raises(type(failure)):
        cache.obtain("thing-1", build)
    assert left(own_cache) == []


def test_what_a_killed_builder_left_is_swept_up(own_cache: Path) -> None:
    def killed(folder: Path) -> Iterable[str]:
        (folder / "half").touch()
        os.kill(os.getpid(), 9)
        return []

    process = multiprocessing.get_context("fork").Process(target=cache.obtain, args=("thing-1", killed))
    process.start()
    process.join()
    assert process.exitcode == -9
    assert len(left(own_cache)) == 1
    cache.obtain("thing-1", writes("made"))
    assert left(own_cache) == ["thing-1"]


def test_two_at_once_build_once(own_cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    both, count = context.Barrier(2), context.Value("i", 0)

    def build(folder: Path) -> Iterable[str]:
        with count.get_lock():
            count.value += 1
        return writes("made")(folder)

    def first_use() -> None:
        both.wait()
        cache.obtain("thing-1", build)

    processes = [context.Process(target=first_use) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert count.value == 1


def test_who_waits_hears_how_far_the_other_is(own_cache: Path) -> None:
    """From the builder's log; it then builds what the other did not."""
    log = own_cache / f"{cache.SCRATCH}thing-other" / cache.LOG
    log.parent.mkdir(parents=True)
    log.write_text("  HOSTCC  a.o\n  CC      b.o\n  CC [M]  c.o\n")
    waits = (
        "from emulation.setup import cache, tools\ntools.TELL_EVERY_S = 0.01\n"
        "print(cache.obtain('thing-1', lambda folder: (folder / 'file').touch() or ['file']))"
    )
    with cache.lock(own_cache / "lock-thing"):
        waiting = subprocess.Popen(
            [sys.executable, "-c", waits], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert waiting.stderr
        assert next(waiting.stderr) == f"dcflab: waiting for another dcflab that builds in {own_cache}\n"
        assert next(waiting.stderr).startswith("dcflab: another dcflab: 2 files compiled, waited for ")
        with log.open("a") as more:
            more.write("  CC      d.o\n")
        assert any(": 3 files compiled, " in line for line in waiting.stderr)
        shutil.rmtree(log.parent)
        assert any(": waited for " in line for line in waiting.stderr)
    said, _ = waiting.communicate()
    assert said == f"{own_cache}/thing-1\n" and left(own_cache) == ["thing-1"]


def test_no_module_waits_for_a_kernel(own_cache: Path) -> None:
    """A build of one kind may start one of another, which neither waits nor removes unfinished builds."""

    def build(folder: Path) -> Iterable[str]:
        files = writes("made")(folder)
        assert cache.obtain("module-1", writes("other")).name == "module-1"
        return files

    assert (cache.obtain("kernel-1", build) / "file").read_text() == "made"
    assert left(own_cache) == ["kernel-1", "module-1"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("file", "mad"), ("file", "evil"), ("file", None), (cache.MANIFEST, None), (cache.MANIFEST, '{"files": ['),
     (cache.MANIFEST, "[]")],
)  # fmt: skip
def test_damage_is_noticed_and_mended(
    own_cache: Path, name: str, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    if content is None:
        (entry / name).unlink()
    else:
        (entry / name).write_text(content)
        os.utime(entry / name, ns=(1, 1))
    assert cache.inspect(entry)[0] is State.DAMAGED
    assert (cache.obtain("thing-1", writes("made")) / "file").read_text() == "made"
    assert f"{entry} is damaged" in capsys.readouterr().err
    assert left(own_cache) == ["thing-1"]


def test_a_thorough_look_sees_more_than_the_key_files(own_cache: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    (entry / "__pycache__").mkdir()
    (entry / "__pycache__" / "x.pyc").touch()
    assert cache.inspect(entry, thoroughly=True) == (State.SOUND, "")
    (entry / "other").touch()
    assert cache.inspect(entry) == (State.SOUND, "")
    assert cache.inspect(entry, thoroughly=True)[0] is State.DAMAGED


def test_touching_a_file_is_no_damage(own_cache: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    os.utime(entry / "file")
    assert cache.inspect(entry) == (State.SOUND, "")


def test_a_user_uses_what_root_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DCFLAB_CACHE", raising=False)
    monkeypatch.setattr(cache, "SYSTEM", tmp_path / "system")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    by_root = cache.obtain("thing-1", writes("root's"))
    assert by_root == tmp_path / "system" / "thing-1"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cache.obtain("thing-1", never) == by_root
    (by_root / "file").unlink()
    assert cache.obtain("thing-1", writes("user's")) == tmp_path / "user" / "dcflab" / "thing-1"


def test_a_cache_that_cannot_be_written_says_where_else(own_cache: Path) -> None:
    own_cache.write_text("a file")
    with pytest.raises(Failure, match=r"cannot build thing-1: .*DCFLAB_CACHE"):
        cache.obtain("thing-1", never)


def test_a_full_disk_is_noticed_before_a_build(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("usage", (), {"free": 1 << 20}))
    with pytest.raises(Failure, match="has 1 MB left"):
        cache.obtain("thing-1", never)
