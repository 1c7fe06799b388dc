# SPDX-License-Identifier: BSD-3-Clause
"""Scripts and modules that try to escape from a lane, under each of the barriers that a machine may grant."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulation.lanes import CHECKOUT, LaneError, virtual
from emulation.lanes.virtual import barriers, confine
from emulation.lanes.virtual.confine import Barrier
from emulation.setup import modules

ROOT = os.geteuid() == 0
ESCAPE = Path(__file__).with_name("escape")
ALL = set(confine.probe(as_nobody=ROOT)())
SEALED = pytest.mark.skipif(not ALL & confine.PREVENT_CHANGES, reason="this machine has no barriers")
NAMESPACE = pytest.mark.skipif(Barrier.NAMESPACE not in ALL, reason="this user may not make mount namespaces")
LANDLOCK = pytest.mark.skipif(Barrier.LANDLOCK not in ALL, reason="this kernel has no Landlock")

TRY = """
import os, sys
sys.path.insert(0, "/run/lab/checkout")
from emulation.lane import syscalls

outside, own, run = "{outside}", "{own}", os.environ["DCFLAB_RUN"]
os.mkdir("/run/host")
syscalls.mount("", "/", flags=syscalls.MS_REMOUNT)
syscalls.mount("hostfs", "/run/host", data="/")

def attempt(what, action, *arguments):
    try:
        action(*arguments)
        print(what, "done")
    except OSError:
        print(what, "refused")

for way in ("", "/run/host"):
    attempt("make", open, way + outside + "/made", "w")
    attempt("write", open, way + own, "a")
    attempt("truncate", os.truncate, way + own, 0)
    attempt("remove", os.unlink, way + own)
    attempt("link", os.link, way + own, run + "/linked")
    attempt("read a process's memory", open, way + "/proc/{stranger}/mem", "rb")
    attempt("read the passwords", open, way + "/etc/shadow")
    attempt("change the mode", os.chmod, way + own, 0o666)
open(run + "/kept", "w").write("kept")
os.chmod(run + "/kept", 0o755)
attempt("set the user ID", os.chmod, run + "/kept", 0o4755)
os.mkdir(run + "/below")
os.symlink("/etc/passwd", run + "/below/leads-out")
os.symlink("../kept", run + "/below/stays")
os.mkfifo(run + "/blocks")
"""


@pytest.fixture
def prey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A world-writable folder, and a file of this user's own in a folder open to all."""
    folder = tmp_path_factory.mktemp("prey")
    for up in (folder, *folder.parents[:2]):
        if up.stat().st_uid == os.geteuid():
            up.chmod(0o755)
    (folder / "outside").mkdir()
    (folder / "outside").chmod(0o777)
    (folder / "own").write_text("mine")
    (folder / "own").chmod(0o644)
    yield folder / "outside", folder / "own"
    assert list((folder / "outside").iterdir()) == []
    assert (folder / "own").read_text() == "mine"
    assert (folder / "own").stat().st_mode & 0o7777 == 0o644


def refused(name: str) -> Callable[..., None]:
    def function(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, name)

    return function


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Remove these barriers from this machine."""
    for name in names:
        monkeypatch.setattr(barriers, name, refused(name))


def tried(bench, prey: tuple[Path, Path]) -> list[str]:  # type: ignore[no-untyped-def]
    outside, own = prey
    text = TRY.format(outside=outside, own=own, stranger=os.getpid())
    lines: list[str] = bench.script(text)
    found = {path.relative_to(bench.folder).as_posix() for path in bench.folder.rglob("*")}
    assert found == {"script.py", "console.log", "kept", "below", "below/stays"}
    for path in bench.folder.rglob("*"):
        assert (path.lstat().st_uid, path.lstat().st_mode & 0o6000) == (os.geteuid(), 0)
    return lines


@pytest.mark.quick
@SEALED
def test_a_script_changes_nothing_outside_and_reads_what_anybody_may(bench, prey) -> None:  # type: ignore[no-untyped-def]
    assert [line for line in tried(bench, prey) if line.endswith("done")] == []


@LANDLOCK
def test_landlock_alone_keeps_it(bench, prey, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Landlock does not cover modes: those of the user's own files can change."""
    without(monkeypatch, "mount_read_only")
    done = {line for line in tried(bench, (prey[0], prey[1])) if line.endswith("done")}
    prey[1].chmod(0o644)
    assert done <= ({"change the mode done"} if not ROOT else set())


