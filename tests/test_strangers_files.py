# SPDX-License-Identifier: BSD-3-Clause
"""Files in folders that others can write to, and reports of a lane, which programs in it can forge."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emulation import files
from emulation.lanes.virtual.reports import ALLOWED, parse

TRAPS: dict[str, Callable[[Path], None]] = {
    "device": lambda path: path.symlink_to("/dev/zero"),
    "elsewhere": lambda path: path.symlink_to("/etc/passwd"),
    "fifo": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "nothing": lambda path: path.symlink_to("never-made"),
}
SAID = {
    "barriers": {"barriers": ["seccomp"]}, "boot": {"boot": "done"}, "error": {"error": "no", "errno": 2},
    "exit": {"exit": -9}, "progress": {"progress": 0.5, "air_s": 60}, "prompt": {"prompt": "> "},
    "capture": {"capture": "a.pcapng", "run": "net1-1", "now_ns": 1}, "words": {"words": {"": ["help"]}},
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_only_a_plain_file_is_read(tmp_path: Path, trap: str) -> None:
    TRAPS[trap](tmp_path / "air.trace")
    for below in (None, tmp_path):
        with pytest.raises(OSError, match=r"air\.trace"):
            files.read(tmp_path / "air.trace", below)


def test_nothing_on_the_way_below_a_folder_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "file").write_text("read")
    (tmp_path / "link").symlink_to("run")
    assert files.read(tmp_path / "run" / "file", tmp_path) == b"read"
    with pytest.raises(OSError):
        files.read(tmp_path / "link" / "file", tmp_path)


def test_what_is_written_is_a_new_file(tmp_path: Path) -> None:
    precious, trap = tmp_path / "precious", tmp_path / "run.json.new"
    precious.write_text("mine")
    for make in (trap.symlink_to, trap.hardlink_to):
        make(precious)
        files.write(trap, "found")
        assert (trap.read_text(), precious.read_text()) == ("found", "mine")
        trap.unlink()
    trap.mkdir()
    with pytest.raises(OSError):
        files.write(trap, "found")


@pytest.mark.parametrize("content", ["[" * 200_000, "{", "\xff", ""])
def test_invalid_json_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "lane.json").write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=r"lane\.json"):
        files.read_json(tmp_path / "lane.json")


@pytest.mark.parametrize("verb", ALLOWED)
def test_each_verb_has_its_reports(verb: str) -> None:
    for name, said in SAID.items():
        if name in ALLOWED[verb]:
            assert parse(json.dumps(said), verb) == said
        else:
            with pytest.raises(ValueError):
                parse(json.dumps(said), verb)
    assert "prompt" not in ALLOWED["plan"]


@pytest.mark.parametrize(
    "said",
    [*("[" * 200_000, "[]", "{}", "7", '{"prompt": 7}', '{"prompt": null}', '{"words": {"": [7]}}', '{"words": 7}'),
     *('{"exit": 1e999}', '{"exit": 99999999}', '{"exit": -65}', '{"exit": "0"}', '{"barriers": [[]]}', '{"boot": []}'),
     '{"capture": "a", "run": "b", "now_ns": 99999999999999999999}', '{"capture": "a", "run": "b", "now_ns": -1}'],
)  # fmt: skip
def test_what_has_another_shape_is_no_report(said: str) -> None:
    with pytest.raises(ValueError):
        parse(said, "shell")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "1e13", "1" + "0" * 400, '"1"'])
def test_progress_is_an_amount(number: str) -> None:
    with pytest.raises(ValueError):
        parse(f'{{"progress": {number}, "air_s": 1}}', "plan")


def test_text_is_printable() -> None:
    said: Any = parse('{"prompt": "\\ud800\\u0000> "}', "shell")
    assert said["prompt"].encode() == b"\\ud800\\0> "
