# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: pip installs it without a network. A run needs no compiler, does not write to the installation, and equals
the checkout's."""

from __future__ import annotations

import email
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

import emulation.setup
from emulation.lane.errors import Failure
from emulation.play.traces import TRACE
from emulation.setup import ROOT, doctor, environment, package, prebuilt, wheel
from emulation.setup.package import Kind

needs_git = pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="not a checkout of git")
RUN = ["run", "string", "--seconds", "1", "--out"]
WITHOUT = ("distributed", "fastparquet", "matplotlib", "pandas", "scapy")
IMPORTED = (
    "import dcflab, sys; assert 'numpy' not in sys.modules; print(dcflab.load('run').recorded.runs[0].result.col)"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prebuilt, "COMPRESSION", 0)
        [made] = package.package(tmp_path_factory.mktemp("wheel"), [Kind.WHEEL])
    return made


@needs_git
@pytest.mark.lane
def test_it_runs_where_pip_installs_it(built: Path, tmp_path: Path) -> None:
    """With the required packages alone; it uses this machine's Python, and no other path."""
    there, without = tmp_path / "a b", tmp_path / "without"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", there, built]
    subprocess.run(command, check=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    assert "section 3" in (there / wheel.HOME / "SOURCES.txt").read_text()
    assert not (there / wheel.HOME / "tests").exists() and not list((there / wheel.HOME).glob("*.lock"))
    before = {file: file.lstat().st_mtime_ns for file in there.rglob("*")}
    without.mkdir()
    for name in WITHOUT:
        (without / f"{name}.py").write_text("raise ImportError(__name__)\n")
    variables = {"PATH": str(without), "DCFLAB_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    variables |= {"PYTHONPATH": f"{without}:{there}"}
    done = subprocess.run([there / "bin/dcflab", *RUN, "run"], cwd=tmp_path, env=variables, capture_output=True)
    assert done.returncode == 0, done.stderr
    here = [sys.executable, "-P", "-m", "emulation", *RUN, tmp_path / "checkout"]
    subprocess.run(here, check=True, capture_output=True)
    mine, theirs = ((tmp_path / name / "none-1" / TRACE).read_bytes() for name in ("run", "checkout"))
    assert mine == theirs
    said = subprocess.run([sys.executable, "-P", "-c", IMPORTED], cwd=tmp_path, env=variables, capture_output=True)
    assert said.stdout.startswith(b"rtscts="), said.stderr
    assert {file: file.lstat().st_mtime_ns for file in there.rglob("*")} == before
    assert list((tmp_path / "cache").glob("kernel-*"))


@needs_git
@pytest.mark.lane
def test_it_is_a_wheel(built: Path) -> None:
    """Name, metadata and file list follow the specifications."""
    name, version, _, [tag] = parse_wheel_filename(built.name)
    assert (name, tag.interpreter, tag.abi) == ("dcflab", "py3", "none")
    assert tag.platform.startswith("manylinux_2_") and tag.platform.endswith("_x86_64")
    with zipfile.ZipFile(built) as packed:
        contents = {each.filename: packed.read(each) for each in packed.infolist()}
        assert {each.date_time[0] for each in packed.infolist()} == {1980}
    [about] = (place for place in contents if place.endswith(".dist-info/METADATA"))
    told = Metadata.from_email(contents[about], validate=True)
    assert (told.name, told.version, told.requires_python) == ("dcflab", version, ">=3.11")
    assert not {each.name for each in told.requires_dist or () if each.marker is None} & {*WITHOUT}
    assert {each.name for each in told.requires_dist or () if each.marker} == {*WITHOUT}
    assert all(f"{Path(about).parent}/licenses/{file}" in contents for file in told.license_files or ())
    assert email.message_from_bytes(contents[about.replace("METADATA", "WHEEL")])["Tag"] == str(tag)
    record = about.replace("METADATA", "RECORD")
    rows = [row.split(",") for row in contents[record].decode().splitlines()]
    assert [place for place, *_ in rows] == list(contents)
    for place, said, size in rows:
        sound = [f"sha256={wheel.digest(contents[place])}", str(len(contents[place]))]
        assert [said, size] == (["", ""] if place == record else sound)


@pytest.mark.slow
@needs_git
@pytest.mark.lane
def test_one_commit_makes_the_same_bytes(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt, "COMPRESSION", 0)
    again, of_kernel = package.package(tmp_path, [Kind.WHEEL, Kind.KERNEL])
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(built.read_bytes()).digest()
    with zipfile.ZipFile(again) as packed:
        assert packed.read(f"{wheel.HOME}/{of_kernel.name}") == of_kernel.read_bytes()


def test_what_the_built_programs_ask_of_glibc_is_found(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"\x7fELF\0GLIBC_2.4\0GLIBC_2.17\0")
    (tmp_path / "text").write_bytes(b"GLIBC_2.99\0")
    assert wheel.oldest_glibc([tmp_path]) == 17


def test_what_it_requires_is_in_the_lock() -> None:
    """In versions that it allows: the tests pass with these."""
    pinned = dict(line.split(" ")[0].split("==") for line in environment_lock() if line[:1].isalnum())
    for each in map(Requirement, environment.requirements(emulation.setup.LOCK_FILE)):
        assert pinned[each.name] in each.specifier and each.specifier, each


def environment_lock() -> list[str]:
    return emulation.setup.LOCK_FILE.read_text().splitlines()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As in a wheel, without lock files and with a missing package."""
    project = 'dependencies = ["click>=8"]\noptional-dependencies.all = ["no-such_package>=2,<3"]\n'
    (tmp_path / "pyproject.toml").write_text(f"[project]\n{project}")
    for module in (emulation.setup, doctor):
        for name in ("LOCK_FILE", "RUN_LOCK_FILE"):
            monkeypatch.setattr(module, name, tmp_path / getattr(module, name).name)
    return tmp_path


def test_a_package_that_is_not_there_is_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it, also in uv's environments; other errors are passed on."""
    with pytest.raises(SystemExit, match=r"needs no-such_package.*\n  .*-m pip install 'no-such_package>=2,<3'"):
        emulation.setup.repair_environment(thoroughly=True, missing_module="no-such_package.inside")
    emulation.setup.repair_environment()
    emulation.setup.repair_environment(thoroughly=True, missing_module="click.inside")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert environment.pip(["a>1"]) == f"uv pip install --python {sys.executable} 'a>1'"


def test_it_makes_no_environment(installed: Path) -> None:
    with pytest.raises(Failure, match="run this in a checkout"):
        emulation.setup.prepare_environment()


def test_the_doctor_looks_at_the_environment_as_it_is(installed: Path) -> None:
    found = {check.name: check for check in doctor.python()}["environment"]
    assert found.status is doctor.Status.HINT and "no-such_package" in found.detail and "pip install" in found.fix