@NAMESPACE
def test_a_namespace_alone_keeps_it(bench, prey, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    without(monkeypatch, "landlock", "refuse_set_id")
    assert {line for line in tried(bench, prey) if line.endswith("done")} == {"set the user ID done"}


def test_where_there_is_no_barrier_it_is_reported(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    without(monkeypatch, "mount_read_only", "landlock", "become")
    assert "a script can write wherever you can" in virtual.caution()()
    assert ("a script can read what root can" in virtual.caution()()) == ROOT


def test_root_without_the_right_to_mount_becomes_nobody_all_the_same(bench, prey) -> None:  # type: ignore[no-untyped-def]
    """As in a container, where root has few capabilities."""
    if not ROOT or Barrier.LANDLOCK not in ALL:
        pytest.skip("for root of a kernel with Landlock")
    (bench.folder / "script.py").write_text("print('hello')\n")
    lane = (
        "import sys; from pathlib import Path; from emulation.lanes import Listener, virtual\n"
        "done = virtual.run(Path(sys.argv[1]), {}, Path(sys.argv[2]), ['script', sys.argv[2] + '/script.py'], "
        "listener=Listener(print))\nprint(*done.barriers, sep='; ')"
    )
    command = ["setpriv", "--bounding-set", "-sys_admin", sys.executable, "-c", lane]
    words = [bench.prepared.kernel.linux, bench.folder]
    done = subprocess.run([*command, *words], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.stdout == f"hello\n{Barrier.NOBODY}; {Barrier.LANDLOCK}; {Barrier.SECCOMP}\n", done.stderr


def test_why_a_lane_cannot_begin_is_reported(bench, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def refuse() -> None:
        raise OSError(errno.ENOSYS, "personality")

    monkeypatch.setattr("emulation.lane.syscalls.keep_addresses_fixed", refuse)
    with pytest.raises(LaneError, match="personality; a container forbids that unless --security-opt"):
        bench.script("print('never')")


def test_without_any_barrier_a_lane_still_runs(bench, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    without(monkeypatch, "mount_read_only", "landlock", "become", "refuse_set_id")
    (bench.folder / "script.py").write_text("print('up')")
    assert list(bench.run("script", str(bench.folder / "script.py")).barriers) == []
    assert bench.lines == ["up"]


@SEALED
@pytest.mark.parametrize("lacking", [[], ["mount_read_only"], ["landlock"]], ids=["all", "no namespace", "no Landlock"])
def test_a_module_that_makes_the_hosts_system_calls(bench, prey, monkeypatch, lacking) -> None:  # type: ignore[no-untyped-def]
    gone = Barrier.NAMESPACE if lacking == ["mount_read_only"] else Barrier.LANDLOCK
    if lacking and not (ALL - {gone}) & confine.PREVENT_CHANGES:
        pytest.skip("nothing would be left")
    without(monkeypatch, *lacking)
    module = modules.obtain(ESCAPE, bench.prepared.kernel)["escape"]
    outside, own = prey
    (bench.folder / "script.py").write_text(f"""
import sys
sys.path.insert(0, "/run/lab/checkout")
from emulation.lane.syscalls import load_module
load_module("/run/lab/modules/dcf80211/escape.ko", "outside={outside} own={own} stranger={os.getppid()}")
""")
    command = ["script", str(bench.folder / "script.py")]
    virtual.run(bench.prepared.kernel.linux, {"dcf80211": module}, bench.folder, command)
    said = dict(
        line[8:].rsplit(" ", 1)
        for line in (bench.folder / "console.log").read_text().splitlines()
        if line.startswith("escape: ")
    )
    succeeded = {what for what, result in said.items() if result == "0"}
    assert len(said) > 8
    if not ROOT and lacking == ["mount_read_only"]:
        succeeded -= {"change the mode"}
        prey[1].chmod(0o644)
    if not ROOT and lacking == ["landlock"]:
        succeeded -= {"signal"}
    assert succeeded == set()
