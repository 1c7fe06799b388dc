# SPDX-License-Identifier: BSD-3-Clause
"""Tables of real runs: they agree with the air's counters, with Scapy, with the summaries, and with flent."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import types
from pathlib import Path

import fastparquet
import pandas
import pytest
from command_line import ran

from emulation.features import export
from emulation.features.export import Tables

pytestmark = pytest.mark.lane


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("export")
    ran(where, "run", "string", "--stations", "5", "--seconds", "4", "--vary", "rts=none,full", "--routing", "aodv",
        "--flows", "2", "--out", "run")  # fmt: skip
    return where


@pytest.fixture(scope="module")
def found(place: Path) -> Tables:
    return export.tables(place / "run")


@pytest.mark.quick
def test_frames_are_counted_as_the_air_counts_them(found: Tables) -> None:
    frames = found.frames
    assert set(frames.run) == {"rts-none-1", "rts-full-1"} == {run.result.folder for run in found.recorded.runs}
    for run in found.recorded.runs:
        mine = frames[frames.run == run.result.folder]
        sent = mine.kind.value_counts()
        counted = [station.counters["tx"] for station in run.result.stations]
        assert {kind: int(n) for kind, n in sent.items() if n} == {
            kind: total for kind in sent.index if (total := sum(tx.get(kind, 0) for tx in counted))
        }  # fmt: skip
        spoilt = mine[mine.outcome.isin(["collision", "own_tx"])]
        assert spoilt.kind.isin(["rts", "cts"]).sum() == run.result.col.rtscts
        assert (spoilt.kind == "tcp_data").sum() == run.result.col.data > 0
        assert (mine.given_up == "rts_limit").sum() == run.result.fail.rtscts
        assert mine.frame.tolist() == list(range(1, len(mine) + 1)) and mine.time_ns.is_monotonic_increasing


def test_culprits_were_on_the_air_meanwhile(found: Tables) -> None:
    """They were sent by the named station; earlier attempts have the same sender."""
    frames = found.frames.set_index(["run", "frame"])
    spoilt = frames[frames.culprit_frame.notna()].reset_index()
    by = frames.loc[list(zip(spoilt.run, spoilt.culprit_frame, strict=True))].reset_index()
    assert len(spoilt) > 50 and (by.sender == spoilt.culprit).all()
    assert ((by.time_ns < spoilt.time_ns + spoilt.duration_ns + 10_000)
            & (spoilt.time_ns < by.time_ns + by.duration_ns + 10_000)).all()  # fmt: skip
    later = frames[frames.previous_frame.notna() & ~frames.kind.isin(["cts", "ack"])].reset_index()
    before = frames.loc[list(zip(later.run, later.previous_frame, strict=True))].reset_index()
    assert (before.sender == later.sender).all() and (later.queued_ns > before.queued_ns).all()


def test_frames_are_as_scapy_reads_them(found: Tables) -> None:
    run = found.recorded["rts-full-1"]
    mine = found.frames[found.frames.run == "rts-full-1"]
    count = 0
    for frame, row in zip(itertools.islice(run.frames(), 300), mine.itertuples(), strict=False):
        count += 1
        assert frame.kind.name.lower() == row.kind
        assert frame.attempt == (None if pandas.isna(row.attempt) else row.attempt)
        said = None if frame.outcome is None else frame.outcome.name.lower()
        assert said == (None if pandas.isna(row.outcome) else row.outcome)
        if row.outcome == "collision":
            assert (frame.culprit or "").partition(" ")[0] == row.culprit
        queued = None if pandas.isna(row.queued_ns) else row.queued_ns
        assert queued == (None if frame.queued_s is None else round(frame.queued_s * 1e9))
        assert bool(frame.FCfield.retry) == row.retry
        if frame.haslayer("TCP") and row.flow == "flow1":
            assert row.tcp_flags == "".join(flag for flag in "FSRPAU" if flag in str(frame["TCP"].flags))
    assert count == 300


def test_samples_tcp_and_routes_agree_with_the_summaries(found: Tables) -> None:
    flows = found.flows.set_index(["run", "flow"])
    assert len(flows) == 4
    last = found.samples.groupby(["run", "flow"], observed=True).last()
    held = found.tcp.assign(ns=found.tcp.until_ns - found.tcp.time_ns)
    assert (held.ns > 0).all()
    for name, flow in flows.iterrows():
        assert last.loc[name].delivered_bytes == flow.delivered_bytes
        mine = held[(held.run == name[0]) & (held.flow == name[1])]
        assert (mine.cwnd_segments * mine.ns).sum() / mine.ns.sum() == pytest.approx(flow.cwnd_mean_segments)
        assert mine[mine.phase == "rto"].ns.sum() == pytest.approx(flow.rto_s * 1e9)
        ways = found.routes[(found.routes.run == name[0]) & (found.routes.flow == name[1])]
        without = ways[~ways.has_route]
        assert (without.until_ns - without.time_ns).sum() == pytest.approx(flow.without_route_s * 1e9)
        assert without.hops.isna().all()


def test_in_many_pieces_it_is_the_same(found: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found.frames
    monkeypatch.setattr(export, "ROWS", 1000)
    pieces = list(found.pieces("frames"))
    assert len(pieces) > 4 and max(map(len, pieces)) == 1000
    pandas.testing.assert_frame_equal(pandas.concat(pieces, ignore_index=True), whole)


def test_polars_reads_the_same(found: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """From Parquet. The test uses another reader, as polars is not among dcflab's packages."""

    def read_parquet(file: Path, memory_map: bool) -> pandas.DataFrame:
        return fastparquet.ParquetFile(str(file)).to_pandas()

    monkeypatch.setitem(sys.modules, "polars", types.SimpleNamespace(read_parquet=read_parquet))
    assert found.polars("frames").time_ns.tolist() == found.frames.time_ns.tolist()
    monkeypatch.setattr(Tables, "pieces", lambda self, name: iter(()))
    assert list(found.polars("routes").columns) == list(found.routes.columns)


