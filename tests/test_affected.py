# SPDX-License-Identifier: BSD-3-Clause
"""Tests that a change can affect: all that reach it, and not all tests."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from affected import Reach, by_changes_since, changed_since, is_test
from rooms import needs

from emulation.lanes import CHECKOUT

pytestmark = pytest.mark.slow  # they build the graph of all imports
NOBODYS = "emulation/unheard" + "-of"  # as two words: this file does not name it either
GONE = "analysis/taps/unheard" + "_of.py"
ALWAYS = {
    "tests/test_docs.py",
    "tests/test_c_sources.py",
    "tests/test_house.py",
    "tests/test_quality.py",
    "tests/test_first_change.py",
}  # the tree


@cache
def reach() -> Reach:
    """It reads all files, so only the process that runs these tests makes it."""
    return Reach([GONE])


def touched(*changed: str) -> set[str]:
    tests, unknown = reach().tests(changed)
    assert not unknown
    return tests


@pytest.mark.parametrize(
    ("changed", "some", "none"),
    [
        pytest.param("emulation/features/film/page.py", {"features/film/test_film.py", "test_help.py"},
                     {"manet/test_dsr.py", "lane/test_golden.py"}, marks=needs("film")),
        pytest.param("emulation/features/live/page/map.js", {"features/live/test_page.py"},
                     {"features/film/test_film.py"}, marks=needs("film", "live")),
        ("emulation/dcf80211/core/access.c", {"core/test_ties.py", "analysis/test_observe.py", "lane/test_golden.py"},
         {"manet/test_dsr.py", "analysis/test_statistics.py"}),
        ("emulation/manet/core/dsr.c", {"manet/test_dsr.py", "lane/test_manet.py"}, {"core/test_timelines.py"}),
        ("tc_modules/tcp_cwl.c", {"modules/test_congestion_cwl.py", "lane/test_golden.py"},
         {"core/test_timelines.py", "manet/test_dsr.py"}),
        ("analysis/traces/native.c", {"analysis/test_pcapng.py", "lane/test_counts.py"}, {"core/test_ties.py"}),
        ("analysis/pages/timeline/draw.js", {"analysis/test_timeline.py", "test_view.py"}, {"core/test_ties.py"}),
        ("emulation/lane/routing/olsr.py", {"lane/test_routings.py", "lane/test_golden.py"}, {"core/test_ties.py"}),
        ("emulation/lane/guest.py", {"lane/test_golden.py", "modules/test_packets_sca.py"}, {"core/test_ties.py"}),
        pytest.param("emulation/features/check/inside/queues.py", {"features/check/test_workout.py"},
                     {"manet/test_dsr.py"}, marks=needs("check")),
        ("emulation/kernel/uml.config", {"lane/test_golden.py", "test_kernel_recipe.py"},
         {"analysis/test_statistics.py"}),
        ("experiments/rto.py", {"test_experiments.py"}, {"lane/test_golden.py", "core/test_ties.py"}),
        ("docs/studies.md", {"test_experiments.py"}, {"test_help.py", "lane/test_golden.py"}),
        pytest.param("labs/rts_cts_worth/README.md", {"features/labs/test_handouts.py"}, {"lane/test_golden.py"},
                     marks=needs("labs")),
        pytest.param("tests/lane/golden.json", {"lane/test_golden.py", "features/claims/test_record.py"},
                     {"core/test_ties.py"}, marks=needs("claims")),
        ("tests/core/dcf.py", {"core/test_ties.py", "analysis/test_observe.py"}, {"lane/test_golden.py"}),
        ("tests/core/fuzz.c", {"core/test_fuzz.py"}, {"lane/test_golden.py"}),
        pytest.param("tests/features/mininet/scripts/wired.py", {"features/mininet/test_scripts_of_mininet.py"},
                     {"test_help.py"}, marks=needs("mininet")),
        ("tests/modules/test_wire.py", {"modules/test_wire.py"}, {"modules/test_packets_sca.py"}),
    ],
)  # fmt: skip
def test_who_is_touched_and_who_is_not(changed: str, some: set[str], none: set[str]) -> None:
    assert (CHECKOUT / changed).is_file()
    tests = touched(changed)
    assert tests >= ALWAYS | {f"tests/{name}" for name in some}
    assert not tests & {f"tests/{name}" for name in none}
    assert all((CHECKOUT / f"tests/{name}").is_file() for name in some | none)


def test_each_file_of_tests_is_touched_by_itself() -> None:
    for file in reach().files.values():
        if is_test(file):
            assert touched(file) >= ALWAYS | {file}
    assert touched("tests/core/test_ties.py") == ALWAYS | {"tests/core/test_ties.py"}


@pytest.mark.parametrize("changed", ["pyproject.toml", "tests/conftest.py", NOBODYS])
def test_what_nobody_is_known_to_read_touches_all(changed: str) -> None:
    tests, unknown = reach().tests(["docs/studies.md", changed])
    assert unknown == {changed} and tests == {file for file in reach().files.values() if is_test(file)}


def test_who_imports_what_is_gone_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reach().tests([GONE])[1] == {GONE}  # nobody
    gone = f"{GONE[:-3].replace('/', '.')}@"
    monkeypatch.setitem(reach().reached_by, gone, {*reach().reached_by[gone], "tests.core.test_ties"})
    assert reach().tests([GONE]) == (ALWAYS | {"tests/core/test_ties.py"}, set())


def test_changes_are_those_of_a_branch_committed_or_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *arguments], cwd=tmp_path, env=os.environ | who, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)

    git("init", "-b", "main")
    (tmp_path / ".gitignore").write_text("ignored\n")
    commit("old")
    commit("gone")
    git("checkout", "-b", "topic")
    git("rm", "gone")
    commit("new ⚙")
    git("checkout", "main")
    commit("meanwhile")
    git("checkout", "topic")
    for name in ("old", "untracked", "ignored"):
        (tmp_path / name).write_text("changed")
    assert changed_since("main", tmp_path) == {"new ⚙", "gone", "old", "untracked", ".gitignore"}
    assert changed_since("HEAD", tmp_path) == {"old", "untracked", ".gitignore"}
    with pytest.raises(ValueError, match=r"no changes since nowhere: git merge-base says: .*nowhere"):
        changed_since("nowhere", tmp_path)


def test_what_was_found_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("affected.Reach", lambda gone: reach())
    monkeypatch.setattr("affected.changed_since", lambda base: {"docs/studies.md", NOBODYS})
    tests, said = by_changes_since("v1")
    assert len(tests) > 200
    assert said == (f"2 files have changed since v1; they can have touched {len(tests)} files of tests: all, as nobody "
                    f"is known to read {NOBODYS}")  # fmt: skip
