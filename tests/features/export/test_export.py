# SPDX-License-Identifier: BSD-3-Clause
"""Runs as tables: pandas and files get the results with their types, and docs/columns.md has each column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastparquet
import numpy as np
import pandas
import pytest
import sample_runs
from click import UsageError
from click.testing import CliRunner
from click.testing import Result as Done

from analysis.results.result import Host, Result
from emulation.cli.main import cli
from emulation.features import export
from emulation.features.export import results
from emulation.features.export.files import WRITERS
from emulation.features.export.flent import _aggregates
from emulation.features.export.frame import data_frame, option
from emulation.features.export.schema import TABLES, Column, Table, Type, page
from emulation.files.foreign import Damaged
from emulation.files.whole import at_once
from emulation.lane.errors import Failure

PAGE = Path(__file__).parents[3] / "docs/columns.md"
NAMES = {"who": ["a", "b"]}
TABLE = Table("t", "", (
    Column("seed", Type.INTEGER, ""), Column("who", Type.NAME, ""), Column("why", Type.TEXT, ""),
    Column("count", Type.OPTIONAL, ""), Column("rate", Type.NUMBER, ""), Column("on", Type.FLAG, ""),
))  # fmt: skip


def piece(first: int, rows: int) -> pandas.DataFrame:
    columns = {
        "seed": np.arange(first, first + rows), "who": np.arange(rows) % 3 - 1, "why": ["x, y", None, '"'][:rows],
        "count": np.array([-1, 2**40, 0])[:rows], "rate": np.array([np.nan, 0.1, 1e-9])[:rows],
        "on": np.arange(rows) > 0,
    }  # fmt: skip
    return data_frame(TABLE, columns, rows, NAMES)


def result() -> Result:
    runs = [
        run.model_copy(update={"changes": {"rts": run.variant, "queue": 10 * run.seed, "seed": run.seed}})
        for run in sample_runs.study(2)
    ]
    asked = {"version": 2, "network": {"topology": "string", "parameters": {"stations": 5}, "own": None},
             "radio": {"rts": "full", "queue": 10}, "measurement": {"seed": 1}}  # fmt: skip
    return Result(experiment="made-up", specification=asked, runs=runs, host=Host(lane="virtual"))


def folder_of(result: Result, folder: Path) -> Path:
    """Return a folder as a sweep leaves it: without the runs' traces."""
    folder.mkdir(exist_ok=True)
    (folder / "result.json").write_text(result.model_dump_json())
    return folder


def invoke(*words: object) -> Done:
    return CliRunner().invoke(cli, ["export", *map(str, words)], standalone_mode=False)


def test_the_page_has_each_column() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_no_table_has_a_column_twice(table: Table) -> None:
    assert len({column.name for column in table.columns}) == len(table.columns)


def test_a_piece_has_the_types_of_its_columns() -> None:
    found = piece(7, 3)
    assert found.dtypes.astype(str).tolist() == ["int64", "category", "str", "Int64", "float64", "bool"]
    assert found.isna().sum().to_dict() == {"seed": 0, "who": 1, "why": 1, "count": 1, "rate": 1, "on": 0}
    assert found.who.cat.categories.tolist() == NAMES["who"] and found["count"].sum() == 2**40


@pytest.mark.parametrize(
    ("values", "dtype", "first"),
    [
        ([10, 20], "int64", 10),
        ([None, 20], "Int64", pandas.NA),
        ([1, 2.5], "float64", 1.0),
        ([True, False], "bool", True),
        (["full", None], "str", "full"),
        ([["newreno", "sca"], ["sca"]], "str", "newreno,sca"),
        ([{"kind": "line", "speed": 5, "node": None}, None], "str", "kind=line,speed=5"),
        ([None, None], "str", np.nan),
    ],
)
def test_an_options_column_is_of_what_its_values_are(values: list[Any], dtype: str, first: Any) -> None:
    found = pandas.Series(option(values))
    assert str(found.dtype) == dtype and (found[0] is first or found[0] == first or found.isna().all())


