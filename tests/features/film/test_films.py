# SPDX-License-Identifier: BSD-3-Clause
"""Films from run folders: ranges of stations, the choice of the run, and errors."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from sample_runs import NOBODY

from analysis.pages.packed import pack, unpack
from emulation.cli.main import cli
from emulation.features.film import runs as film
from emulation.files.foreign import Damaged
from emulation.lane.errors import Misuse
from emulation.play import view
from emulation.specification import specify
from emulation.specification.propagation import NS2_POWER_DBM
from topologies import Network


def test_how_far_stations_reach() -> None:
    """250 m of ns-2; farther with more power under two-ray ground; a disc's radius; none under a matrix."""
    assert film.reach_m(specify("string", {"stations": 3})) == [pytest.approx(250, abs=0.02)] * 3
    own = Network.model_validate({"nodes": {"a": {"settings": {"tx_power_dbm": NS2_POWER_DBM + 10}}, "b": {}}})
    strong, usual = film.reach_m(specify(own, {})) or ()
    assert strong / usual == pytest.approx(10 ** (10 / 40))
    assert film.reach_m(specify("string", {"propagation": "disc,radius_m=80"}))[0] == pytest.approx(80)  # type: ignore[index]
    matrix = {"model": "snr", "snr_db": [[None, 9], [9, None]]}
    assert film.reach_m(specify("string", {"stations": 2, "propagation": matrix})) is None


def run_in(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, said in NOBODY.items():
            (folder / name / file).write_text(json.dumps(said))


def test_which_run(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no run in it"):
        view.runs_of(tmp_path)
    run_in(tmp_path, "full-1", "none-1")
    assert view.runs_of(tmp_path) == [tmp_path / "full-1", tmp_path / "none-1"]
    assert view.runs_of(tmp_path / "full-1") == [tmp_path / "full-1"]


def test_a_run_without_a_trace(tmp_path: Path) -> None:
    run_in(tmp_path, "full-1")
    with pytest.raises(Misuse, match="without --no-trace"):
        film.of_run(tmp_path / "full-1")
    (tmp_path / "full-1" / "air.pcapng.gz").write_text("none")
    with pytest.raises(Damaged, match="not a pcapng"):
        film.of_run(tmp_path / "full-1")


@pytest.mark.parametrize(
    ("at_s", "out", "said"),
    [
        (7.0, "a.svg", "from 0 s to 6 s; 7 s is not in it"),
        (-1.0, "a.svg", "not in it"),
        (1.0, "a.html", "is not one of"),
    ],
)
def test_a_moment_that_is_not_in_it(at_s: float, out: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        film.write_still(SimpleNamespace(seconds=6.0), at_s, Path(out))  # type: ignore[arg-type]


def test_the_report_links_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that was written before gets the link; a picture changes nothing."""
    run_in(tmp_path, "full-1")
    report = tmp_path / "report.html"
    data = pack({"runs": [{"folder": "full-1", "left": ["."]}]}, {})
    report.write_text(f'<script id="data" type="text/plain">{b64encode(data).decode()}</script>')
    before = report.read_text()
    monkeypatch.setattr(film, "of_run", lambda where, trust: SimpleNamespace(seconds=6.0))
    monkeypatch.setattr(film, "write", lambda made, out: out.write_text("it"))
    monkeypatch.setattr(film, "write_still", lambda made, at_s, out, ranges: out.write_text("it"))
    for words, left in (["--at", "1"], ["."]), ([], ["film.html", "."]):
        done = CliRunner().invoke(cli, ["film", str(tmp_path), *words], catch_exceptions=False)
        assert done.exit_code == 0 and unpack(report.read_text())[0]["runs"][0]["left"] == left
    report.write_text("mine")
    assert CliRunner().invoke(cli, ["film", str(tmp_path)]).exit_code == 0 and report.read_text() == "mine" != before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["film", "RUNS"], "has 2 runs; name one: "),
        (["film", "RUNS/full-1", "--no-ranges"], "for a picture, with --at"),
        (["run", "string", "--no-trace", "--film"], "leave out --no-trace"),
    ],
)
def test_what_cannot_be(arguments: list[str], said: str, tmp_path: Path) -> None:
    run_in(tmp_path, "full-1", "none-1")
    done = CliRunner().invoke(cli, [each.replace("RUNS", str(tmp_path)) for each in arguments], standalone_mode=False)
    assert done.exception is not None and said in str(done.exception)
