# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package: its content runs where it was unpacked, and needs nothing of this machine's cache."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from rooms import needs

from emulation.lane.errors import Failure
from emulation.setup import (
    LOCK_FILE,
    ROOT,
    cache,
    deb,
    environment,
    kernel,
    package,
    prebuilt,
    sources,
    uml,
)
from emulation.setup.package import Kind

needs_git = pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="not a checkout of git")


LOADED = (
    "__pycache__",
    "annotated_types",
    "click",
    "isal",
    "markdown_it",
    "mdurl",
    "numpy",
    "pydantic",
    "pygments",
    "rich",
    "typing",
)


def out(*command: object) -> str:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


@pytest.fixture
def small_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the environment has what every run loads, and not the other 600 MB."""
    whole = environment.obtain(LOCK_FILE).parents[1]
    small = tmp_path_factory.mktemp("environment") / whole.name

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder).name == "site-packages" and not name.startswith(LOADED)]

    shutil.copytree(whole, small, symlinks=True, ignore=left_out)
    manifest = json.loads((small / cache.MANIFEST).read_text())
    manifest["files"] = {name: of for name, of in manifest["files"].items() if (small / name).exists()}
    (small / cache.MANIFEST).write_text(json.dumps(manifest))
    environment.move(small, whole, small)
    monkeypatch.setattr(environment, "obtain", lambda lock: small / "bin/python")


@needs_git
@pytest.mark.lane
@pytest.mark.usefixtures("small_environment")
def test_it_runs_where_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored hashes of its files are still right, and it uses its own kernel."""
    monkeypatch.setattr(deb, "QUICK", ["-Znone"])
    [built] = package.package(tmp_path, [Kind.DEB])
    said = out("dpkg-deb", "--field", built)
    assert "Package: dcflab" in said and "Depends: python3." in said and "wireless-regdb" in said
    out("dpkg-deb", "-x", built, tmp_path / "there")
    built.unlink()
    home = tmp_path / "there/usr/lib/dcflab"
    assert (tmp_path / "there/usr/bin/dcflab").resolve() == home / "dcflab"
    assert "section 3" in (home / "SOURCES.txt").read_text()
    assert not (home / "tests").exists() and not list(tmp_path.glob(f"{cache.SCRATCH}*"))
    before = {file: file.lstat().st_mtime_ns for file in home.rglob("*")}
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [tmp_path / "there/usr/bin/dcflab", "run", "string", "--seconds", "1", "--out", "run"]
    subprocess.run(command, cwd=tmp_path, env=variables, check=True, capture_output=True)
    assert (tmp_path / "run/result.json").exists()
    found = subprocess.run([command[0], "doctor", "--json"], env=variables, capture_output=True, text=True).stdout
    checks = {check["name"]: check for check in json.loads(found)}
    for what in ("environment", "kernel", "modules: dcf80211"):
        assert (
            checks[what]["detail"].startswith(f"{home}/cache/") and checks[what]["status"] == "ok"
        )  # to the last byte
    assert {file: file.lstat().st_mtime_ns for file in home.rglob("*")} == before


@needs("labs")
@needs_git
def test_students_get_no_answers() -> None:
    """Packages have the handouts, but not the page for instructors, nor the program that prints the right answers."""
    files = sources.files_of(ROOT)
    assert "labs/hidden_terminal/README.md" in files and "labs/instructor.md" not in files
    program = re.compile(rb"def right_answers|right_answers\(")
    assert program.search((ROOT / "tests/features/labs/right.py").read_bytes())
    assert [file for file in files if program.search((ROOT / file).read_bytes())] == []
    page = re.findall(r"^- .{40}", (ROOT / "labs/instructor.md").read_text(), re.MULTILINE)
    texts = [(file, (ROOT / file).read_text()) for file in files if file.endswith((".md", ".py", ".toml", ".ipynb"))]
    assert len(page) > 10 and [file for file, text in texts if any(line in text for line in page)] == []


def test_what_is_no_checkout_of_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="git failed"):
        sources.copy_checkout(tmp_path, tmp_path / "home")


def test_an_entry_says_where_it_will_be(tmp_path: Path) -> None:
    """Programs have their final paths; files have the oldest date of archives."""
    entry = tmp_path / "venv-python3.11-0"
    (entry / "bin").mkdir(parents=True)
    (entry / "bin/tool").write_text(f"#!{entry}/bin/python\n")
    (entry / "bin/python").symlink_to("/bin/sh")
    (entry / "manifest.json").write_text(json.dumps({"files": {"bin/tool": [0, 0, ""]}, "programs": ["bin/python"]}))
    (entry / "old").write_text("")
    os.utime(entry / "old", ns=(0, 1_500_000_000))
    deb.copy_entry(entry, tmp_path / "cache", "/usr/lib/dcflab/cache")
    moved = tmp_path / "cache" / entry.name
    assert (moved / "bin/tool").read_text() == f"#!/usr/lib/dcflab/cache/{entry.name}/bin/python\n"
    assert (moved / "old").stat().st_mtime_ns == 1_000_000_000
    assert cache.inspect(moved, thoroughly=True)[0] is cache.State.SOUND
    environment.move(moved, Path("/nowhere"), Path("/else"))
    assert cache.inspect(moved)[0] is cache.State.SOUND


@needs_git
@pytest.mark.lane
def test_a_kernel_goes_from_one_checkout_to_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one file with sources beside it, to a machine without compiler and Linux's archive."""
    monkeypatch.setattr(prebuilt, "COMPRESSION", 0)
    made, of = package.package(tmp_path, [Kind.KERNEL, Kind.SOURCES])
    with tarfile.open(of) as packed:
        names = packed.getnames()
    assert names[0].startswith("linux") and any(name.endswith("/emulation/kernel/uml.config") for name in names)
    with tarfile.open(made) as packed:
        note = packed.extractfile("SOURCES.txt")
        assert note and of.name in note.read().decode()
    variables = {**os.environ, "DCFLAB_CACHE": str(tmp_path / "cache"), "DCFLAB_KERNEL": str(made)}
    command = [sys.executable, "-P", "-m", "emulation", "run", "string", "--seconds", "1", "--no-figures"]
    subprocess.run([*command, "--out", tmp_path / "run"], env=variables, check=True, capture_output=True)
    assert cache.inspect(tmp_path / "cache" / prebuilt.kernel_of(made), thoroughly=True)[0] is cache.State.SOUND
    assert (tmp_path / "run/result.json").exists()


def test_a_kernel_that_was_not_built_here_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sources may differ from those of this machine."""
    monkeypatch.setattr(kernel, "obtain", lambda configuration: kernel.Kernel(tmp_path / "kernel-of-others"))
    with pytest.raises(Failure, match="was not built from the sources on this machine"):
        package.built_here(uml.CONFIGURATION)
