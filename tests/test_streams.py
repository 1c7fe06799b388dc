# SPDX-License-Identifier: BSD-3-Clause
"""The surroundings of a program: closed standard streams, a locale without UTF-8, a full disk, and SIGKILL."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from emulation import files
from emulation.cli.main import file_of
from emulation.lanes import CHECKOUT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
PROGRAM = [sys.executable, "-P", "-m", "emulation"]
STATUS = {
    "--version": 0,
    "view nowhere": 2,
    "motion string --motion line,node=sta1 --seconds 1 --out a.setdest": 0,
    "--help": 0,
    "run --help": 0,
    "results": 0,
    "docs --help": 0,
    "motion": 2,
    "run string --stations 2 --tpc reno": 2,
}
FEW = [*STATUS][:3]
WORDS = [pytest.param(words, marks=[pytest.mark.slow] * (words not in FEW)) for words in STATUS]


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", WORDS)
def test_closed_streams(words: str, closed: str, tmp_path: Path) -> None:
    """Their output is lost; nothing else changes, and no opened file takes their place."""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *words.split()]
    without = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert "Traceback" not in without.stderr and without.returncode == STATUS[words]
    assert (tmp_path / "a.setdest").exists() == ("a.setdest" in words)


def test_a_locale_without_utf_8(tmp_path: Path) -> None:
    """Text is read and written as UTF-8 all the same."""
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    told = 'import sys; print(sys.flags.utf8_mode, open("a", "w").write("\\xe9"))'
    done = subprocess.run([CHECKOUT / "dcflab", "python", "-c", told], cwd=tmp_path, env=env, capture_output=True,
                          text=True)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 1\n", "") and (
        tmp_path / "a"
    ).read_bytes() == b"\xc3\xa9"


def test_a_full_disk_is_reported_with_the_file(tmp_path: Path) -> None:
    """For a write, whose system error has no file name."""
    with pytest.raises(OSError, match="No space left") as full, open("/dev/full", "wb", buffering=0) as file:
        files.put(file, tmp_path / "a.pcapng", b"frames")
    assert (full.value.errno, full.value.filename) == (errno.ENOSPC, str(tmp_path / "a.pcapng"))
    with pytest.raises(OSError, match="No space left") as full:
        Path("/dev/full").write_text("a report")
    assert full.value.filename is None and file_of(full.value) == "/dev/full"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fifos and prctl of Linux")
def test_what_unpacks_a_kernel_ends_with_us(tmp_path: Path) -> None:
    """However this program ends; the archive has no end."""
    archive = tmp_path / "linux.tar"
    os.mkfifo(archive)
    (tmp_path / "tree").mkdir()
    text = (
        "import sys; from pathlib import Path; from emulation.setup.uml import unpack; unpack(*map(Path, sys.argv[1:]))"
    )
    command = [sys.executable, "-P", "-c", text, archive, tmp_path / "tree"]
    with subprocess.Popen(command, env=ENVIRONMENT) as ours:
        end = os.open(archive, os.O_WRONLY)  # waits until it reads
        ours.kill()
    gone = select.poll()
    gone.register(end, select.POLLERR)
    assert gone.poll() == [(end, select.POLLERR)]
    os.close(end)
