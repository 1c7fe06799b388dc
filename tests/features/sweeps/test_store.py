# SPDX-License-Identifier: BSD-3-Clause
"""The store: results are found by their inputs, and the least recently used are removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_up import found, task

from emulation.cli.main import cli
from emulation.play.store import Store, key


def test_a_result_is_found_by_what_it_is_made_of(tmp_path: Path) -> None:
    """Without traces, which are not stored. Results of other inputs, or that no seed determines, are not found."""
    store = Store(tmp_path / "store")
    assert store.get({"plan": "1"}) is None
    store.put(found(1))
    store.put(found(2, repeatable=False))
    assert store.get({"plan": "1"}) == found(1).model_copy(update={"trace": None})
    assert store.get({"plan": "1", "kernel": "other"}) is None
    assert store.get({"plan": "2"}) is None
    assert store.size()[0] == 1


def test_a_damaged_result_is_not_there(tmp_path: Path) -> None:
    """Truncated, or with other content."""
    store = Store(tmp_path)
    store.put(found(1))
    [file] = tmp_path.glob("*/*.json.gz")
    whole = file.read_bytes()
    for damaged in (whole[:-9], b"", b"something else", whole[:20] + b"!!!!" + whole[24:]):
        file.write_bytes(damaged)
        assert store.get({"plan": "1"}) is None


@pytest.mark.parametrize("when", ["before", "after"])
def test_one_who_is_stopped_at_a_file_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Just before it is in place or just after; nothing else stays."""
    real = os.replace

    def stopped(*names: str) -> None:
        if when == "after":
            real(*names)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).put(found(1))
    left = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(left) == (when == "after")


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2, 3):
        store.put(found(seed))
        name = key({"plan": str(seed)})
        os.utime(tmp_path / name[:2] / f"{name[2:]}.json.gz", (seed, seed))
    assert store.get({"plan": "1"})  # used just now
    _, size = store.size()
    assert store.prune(size) == 0
    assert store.prune(size - 1) == 1
    assert [bool(store.get({"plan": str(seed)})) for seed in (1, 2, 3)] == [True, False, True]


def test_a_store_is_made_smaller(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2):
        store.put(found(seed))
    command = ["results", "--store", str(tmp_path)]
    assert "2 results, 0.0 MB: " in CliRunner().invoke(cli, command, prog_name="./dcflab").output
    said = CliRunner().invoke(cli, [*command, "--prune", "0"], prog_name="./dcflab").output
    assert said.startswith("2 results are removed\n0 results, ")


def test_what_runs_took_is_remembered(tmp_path: Path) -> None:
    """By their options, for any seed and duration; else by their size."""
    store, one = Store(tmp_path), task()
    assert store.cost(one) is None
    store.record_costs([(one, found(1))])  # 2 s for 10 s of air
    again = Store(tmp_path)
    assert again.cost(task(7, seconds=100)) == pytest.approx(20)
    assert again.cost(task(rts="full")) == pytest.approx(0.2)
    assert again.cost(task(stations=4)) is None
