# SPDX-License-Identifier: BSD-3-Clause
"""The taps' command line, Scapy's side of them, and the comparison with the module."""

import json
import shutil
from pathlib import Path

import pytest
from sample import Sample

from analysis import taps
from analysis.capture import CaptureError
from analysis.trace import Kind


def test_agree(sample: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    """A run folder whose counters agree: the table, and exit status 0."""
    assert taps.main([str(sample.folder)]) == 0
    out = capsys.readouterr().out
    assert "they agree" in out
    _, ours, theirs = next(line.split() for line in out.splitlines() if line.startswith("COL_DATA"))
    assert ours == theirs == str(taps.totals(sample.air.counters)["COL_DATA"])


def test_differ(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A module that counted one collision more: where they differ, and exit status 1."""
    folder = tmp_path / "run"
    shutil.copytree(sample.folder, folder)
    lane = json.loads((folder / "lane.json").read_text())
    lane["air"]["stations"][2]["counters"]["addressed"]["rts"]["COLLISION"] += 1
    (folder / "lane.json").write_text(json.dumps(lane))
    assert taps.main([str(folder), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["differences"]) == 1 and "station 3: addressed.rts.COLLISION" in answer["differences"][0]
    assert answer["totals"]["COL_RTS/CTS"] == taps.totals(sample.air.counters)["COL_RTS/CTS"]


def test_a_capture_alone(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without plan and lane there is nothing to compare with, and it says so."""
    shutil.copy(sample.pcapng, tmp_path / "alone.pcapng")
    shutil.copy(sample.views, tmp_path)
    assert taps.main([str(tmp_path / "alone.pcapng")]) == 0
    out = capsys.readouterr().out
    assert "no plan.json" in out and "no lane.json" in out


def test_misuse(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Misuse is exit status 2, what cannot be read 1, each with one sentence."""
    for arguments in ([], [str(tmp_path)], [str(sample.folder), "--interface", "lo"]):
        with pytest.raises(SystemExit) as stopped:
            taps.main(arguments)
        assert stopped.value.code == 2
    (tmp_path / "text").write_text("no capture")
    capsys.readouterr()
    for path in (tmp_path / "text", tmp_path / "none"):
        assert taps.main([str(path)]) == 1
        error = capsys.readouterr().err
        assert error.startswith("taps: ") and str(path) in error and error.count("\n") == 1


def test_frames(sample: Sample) -> None:
    """Scapy packets of one interface, those that the filter wants, with time and comment."""
    from scapy.layers.dot11 import Dot11

    retries = list(taps.frames(sample.pcapng, lambda p: bool(p[Dot11].FCfield.retry)))
    t = sample.trace
    wanted = t.tx[t.data[t.frame + 1] & 8 != 0]
    assert [round(p.time * 1e9) for p in retries] == wanted["start_ns"].tolist()
    assert retries[0].wirelen == wanted["length"][0] + 28
    spoilt = list(taps.frames(sample.pcapng, lambda p: bool(p.Flags.badFCS), interface="sta2"))
    mine = (t.rx["station"] == 1) & (t.rx["outcome"] != 0) & (t.rx["outcome"] != 4)
    assert len(spoilt) == mine.sum() > 0
    assert any(b"collision with" in c for p in taps.frames(sample.pcapng) for c in p.comments or [])
    with pytest.raises(CaptureError, match="no interface sta9: it has air, sta1"):
        next(taps.frames(sample.pcapng, interface="sta9"))


def test_live_counts(sample: Sample) -> None:
    """Packets as Scapy sniffs them are counted as those of the file."""
    packets = list(taps.frames(sample.pcapng, interface="sta2"))
    counted = taps.count([taps.unwrap(packet) for packet in packets])
    received = sample.air.counters[1]["rx"]
    for kind in Kind:
        row = received[kind.name.lower()]
        assert counted[kind.name.lower()]["frames"] == sum(row.values())
        assert counted[kind.name.lower()]["bad_fcs"] == row["COLLISION"] + row["OWN_TX"]
    assert counted["tcp_data"]["retries"] > 0
    assert taps.count([])["rts"] == {"frames": 0, "retries": 0, "bad_fcs": 0}


def test_live_needs_an_interface() -> None:
    """An interface that is not there is an OSError for people."""
    with pytest.raises(OSError, match="no-such-dev"):
        taps.live("no-such-dev", 0.1)
