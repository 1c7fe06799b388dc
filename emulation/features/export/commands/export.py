# SPDX-License-Identifier: BSD-3-Clause
"""`export RUN`: write results as tables, flent files or pcapng files. The columns are in docs/columns.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emulation.cli.command import Command, another_place, as_json, size
from emulation.features.export import stations
from emulation.features.export.flent import SUFFIX, flent
from emulation.features.export.schema import TABLES
from emulation.files.foreign import reading
from emulation.lane.errors import Failure, Misuse

if TYPE_CHECKING:
    from emulation.features.export import Tables

RESULT, FLENT, PCAPNG, FOLDER = "result.json", "flent", "pcapng", "tables"
EMPTY_REASONS = {  # reasons why a table is empty
    "flows": "no application was a flow",
    "samples": "no run left samples of a flow",
    "frames": "no run left a frame in the air's trace",
    "tcp": "no run left a trace of a TCP flow",
    "routes": "no run had a routing protocol and left its trace",
    FLENT: "no run left samples of TCP flows",
    PCAPNG: "no run left what stations received; --views yes keeps it",
}
FILE_PER_RUN = {FLENT: SUFFIX, PCAPNG: stations.SUFFIX}  # a file for each run; the end of its name
SWEEP_HINT = "; a sweep keeps none: ./dcflab run leaves them"


def callback(run_folder: Path, to: str, out: Path | None, names: Sequence[str], as_json: bool) -> None:
    """Write the runs of a folder as tables, each a file for all runs: runs, options, flows, flows over time, frames,
    TCP senders, and routes. With --to flent or --to pcapng, write a file for each run instead: its flows over time, or
    what its stations received, with an interface per station."""
    if names and to in FILE_PER_RUN:
        raise Misuse(f"--table works only with tables; with --to {to}, each file has one run")
    check(run_folder)
    folder = out or run_folder / (to if to in FILE_PER_RUN else FOLDER)
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"--out: {folder} is not a folder")
    with another_place():
        found, missing = write(run_folder, folder, to, names or list(TABLES))
    if as_json:
        files = [{"table": name, "file": str(file), "rows": rows, "bytes": file.stat().st_size}
                 for name, file, rows in found]  # fmt: skip
        click.echo(json.dumps({"folder": str(folder), "files": files, "left_out": missing}, indent=1))
        return
    for _, file, rows in found:
        count = f"{rows:,} row{'s' * (rows != 1)}, " if rows else ""
        click.echo(f"{file}: {count}{size(file.stat().st_size)}")
    for name, why in missing.items():
        click.echo(f"no {name}: {why}")


def check(folder: Path) -> None:
    """Raises Misuse if this is no run folder, Failure if its runs are not finished."""
    if (folder / RESULT).is_file():
        return
    if any(folder.glob("*/plan.json")):
        raise Failure(f"{folder}: there is no {RESULT}: its runs are not finished; to continue them, run "
                      "the same command with --resume")  # fmt: skip
    hint = f"; that of {folder.parent} is meant?" if (folder.parent / RESULT).is_file() else ""
    raise Misuse(f"{folder}: only a whole run folder can be exported, with a {RESULT}{hint}")


def write(
    run_folder: Path, folder: Path, to: str, names: Sequence[str]
) -> tuple[list[tuple[str, Path, int]], dict[str, str]]:
    """Write the files. Return each one's name, path and rows; and what is empty, with the reason. Raises Damaged if a
    file is malformed, or OSError."""
    from emulation.features import export
    from emulation.files.whole import at_once

    tables = export.tables(run_folder)
    with at_once(folder) as partial_folder:
        if to in FILE_PER_RUN:
            made = write_runs(to, tables, partial_folder)
        else:
            made = write_tables(to, tables, partial_folder, names)
    found = [(name, folder / file, rows) for name, file, rows in made if rows is not None]
    for _, file, rows in made:
        if rows is None:
            (folder / file).unlink(missing_ok=True)  # of an earlier export
    empty = [name for name, _, rows in made if rows is None] if to not in FILE_PER_RUN else [] if found else [to]
    swept = not any(tables.kept(run) for run in tables.recorded.runs)
    return found, {name: EMPTY_REASONS[name] + SWEEP_HINT * (swept and name != "flows") for name in empty}


def write_tables(to: str, tables: Tables, folder: Path, names: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Write these tables to a folder. Return each one's name, file and rows; None for an empty one, which has no
    file."""
    from emulation.features.export.files import WRITERS

    made: list[tuple[str, str, int | None]] = []
    for name in names:
        file = f"{name}.{to}"
        rows = WRITERS[to](folder / file, tables.pieces(name)) or None
        if rows is None:
            (folder / file).unlink(missing_ok=True)
        made.append((name, file, rows))
    return made


def write_runs(to: str, tables: Tables, folder: Path) -> list[tuple[str, str, int | None]]:
    """Write a file for each run that has the data. Return the same, with 0 rows."""
    made: list[tuple[str, str, int | None]] = []
    for run in tables.recorded.runs:
        file = run.folder.name + FILE_PER_RUN[to]
        with reading(run.folder):
            if not tables.kept(run):
                written = False
            elif to == FLENT:
                content = flent(tables.recorded.result, run)
                written = bool(content and (folder / file).write_bytes(content))
            else:
                written = run.result.views is not None and stations.write(run.folder, folder / file)
        made.append((run.folder.name, file, 0 if written else None))
    return made


EXAMPLES = [
    "export runs/rts-cts-…",
    "export runs/rts-cts-… --to parquet --out tables",
    "export runs/rts-cts-… --table runs --table flows --json",
    "export runs/string-… --to flent",
    "export runs/string-… --to pcapng",
]
PARAMS = [
    click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path)),
    click.Option(["--to"], type=click.Choice(["csv", "parquet", *FILE_PER_RUN]), default="csv", show_default=True,
                 help="the format of the files"),
    click.Option(["--table", "names"], type=click.Choice(list(TABLES)), multiple=True,
                 help="only this one; repeat it for several  [default: all]"),
    click.Option(["--out"], type=click.Path(path_type=Path), metavar="DIR",
                 help="where  [default: tables, flent or pcapng, in the run folder]"),
    as_json("which files there are, with their rows and bytes, as JSON"),
]  # fmt: skip
GROUP = "Look"
COMMAND = Command("export", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