def test_runs_options_and_flows_are_what_the_result_says(tmp_path: Path) -> None:
    said = result()
    found = export.tables(folder_of(said, tmp_path))
    runs = found.runs
    assert runs.run.tolist() == [run.folder for run in said.runs]
    assert runs.option_rts.tolist() == [run.variant for run in said.runs]
    assert runs.option_queue.tolist() == [10 * run.seed for run in said.runs] and "option_seed" not in runs
    assert runs.col_total.tolist() == [run.col.total for run in said.runs]
    assert runs.groupby(["case", "variant"]).goodput_kbps.mean().size == 3, "no key is missing"
    options = found.options[found.options.run == "partial-2"].set_index("option").value
    assert options.map(json.loads).to_dict() == {"topology": "string", "stations": 5, "rts": "partial", "queue": 20}
    flows = found.flows
    assert flows.delivered_bytes.tolist() == [run.flows[0].delivered_bytes for run in said.runs]
    assert flows.outcome.unique().tolist() == ["ran"] and flows.timeouts.isna().all()
    assert flows.merge(runs[["run", "option_queue"]], on="run").run.dtype == "category"
    for name in ("samples", "frames", "tcp", "routes"):
        empty = getattr(found, name)
        assert len(empty) == 0 and empty.columns.tolist() == [column.name for column in TABLES[name].columns]


def test_what_is_no_number_is_missing() -> None:
    [run] = result().runs[:1]
    assert results.follow(run.model_copy(update={"in_flight": None}), "in_flight.data") is None
    assert results.follow(run.model_copy(update={"goodput_kbps": float("nan")}), "goodput_kbps") is None


@pytest.mark.parametrize("to", WRITERS)
def test_pieces_become_one_file(to: str, tmp_path: Path) -> None:
    pieces = [piece(1, 3), piece(4, 2), piece(6, 3)]
    assert WRITERS[to](tmp_path / "t", iter(pieces)) == 8
    found = pandas.read_csv(tmp_path / "t") if to == "csv" else fastparquet.ParquetFile(str(tmp_path / "t")).to_pandas()
    whole = pandas.concat(pieces, ignore_index=True)
    pandas.testing.assert_frame_equal(found.astype(object).where(found.notna(), None),
                                      whole.astype(object).where(whole.notna(), None), check_dtype=False)  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["t"] and not WRITERS[to](tmp_path / "none", iter(()))


@pytest.mark.parametrize("error", [Damaged, KeyboardInterrupt])
@pytest.mark.parametrize("to", WRITERS)
def test_files_are_all_whole_or_those_before(to: str, error: type[BaseException], tmp_path: Path) -> None:
    """Also the first file, if the second cannot be written. No new folder stays."""

    def cut_short() -> Iterator[pandas.DataFrame]:
        yield piece(1, 3)
        raise error("cut short")

    def export_to(folder: Path) -> None:
        with at_once(folder) as half:
            WRITERS[to](half / "a", iter([piece(1, 3)]))
            WRITERS[to](half / "b", cut_short())

    (tmp_path / "a").write_text("before")
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(error):
            export_to(folder)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "before"}


