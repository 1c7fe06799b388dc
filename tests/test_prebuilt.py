# SPDX-License-Identifier: BSD-3-Clause
"""A prebuilt kernel is used only if its recipe is the checkout's and it is complete, and is unpacked only into the
cache."""

from __future__ import annotations

import io
import json
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import emulation.setup
from emulation.lane.errors import Failure
from emulation.setup import cache, doctor, kernel, prebuilt, uml

RECIPE = kernel.recipe_key(uml.CONFIGURATION)
KERNEL, OTHER = f"kernel-{RECIPE}-0123456789abcdef", "kernel-0123456789abcdef-0123456789abcdef"
MODULE = "modules-air-0123456789abcdef"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prebuilt kernel in a folder, and an empty cache for its user."""
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "builder"))
    monkeypatch.setattr(cache, "SPACE", 0)

    def build(folder: Path) -> list[str]:
        (folder / "scripts").mkdir()
        (folder / "linux").write_bytes(os.urandom(100_000))
        (folder / "linux").chmod(0o700)
        (folder / "scripts/a b").write_text("x")
        (folder / "scripts/link").symlink_to("/etc/passwd")
        return ["linux"]

    def module(folder: Path) -> list[str]:
        (folder / "air.ko").write_text("module")
        return ["air.ko"]

    entries = [cache.obtain(KERNEL, build), cache.obtain(MODULE, module)]
    (tmp_path / "out").mkdir()
    file = prebuilt.pack(entries, tmp_path / "out", "where the sources are")
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "taker"))
    monkeypatch.setenv(prebuilt.VARIABLE, str(file))
    return file


def test_what_is_taken_is_what_was_built(made: Path, tmp_path: Path) -> None:
    assert [path.name for path in made.parent.iterdir()] == [f"dcflab-{KERNEL}.tar.xz"]
    assert prebuilt.find_file(RECIPE) == made and kernel.find() is None
    prebuilt.unpack_into_cache(made)
    found = kernel.find()
    assert found and found.folder == tmp_path / "taker" / KERNEL
    assert cache.inspect(found.folder, thoroughly=True) == (cache.State.SOUND, "")
    assert found.linux.read_bytes() == (tmp_path / "builder" / KERNEL / "linux").read_bytes()
    assert found.linux.stat().st_mode & 0o777 == 0o755 and (found.folder / "scripts/a b").stat().st_mode & 0o111 == 0
    assert not os.path.lexists(found.folder / "scripts/link")
    assert cache.find(MODULE)
    prebuilt.unpack_into_cache(made)  # there is nothing left to do


def test_it_comes_before_what_was_built_here(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "name", lambda configuration: f"kernel-{RECIPE}-fedcba9876543210")
    (folder := cache.roots()[-1]).mkdir()
    (folder / "file").touch()
    cache.obtain(f"kernel-{RECIPE}-fedcba9876543210", lambda folder: (folder / "linux").touch() or ["linux"])
    prebuilt.unpack_into_cache(made)
    found = kernel.find()
    assert found and found.key == KERNEL


def test_it_may_lie_in_a_folder_or_in_the_checkout(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(prebuilt.VARIABLE, str(made.parent))
    (made.parent / f"dcflab-{OTHER}.tar.xz").touch()
    (made.parent / f"dcflab-{KERNEL}-sources.tar").touch()
    assert prebuilt.find_file(RECIPE) == made
    monkeypatch.delenv(prebuilt.VARIABLE)
    assert prebuilt.find_file(RECIPE) is None
    monkeypatch.setattr(prebuilt, "CHECKOUT", made.parent)
    assert prebuilt.find_file(RECIPE) == made


def test_that_of_another_version_is_refused(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is an error if named; otherwise the kernel is built."""
    other = made.rename(made.with_name(f"dcflab-{OTHER}.tar.xz"))
    monkeypatch.setenv(prebuilt.VARIABLE, str(other))
    with pytest.raises(Failure, match=f"its kernel is not the one of this checkout, whose recipe is {RECIPE}"):
        emulation.setup.find_or_take(uml.CONFIGURATION)
    checks = {check.name: check for check in doctor.caches()}
    assert checks["prebuilt kernel"].status is doctor.Status.BROKEN
    monkeypatch.delenv(prebuilt.VARIABLE)
    monkeypatch.setattr(prebuilt, "CHECKOUT", other.parent)
    assert emulation.setup.find_or_take(uml.CONFIGURATION) is None
    assert "is not the one of this checkout" in capsys.readouterr().err
    lying = other.rename(made)  # its name says one thing, its head another
    prebuilt.unpack_into_cache(lying)