def test_flent_reads_and_draws_it(place: Path, found: Tables) -> None:
    """flent itself prints our goodput, and draws its plot of windows."""
    said = json.loads(ran(place, "export", "run", "--to", "flent", "--json").stdout)
    files = [place / file["file"] for file in said["files"]]
    assert [file.name for file in files] == ["rts-none-1.flent.gz", "rts-full-1.flent.gz"]
    flent = [str(Path(sys.executable).parent / "flent"), *(word for file in files for word in ("-i", str(file)))]
    summary = subprocess.run([*flent, "-f", "summary"], cwd=place, capture_output=True, text=True, check=True).stdout
    titles = [line.strip() for line in summary.splitlines() if "Title" in line]
    assert titles == ["Title: 'string rts-none-1'", "Title: 'string rts-full-1'"]
    means = [float(line.split(":")[-1].split()[0]) for line in summary.splitlines() if "TCP upload::" in line]
    assert means == [pytest.approx(flow / 1000, abs=0.006) for flow in found.flows.goodput_kbps]
    subprocess.run([*flent, "-p", "tcp_cwnd", "-o", "cwnd.svg"], cwd=place, capture_output=True, check=True)
    assert (place / "cwnd.svg").read_text().count("<path") > 4


def test_routes_that_no_protocol_reports_are_a_table_too(place: Path) -> None:
    ran(place, "run", "string", "--stations", "3", "--link", "mesh", "--routing", "hwmp", "--seconds", "2",
        "--no-trace", "--out", "mesh")  # fmt: skip
    found = export.tables(place / "mesh")
    ways, flow = found.routes, found.flows.iloc[0]
    assert ways.hops.dropna().tolist() and set(ways.hops.dropna()) == {2}
    assert (ways.until_ns - ways.time_ns)[~ways.has_route].sum() == pytest.approx(flow.without_route_s * 1e9)
    assert not len(found.frames), "without a trace there are no frames"
