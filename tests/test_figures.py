# SPDX-License-Identifier: BSD-3-Clause
"""`figures RUN`: a run folder as pictures; and runs that draw at once."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
import sample_runs
from click.testing import CliRunner, Result

from analysis.results.result import Host
from analysis.results.result import Result as Runs
from emulation.cli.command import figure_options
from emulation.cli.main import cli
from emulation.files.foreign import Damaged


def folder(where: Path, name: str = "string", **changes: object) -> Path:
    """A run folder with only the result left."""
    runs = [run.model_copy(update=changes) for run in sample_runs.study()]
    where.mkdir(exist_ok=True)
    of = Runs(experiment=name, specification={}, runs=runs, host=Host(lane="virtual"))
    (where / "result.json").write_text(of.model_dump_json())
    return where


def invoke(*words: object) -> Result:
    return CliRunner().invoke(cli, ["figures", *map(str, words)], standalone_mode=False)


@pytest.mark.slow
def test_they_are_drawn_when_they_are_asked_for(tmp_path: Path) -> None:
    done = invoke(folder(tmp_path / "run"), "--figure-format", "svg", "--figure-format", "pdf", "--json")
    made = {Path(each["file"]).name: each["bytes"] for each in json.loads(done.stdout)}
    assert {*made} == {f"{name}.{form}" for name in ("goodput", "collisions") for form in ("svg", "pdf")}
    assert made == {name: (tmp_path / "run" / name).stat().st_size for name in made}
    assert invoke(tmp_path / "run", "--out", tmp_path / "there").exception is None
    assert (tmp_path / "there/goodput.png").read_bytes().startswith(b"\x89PNG")


def test_of_somebody_elses_folder(tmp_path: Path) -> None:
    """Names are text: no formula and no path. An existing link under a name stays."""
    strange = folder(tmp_path / "run", "$\\frac{ <b>", variant="$_{^\\oops$")
    (tmp_path / "mine").write_text("mine")
    (strange / "goodput.png").symlink_to(tmp_path / "mine")
    assert invoke(strange).exception is None
    assert (tmp_path / "mine").read_text() == "mine" and not (strange / "goodput.png").is_symlink()
    assert {file.name for file in tmp_path.iterdir()} == {"mine", "run"}


@pytest.mark.parametrize(("text", "error", "said"), [
    (None, click.UsageError, "figures need a whole run folder, with a result.json$"),
    ("[]", Damaged, "result.json"),
])  # fmt: skip
def test_what_cannot_be_drawn(text: str | None, error: type[Exception], said: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "result.json").write_text(text)
    with pytest.raises(error, match=said):
        raise invoke(tmp_path).exception or AssertionError("it was drawn")
    assert not [*tmp_path.glob("*.png")]


@pytest.mark.parametrize(("words", "formats"), [
    ([], ()),
    (["--figures"], ("png",)),
    (["--no-figures"], ()),
    (["--figure-format", "pdf"], ("pdf",)),
    (["--figure-format", "pdf", "--figures", "--figure-format", "svg"], ("pdf", "svg")),
    (["--figure-format", "pdf", "--no-figures"], ()),
])  # fmt: skip
def test_what_a_run_is_asked_to_draw(words: list[str], formats: tuple[str, ...]) -> None:
    """By default only the report; a format also requests figures."""
    asked: list[tuple[str, ...]] = []
    program = click.Command("run", params=[*figure_options()], callback=lambda formats: asked.append(formats))
    program.main(words, standalone_mode=False)
    assert asked == [formats]