@pytest.mark.parametrize("named", ["nowhere", "", "my.tar.xz"])
def test_what_is_no_prebuilt_kernel_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    (folder := made.parent / "other").mkdir()
    (folder / "my.tar.xz").touch()
    monkeypatch.setenv(prebuilt.VARIABLE, str(folder / named))
    with pytest.raises(Failure, match=r"neither a prebuilt kernel|the name of a prebuilt kernel is"):
        emulation.setup.find_or_take(uml.CONFIGURATION)


def rewritten(file: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]) -> None:
    """Write the file again with changed members."""
    with tarfile.open(file) as packed:
        members = [(each, opened.read() if (opened := packed.extractfile(each)) else b"") for each in packed]
    change(members)
    with tarfile.open(file, "w:xz") as packed:
        for each, content in members:
            each.size = len(content)
            packed.addfile(each, io.BytesIO(content))


def renamed(name: str) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]:
    return lambda members: setattr(members[-1][0], "name", name)


def linked(kind: bytes) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        about = tarfile.TarInfo(f"{KERNEL}/etc")
        about.type, about.linkname = kind, "/etc"
        members.insert(-1, (about, b""))

    return change


def headed(**said: object) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members[0] = members[0][0], json.dumps({**json.loads(members[0][1]), **said}).encode()

    return change


WRONG = [
    renamed(f"{KERNEL}/../../outside"),
    renamed(f"{KERNEL}//tmp/outside"),
    renamed(f"{KERNEL}/./linux"),
    linked(tarfile.SYMTYPE),
    linked(tarfile.LNKTYPE),
    linked(tarfile.CHRTYPE),
    linked(tarfile.DIRTYPE),
    lambda members: members.pop(),
    lambda members: members.pop(0),
    lambda members: members.append(members[-1]),  # the same again
    lambda members: members.__setitem__(-1, (members[-1][0], b"something else")),
    headed(version=2),
    headed(entries={}),
    headed(entries={KERNEL: {"files": ["../../outside"], "tree": ""}}),
    headed(entries={"venv-python3.11-0123456789abcdef": {"files": [], "tree": ""}, KERNEL: {"files": [], "tree": ""}}),
    headed(entries={"modules-a/../../b": {"files": [], "tree": ""}}),
    headed(entries=[]),
    headed(entries={KERNEL: {"files": 3, "tree": ""}}),
]


@pytest.mark.parametrize("change", WRONG)
def test_what_leads_elsewhere_or_is_not_as_announced_is_refused(
    made: Path, tmp_path: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]
) -> None:
    taker = tmp_path / "taker"
    before = {*tmp_path.rglob("*"), taker}
    rewritten(made, change)
    with pytest.raises(Failure, match="is damaged, or not a prebuilt kernel"):
        prebuilt.unpack_into_cache(made)
    assert not cache.find(KERNEL) and not list(taker.glob("[!lm]*"))
    assert {path for path in tmp_path.rglob("*") if taker not in path.parents} <= before


def test_what_is_too_large_is_not_unpacked(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt, "LIMIT", 1000)
    with pytest.raises(Failure, match="too large"):
        prebuilt.unpack_into_cache(made)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other", "gone"])
def test_a_damaged_file_is_refused(made: Path, damage: str) -> None:
    content = made.read_bytes()
    half = len(content) // 2
    flipped = content[:half] + bytes([content[half] ^ 255]) + content[half + 1 :]
    other = lzma.compress(b"x" * 3000)
    made.write_bytes({"cut": content[:half], "changed": flipped, "empty": b"", "other": other}.get(damage, content))
    if damage == "gone":
        made.unlink()
    with pytest.raises(Failure, match=r"is damaged, or not a prebuilt kernel|No such file"):
        prebuilt.unpack_into_cache(made)
    assert not cache.find(KERNEL)
