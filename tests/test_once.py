# SPDX-License-Identifier: BSD-3-Clause
"""Builds and checks of tests that are kept: what changed is compiled and checked again, and a failure always."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import once
import pytest
import user_space

from emulation.setup import cache

pytestmark = pytest.mark.usefixtures("own_cache")


def test_a_check_is_made_again_if_a_part_changed_or_it_failed() -> None:
    made = []

    def fails() -> None:
        made.append("failed")
        raise AssertionError

    for _ in range(2):
        with pytest.raises(AssertionError):
            once.check("one", fails, "a", "b")
    for parts in (("a", "b"), ("a", "b"), ("ab", ""), ("a", "c"), ("a", "b", "c"), ("a", "b")):
        once.check("one", lambda: made.append("passed"), *parts)
    assert made == ["failed"] * 2 + ["passed"] * 4


def test_the_least_recently_used_are_removed() -> None:
    """So that new ones have room. What others built in the cache stays."""
    passed = []

    def check(name: str) -> None:
        once.check("one", lambda: passed.append(name), name)

    for name in ("first", "second", "first", "third"):
        check(name)
    (root,) = cache.roots()
    other = cache.obtain("modules-0", lambda folder: [])
    oldest, *_, latest = sorted(root.glob("tests.*"), key=lambda entry: entry.stat().st_mtime_ns)
    once.prune(2 * sum(file.stat().st_size for file in latest.iterdir()))
    assert len([*root.glob("tests.*")]) == 2 and not oldest.exists() and other.exists()
    for name in ("first", "third", "second"):
        check(name)
    assert passed == ["first", "second", "third", "second"]


def test_a_changed_header_is_compiled_and_one_that_is_not_hashed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (once, user_space):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    source, beside = tmp_path / "source", tmp_path / "beside"
    for folder in (source, beside):
        folder.mkdir()
    (source / "it.c").write_text('#include "it.h"\n#include "../beside/other.h"\nint it(void) { return IT + OTHER; }\n')
    (beside / "other.h").write_text("#define OTHER 30\n")

    def it(*folders: Path) -> int:
        built = user_space.kept("it.so", user_space.library("NEVER_SET"), [source / "it.c"], folders)
        return int(ctypes.CDLL(str(built)).it())

    for number in (1, 2):
        (source / "it.h").write_text(f"#define IT {number}\n")
        assert it(source, beside) == 30 + number
    with pytest.raises(AssertionError, match=r"it\.so is kept by a hash without \['source/\.\./beside/other\.h'\]"):
        it(source)
    (source / "it.h").write_text("#define IT no number\n")
    with pytest.raises(subprocess.CalledProcessError):
        it(source, beside)
