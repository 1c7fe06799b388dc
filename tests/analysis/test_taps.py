# SPDX-License-Identifier: BSD-3-Clause
"""The taps' command line, and the comparison with the module and with Scapy."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from sample import Sample, make_sample
from tiny_air import busy_string

from analysis.taps import compare
from analysis.taps.sniff import frames
from analysis.traces.trace import Kind


def test_agree(sample: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    """A run folder whose counters agree: the table, and exit status 0."""
    assert compare.main([str(sample.folder)]) == 0
    out = capsys.readouterr().out
    assert "they agree" in out
    _, ours, theirs = next(line.split() for line in out.splitlines() if line.startswith("COL_DATA"))
    assert ours == theirs == str(compare.totals(sample.air.counters)["COL_DATA"])


def test_differ(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A module that counted one collision more: where they differ, and exit status 1."""
    folder = tmp_path / "run"
    shutil.copytree(sample.folder, folder)
    lane = json.loads((folder / "lane.json").read_text())
    lane["air"]["stations"][2]["counters"]["addressed"]["rts"]["COLLISION"] += 1
    (folder / "lane.json").write_text(json.dumps(lane))
    assert compare.main([str(folder), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["differences"]) == 1 and "station 3: addressed.rts.COLLISION" in answer["differences"][0]
    assert answer["totals"]["COL_RTS/CTS"] == compare.totals(sample.air.counters)["COL_RTS/CTS"]


def test_a_capture_alone(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without plan and lane there is nothing to compare with, and it says so."""
    shutil.copy(sample.pcapng, tmp_path / "alone.pcapng")
    shutil.copy(sample.views, tmp_path)
    assert compare.main([str(tmp_path / "alone.pcapng")]) == 0
    out = capsys.readouterr().out
    assert "no plan.json" in out and "no lane.json" in out


@pytest.mark.slow
@pytest.mark.parametrize("rts_above", [0, 4000])
def test_where_what_stations_received_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rts_above: int
) -> None:  # fmt: skip
    """The air's remarks give the rest: all but COL_ANY is counted, and agrees."""
    sample = make_sample(busy_string(4.137, 5, rts_above=rts_above), 4.137, tmp_path)
    sample.views.unlink()
    assert compare.main([str(tmp_path), "--scapy"]) == 0
    out = capsys.readouterr().out
    assert "no views.gz" in out and "COL_ANY_DATA" not in out
    told = next(line.split() for line in out.splitlines() if line.startswith("retries, short"))[2:]
    assert told == [str(compare.totals(sample.air.counters)["retries, short"])] * 3


def test_misuse(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Misuse is exit status 2, an unreadable file 1, each with one message."""
    for arguments in ([], [str(tmp_path)], [str(sample.folder), "--interface", "lo"]):
        with pytest.raises(SystemExit) as stopped:
            compare.main(arguments)
        assert stopped.value.code == 2
    (tmp_path / "text").write_text("no capture")
    capsys.readouterr()
    for path in (tmp_path / "text", tmp_path / "none"):
        assert compare.main([str(path)]) == 1
        error = capsys.readouterr().err
        assert error.startswith("taps: ") and str(path) in error and error.count("\n") == 1


@pytest.mark.slow
def test_counted_with_scapy(sample: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    """Scapy, by the packets' attributes alone, counts what numpy does, and the module."""
    assert compare.main([str(sample.folder), "--scapy", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    known = compare.totals(sample.air.counters)
    assert answer["scapy"] == known
    every = ("RTS/CTS", "DATA", "ACK", "UDP", "OTHER", "ENCRYPTED", "TOTAL", "MAC_ACK")
    assert all(known[f"COL_{row}"] for row in every)
    assert all(known[f"COL_ANY_{row}"] for row in (*every, "ROUTING", "MANAGEMENT"))
    assert all(known[name] for name in ("FAIL_RTS/CTS", "FAIL_DATA", "FAIL_OTHER", "retries, short", "retries, long"))


@pytest.mark.slow
def test_where_scapy_differs(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A false remark is found."""
    shutil.copytree(sample.folder, tmp_path, dirs_exist_ok=True)
    raw = gzip.decompress(sample.pcapng.read_bytes())
    (tmp_path / "air.pcapng.gz").write_bytes(raw.replace(b"given up: DATA", b"given in: DATA", 1))
    assert compare.main([str(tmp_path), "--scapy"]) == 1
    given_up = compare.totals(sample.air.counters)["FAIL_DATA"]
    assert f"FAIL_DATA: module {given_up}, scapy {given_up - 1}" in capsys.readouterr().out


@pytest.mark.slow
def test_live_counts(sample: Sample) -> None:
    """Packets as from an interface are counted like those of the file."""
    counted = compare.count(frames(sample.folder, interface="sta2"))
    received = sample.air.counters[1]["rx"]
    for kind in Kind:
        row = received[kind.name.lower()]
        assert counted[kind.name.lower()]["frames"] == sum(row.values())
        assert counted[kind.name.lower()]["bad_fcs"] == row["COLLISION"] + row["OWN_TX"]
    assert counted["tcp_data"]["retries"] > 0
    assert compare.count([])["rts"] == {"frames": 0, "retries": 0, "bad_fcs": 0}


def test_live_needs_an_interface(capsys: pytest.CaptureFixture[str]) -> None:
    """A missing interface gives a message."""
    assert compare.main(["--interface", "no-such-dev", "--seconds", "0.1"]) == 1
    assert "cannot capture on no-such-dev" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["hole", "fifo", "plan.json", "lane.json"])
def test_a_damaged_run_is_reported_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    """At once: a hole of 20 GB is not read, and a fifo is not waited for."""
    trace = tmp_path / "air.pcapng.gz"
    if damage == "fifo":
        os.mkfifo(trace)
    else:
        trace.touch()
        os.truncate(trace, 20 << 30)
    if damage.endswith("json"):
        (tmp_path / damage).write_bytes(b"\xff")
    assert compare.main([str(trace)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith(
        f"taps: {trace if damage in ('hole', 'fifo') else tmp_path / damage}"
    )
