# SPDX-License-Identifier: BSD-3-Clause
"""`view`: the choice of the run, errors, and the reported path."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, look
from click.testing import CliRunner, Result
from command_line import ran
from rooms import needs
from sample_runs import NOBODY

from analysis.pages.packed import unpack
from analysis.pages.timeline.heard import hearing
from analysis.results.names import TIMELINE
from analysis.taps.aired import of_capture
from analysis.taps.phy import Medium
from analysis.traces.capture import read_file
from analysis.traces.trace import Kind
from emulation.cli.commands import view as command
from emulation.cli.main import cli
from emulation.files.foreign import Damaged
from emulation.lane.errors import Failure, Misuse
from emulation.play import view


def run_in(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, said in NOBODY.items():
            (folder / name / file).write_text(json.dumps(said))
    return folder


def invoke(*words: object) -> Result:
    return CliRunner().invoke(cli, ["view", *map(str, words)], standalone_mode=False)


def test_a_run_without_a_trace(tmp_path: Path) -> None:
    where = run_in(tmp_path, "full-1") / "full-1"
    with pytest.raises(Misuse, match="without --no-trace"):
        view.timeline_of(where)
    (where / "air.pcapng.gz").write_text("none")
    with pytest.raises(Damaged, match="not a pcapng"):
        view.timeline_of(where)


@pytest.mark.parametrize(("file", "text", "said"), [
    ("plan.json", "{", "full-1/plan.json: Expecting"),
    ("lane.json", "[" * 200_000, "full-1/lane.json: it is nested more than 50 deep"),
    ("lane.json", "[]", "full-1/lane.json: it must be a JSON object, not a list"),
    ("lane.json", "{}", "full-1/lane.json: air_s: Field required"),
])  # fmt: skip
@pytest.mark.parametrize("of", ["timeline", pytest.param("film", marks=needs("film"))])
def test_what_is_damaged_is_reported(of: str, file: str, text: str, said: str, tmp_path: Path) -> None:
    where = run_in(tmp_path, "full-1") / "full-1"
    (where / "air.pcapng.gz").write_bytes(b"")
    (where / file).write_text(text)
    made_of = view.timeline_of if of == "timeline" else importlib.import_module("emulation.features.film.runs").of_run
    with pytest.raises(Damaged) as failure:
        made_of(where)
    assert said in str(failure.value) and str(failure.value).count(str(tmp_path)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "has 2 runs; name one: "),
        (("full-1", "--perfetto", "a.txt"), "is not one of \\*.json, \\*.json.gz"),
        (("full-1", "--report"), "a report needs a whole run folder, with a result.json$"),
    ],
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


def test_the_report_links_to_the_timeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, linked = run_in(tmp_path, "full-1") / "full-1", []
    monkeypatch.setattr(view, "timeline_of", lambda where: where)
    monkeypatch.setattr(view, "write_timeline", lambda of, out: out.write_text("it"))
    monkeypatch.setattr("analysis.pages.report.link", lambda path, pages: linked.append((path, where / TIMELINE)))
    invoke(where, "--json")
    assert linked == [(tmp_path / "report.html", where / "timeline.html")] and linked[0][1].exists()


def test_half_a_page_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted write leaves no file that would later count as complete."""
    where = run_in(tmp_path, "full-1") / "full-1"

    def cut_short(of: Path, out: Path) -> None:
        out.write_text("<html>")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out))

    monkeypatch.setattr(view, "timeline_of", lambda where: where)
    monkeypatch.setattr(view, "write_timeline", cut_short)
    assert isinstance(invoke(where).exception, OSError)
    assert {path.name for path in where.iterdir()} == {"plan.json", "lane.json"}


def test_in_a_folder_of_somebody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = run_in(tmp_path, "full-1") / "full-1"

    def refused(*_: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/a/.half-1")

    monkeypatch.setattr(view, "timeline_of", lambda where: where)
    monkeypatch.setattr(tempfile, "mkdtemp", refused)
    error = invoke(where).exception
    assert isinstance(error, Failure) and str(error) == f"{where}: Permission denied; give another place with --out"


def test_without_a_display_its_path_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


VOICE = 12 + 160  # bytes of a datagram: RTP, and 20 ms of G.711
COUNTS = """
  await when(() => state.ready_ms);
  said.attempts = said.whole = 0;
  const { run } = state, slot = run.mac.slot;
  for (let row = 0; row < run.size; row++) {
    if (run.waited[row] < 0) continue;
    const last = backoffOf(run, run.from[row], row).pop(), rest = last ? (last.to - last.from) % slot : 0;
    said.attempts++;
    if (!last || last.what === "ifs" || (last.what === "count" && Math.min(rest, slot - rest) < 2000)) said.whole++;
  }
"""


@pytest.mark.lane
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_what_is_derived_of_backoff_agrees_with_the_air(tmp_path: Path) -> None:
    """A station sends at the end of a whole slot; so does the page's derivation, for nearly all attempts."""
    ran(tmp_path, "run", "string", "--stations", "4", "--rts", "full", "--seconds", "3", "--out", "run")
    view.write_timeline(view.timeline_of(tmp_path / "run/full-1"), tmp_path / "timeline.html")
    said = look((tmp_path / "timeline.html").read_text(), COUNTS, tmp_path)
    assert said["attempts"] > 500 and said["whole"] > 0.95 * said["attempts"]


@pytest.mark.lane
def test_a_report_that_is_gone_is_made_again(tmp_path: Path) -> None:
    """From the folder, with the same numbers."""
    ran(tmp_path, "run", "rts-cts", "--seconds", "1", "--out", "run")
    file = tmp_path / "run/report.html"
    before, curves = unpack(file.read_text())
    file.unlink()
    invoke(tmp_path / "run", "--json")
    after, again = unpack(file.read_text())
    alike = "tables", "claims", "charts", "settings", "runs", "title"
    assert {name: before[name] for name in alike} == {name: after[name] for name in alike}
    assert before["command"] == "./dcflab run rts-cts --seconds 1" and "replay" in after["command"]
    assert all((curves[name] == again[name]).all() or np.isnan(curves[name]).any() for name in curves)


@pytest.mark.lane
def test_stations_that_move(tmp_path: Path) -> None:
    """Who sensed a frame is known for its time: at least all that received it; delays are omitted. Datagrams belong to
    flows, too."""
    options = "mobile --stations 12 --vmax 20 --traffic voice --seconds 3 --out run"
    ran(tmp_path, "run", *options.split())
    [where] = [path.parent for path in tmp_path.glob("run/*/lane.json")]
    made = view.timeline_of(where)
    plan, lane = (json.loads((where / name).read_text()) for name in ("plan.json", "lane.json"))
    shown = read_file(where / "air.pcapng.gz")
    medium = Medium.of_plan(plan, lane["started_ns"])
    sensed, received = hearing(of_capture(shown, plan), plan, lane, medium, shown), made.masks[made.frames.received]
    mine = made.frames.flow == 0
    assert mine.any() and {*made.frames.payload[mine & (made.frames.kind == Kind.UDP)].tolist()} == {VOICE}
    assert made.delay_ns is None and made.views and sensed is not None
    assert received.any() and (received & ~sensed == 0).all() and (received != sensed).any()