def test_a_folder_is_in_a_files_place(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError) as refused, at_once(tmp_path) as half:
        (half / "a").touch()
        (half / "b").touch()
    assert refused.value.filename == str(tmp_path / "b") and [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_folder_that_cannot_be_written_is_named() -> None:
    """Not the temporary folder's name."""
    with pytest.raises(OSError, match=r"'/proc'$"), at_once(Path("/proc")):
        pytest.fail("nobody can make a folder there")


def test_a_table_that_has_become_empty_goes(tmp_path: Path) -> None:
    folder_of(result(), tmp_path)
    (tmp_path / "tables").mkdir()
    for name in ("frames.csv", "frames.parquet", "notes"):
        (tmp_path / "tables" / name).write_text("before")
    invoke(tmp_path)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {
        "runs.csv", "options.csv", "flows.csv", "frames.parquet", "notes"}  # fmt: skip


def test_what_was_left_is_reported(tmp_path: Path) -> None:
    said = json.loads(invoke(folder_of(result(), tmp_path), "--json").stdout)
    assert [(file["table"], file["rows"]) for file in said["files"]] == [("runs", 6), ("options", 24), ("flows", 6)]
    assert all(Path(file["file"]).stat().st_size == file["bytes"] for file in said["files"])
    assert said["left_out"].keys() == {"samples", "frames", "tcp", "routes"}
    assert "no frames: no run left a frame in the air's trace; a sweep keeps none" in invoke(tmp_path).stdout
    only = json.loads(
        invoke(tmp_path, "--to", "parquet", "--table", "runs", "--out", tmp_path / "a/b", "--json").stdout
    )
    assert [file["file"] for file in only["files"]] == [str(tmp_path / "a/b/runs.parquet")] and not only["left_out"]


@pytest.mark.parametrize(
    ("files", "words", "status", "said"),
    [
        ({"result.json": None}, (), 2, "only a whole run folder can be exported, with a result.json$"),
        ({"result.json": None, "full-1/plan.json": ""}, (), 1, "its runs are not finished"),
        ({"result.json": "{"}, (), 1, "result.json: Expecting"),
        ({"result.json": '{"version": 2}'}, (), 1, "result.json: it has version 2; this program reads version 3"),
        ({"result.json": '{"version": 3}'}, (), 1, "result.json: experiment: Field required"),
        ({"full-1/plan.json": "{}"}, (), 1, "full-1/lane.json: missing, though the run wrote it"),
        ({"full-1/plan.json": "{", "full-1/lane.json": "{}", "full-1/air.pcapng.gz": ""}, (), 1,
         "full-1/plan.json: Expecting"),
        ({"full-1/plan.json": json.dumps(sample_runs.NOBODY["plan.json"]), "full-1/lane.json": "{}",
          "full-1/air.pcapng.gz": ""},
         ("--table", "tcp"), 1, "full-1/lane.json: air_s: Field required"),
        ({}, ("--to", "flent", "--table", "runs"), 2, "--table works only with tables"),
        ({"file": ""}, ("--out", "file"), 2, "file is not a folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported(
    files: dict[str, str | None], words: tuple[str, ...], status: int, said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder_of(result().model_copy(update={"runs": result().runs[:1]}), tmp_path))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).unlink() if text is None else (tmp_path / name).write_text(text)
    error = invoke(tmp_path, *words).exception
    assert isinstance(error, (Damaged, Failure) if status == 1 else UsageError)
    assert re.search(said, str(error)) and "\n" not in str(error)


@pytest.mark.parametrize(("file", "text", "said"), [
    ("lane.json", None, "lane.json: missing, though the run wrote it"),
    ("plan.json", "{", "plan.json: Expecting"),
    ("plan.json", "[]", "plan.json: it must be a JSON object, not a list"),
    ("plan.json", "{}", "plan.json: name: Field required"),
])  # fmt: skip
@pytest.mark.parametrize("table", ["frames", "tcp"])
def test_damage_is_reported_for_the_run_that_has_it(
    table: str, file: str, text: str | None, said: str, tmp_path: Path
) -> None:
    """Only that run is named, once, though names come from all runs."""
    first, second = result().runs[:2]
    folder_of(result().model_copy(update={"runs": [first, second]}), tmp_path)
    for run in (first, second):
        (tmp_path / run.folder).mkdir()
        for name, whole in sample_runs.NOBODY.items():
            (tmp_path / run.folder / name).write_text(json.dumps(whole))
        (tmp_path / run.folder / "air.pcapng.gz").touch()
        (tmp_path / run.folder / "tcp.trace").touch()
    damaged = tmp_path / second.folder / file
    damaged.unlink() if text is None else damaged.write_text(text)
    told = str(invoke(tmp_path, "--table", table).exception)
    assert told.startswith(f"{tmp_path / second.folder}") and said in told
    assert told.count(str(tmp_path)) == 1 and not (tmp_path / "tables").exists()


def test_flents_sum_mean_and_fairness() -> None:
    """Over the flows that have a rate in a step; Jain's index of one flow is 1."""
    found = _aggregates([np.array([1.0, 3.0, np.nan]), np.array([3.0, np.nan, np.nan])])
    assert found == {
        "TCP upload sum": [4.0, 3.0, None], "TCP upload avg": [2.0, 3.0, None],
        "TCP upload fairness": [0.8, 1.0, None],
    }  # fmt: skip
