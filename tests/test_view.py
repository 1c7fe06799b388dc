# SPDX-License-Identifier: BSD-3-Clause
"""`view`: which run, what cannot be looked at, and where it is said to be."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from emulation.cli import view as command
from emulation.cli.main import cli
from emulation.play import view
from emulation.play.errors import Failure, Misuse


def run_in(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "plan.json").write_text(json.dumps({"name": "string"}))
        (folder / name / "lane.json").write_text(json.dumps({"recorders": {}}))
    return folder


def invoke(*words: object) -> Result:
    return CliRunner().invoke(cli, ["view", *map(str, words)], standalone_mode=False)


def test_a_run_without_a_trace(tmp_path: Path) -> None:
    where = run_in(tmp_path, "full-1") / "full-1"
    with pytest.raises(Misuse, match="without --no-trace"):
        view.timeline_of(where)
    (where / "air.pcapng").write_text("none")
    with pytest.raises(Failure, match="not a pcapng"):
        view.timeline_of(where)


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "has 2 runs; name one: "), (("full-1", "--perfetto", "a.txt"), "is none of \\*.json, \\*.json.gz")],
)
def test_what_cannot_be(words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(tmp_path, "full-1", "none-1")
    monkeypatch.setattr(view, "timeline_of", lambda where: None)
    name, *rest = words or ("",)
    assert re.search(said, str(invoke(tmp_path / name, *rest).exception))


def test_it_is_made_once_and_again_if_it_is_older_than_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, made = run_in(tmp_path, "full-1") / "full-1", []
    monkeypatch.setattr(view, "timeline_of", lambda where: where)
    monkeypatch.setattr(view, "write_timeline", lambda of, out: made.append(out.write_text("it")))
    for _ in range(2):
        done = json.loads(invoke(tmp_path, "--json").stdout)
    assert done == {"file": str(where / "timeline.html"), "bytes": 2} and len(made) == 1
    later = (where / "timeline.html").stat().st_mtime + 1
    os.utime(where / "lane.json", (later, later))
    invoke(where, "--json")
    assert len(made) == 2


def test_without_a_display_its_path_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, opened = run_in(tmp_path, "full-1") / "full-1", []
    (where / "timeline.html").write_text("it")
    monkeypatch.setattr(command.shutil, "which", lambda name: None)
    monkeypatch.setattr(command.webbrowser, "open", lambda address: opened.append(address) or True)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert "open it in a browser" in invoke(where).stdout and not opened
    monkeypatch.setenv("DISPLAY", ":0")
    assert invoke(where).stdout == f"{where / 'timeline.html'}: 0.0 MB\n" and opened[0].startswith("file:///")
    invoke(where, "--no-open")
    assert len(opened) == 1
