# SPDX-License-Identifier: BSD-3-Clause
"""Traces of 802.11n and later: the air, taps and Scapy count the same MPDUs; tshark shows them as of hardware."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rooms import needs

from analysis.growing import GrowingTrace
from analysis.results import shapes
from analysis.taps import compare, tally
from analysis.taps.phy import Medium, radios
from analysis.taps.transmissions import transmissions
from analysis.traces import capture, trace
from analysis.traces.dissect import BLOCK_ACK
from analysis.traces.modes import HE, HT, VHT, Modes
from analysis.traces.trace import Kind

HIDDEN = {
    "stations": 3, "ranges": {"transmission_m": 250, "carrier_sense_m": 300}, "flows": 0, "application": [
        *(f"udp,from={each},to=sta2,rate_kbps=20000" for each in ("sta1", "sta3")), "bulk,from=sta2,to=sta1",
    ],
}  # fmt: skip
CELL = {"stations": 2, "bw": 1000}
RUNS = {
    "hidden": ("string", {**HIDDEN, "mode": "n", "mcs": 4}, HT),
    "fades": ("string", {**HIDDEN, "mode": "n", "mcs": 4, "fading": "rayleigh,coherence_ms=0.3"}, HT),
    "rts": ("string", {**HIDDEN, "mode": "n", "mcs": 4, "rts": "full"}, HT),
    "minstrel_ht": ("wlan", {**CELL, "mode": "ac", "width": 80, "streams": 2}, VHT),
    "ax": (
        "wlan",
        {**CELL, "mode": "ax", "mcs": 11, "width": 80, "streams": 2, "aggregation": "mt76"},
        HE,
    ),
}


def played(bench, name: str) -> tuple[Path, dict[str, float]]:  # type: ignore[no-untyped-def]
    """Run one of RUNS, and convert its trace in parts, as a run does. Return its folder, and the airtime of PPDUs with
    an MCS by receiver."""
    topology, options, _ = RUNS[name]
    plan = bench.plan(topology, seconds=0.1, tcp_trace=False, **options)
    bench.run("plan")
    with GrowingTrace(bench.folder / "air.trace", radios(plan), bench.folder, part=1 << 17) as growing:
        while growing.begin < (bench.folder / "air.trace").stat().st_size - growing.part:
            growing.convert_new()
        return Path(bench.folder), growing.finish().airtime_s


@pytest.mark.parametrize("name", RUNS)
def test_taps_scapy_and_the_air_count_the_same(bench, name: str) -> None:  # type: ignore[no-untyped-def]
    folder, airtime_s = played(bench, name)
    plan = shapes.read_plan(folder)
    lane = shapes.read_lane(folder, plan)
    module = [station["counters"] for station in lane["air"]["stations"]]
    assert compare.differences(compare.counters(folder / "air.pcapng.gz", plan), module) == []
    known, scapy = compare.totals(module), tally.counters(folder)
    assert known["retries, short"] and (name != "rts" or known["sent, rts"])
    assert scapy == {key: known[key] for key in scapy}

    shown = capture.read_file(folder / "air.pcapng.gz")
    sent = transmissions(shown, Medium.of_plan(plan, shown.start_ns))
    for station, said in enumerate(radios(plan)):
        to = sent.leads & (shown.mode[sent.row] > 0) & (sent.receiver == station)
        assert airtime_s.get(said["name"], 0) == pytest.approx(sent.airtime[to].sum() / 1e9)
    modern = shown.mode > 0
    assert set((shown.mode[modern] & 7).tolist()) == {RUNS[name][2]}
    assert np.unique(shown.ppdu[modern]).size < modern.sum() / 2, "there is aggregation"
    read = trace.read(folder / "air.trace")
    assert read.tx["mode"].tolist() == shown.mode.tolist()
    assert read.tx["rate"].tolist() == shown.rate.tolist()
    if name == "ax":
        of = Modes.of(shown.mode[modern])
        assert {of.mcs.max(), of.streams.max(), of.width.max(), of.guard_ns.max()} == {11, 2, 80, 800}


def test_tshark_shows_them(bench) -> None:  # type: ignore[no-untyped-def]
    """Aggregates, block ACKs and what they acknowledge, requests, modes; nothing is malformed."""
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    file = played(bench, "hidden")[0] / "air.pcapng.gz"
    names = ("_ws.malformed", "radiotap.ampdu.reference", "radiotap.ampdu.flags.last", "wlan.fc.type_subtype",
             "wlan.ba.bm", "wlan.fixed.ssc.sequence", "wlan_radio.phy", "wlan_radio.data_rate",
             "wlan_radio.11n.mcs_index", "frame.packet_id", "wlan_radio.a_mpdu_aggregate_id")  # fmt: skip
    command = ["tshark", "-r", str(file), "-T", "fields", *(word for name in names for word in ("-e", name))]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in out.splitlines()]
    shown = capture.read_file(file)
    sizes = np.unique(shown.ppdu, return_counts=True)[1]
    assert len(rows) == shown.frame.size and not any(row["_ws.malformed"] for row in rows)
    parts = [row for row in rows if row["radiotap.ampdu.reference"]]
    assert len(parts) == sizes[sizes > 1].sum()
    assert len({row["radiotap.ampdu.reference"] for row in parts}) == (sizes > 1).sum()
    assert sum(row["radiotap.ampdu.flags.last"] in ("1", "True") for row in parts) == (sizes > 1).sum()
    assert {row["wlan_radio.a_mpdu_aggregate_id"] for row in parts} == {
        row["radiotap.ampdu.reference"] for row in parts
    }
    assert {row["wlan_radio.phy"] for row in parts} == {"7"}  # HT
    assert {(row["wlan_radio.11n.mcs_index"], row["wlan_radio.data_rate"]) for row in parts} == {("4", "39")}
    acks = [row for row in rows if row["wlan.fc.type_subtype"] in ("25", "0x0019")]
    assert len(acks) == (shown.data[shown.frame] == BLOCK_ACK).sum() > 0
    assert all(len(row["wlan.ba.bm"]) == 16 and row["wlan.fixed.ssc.sequence"] for row in acks)
    numbers = [int(row["frame.packet_id"]) for row in rows]
    assert numbers == sorted(set(numbers)), "each MPDU has a number"


def test_an_aggregate_is_one_record(bench) -> None:  # type: ignore[no-untyped-def]
    """So is each of its arrivals; and its MPDUs have successive numbers."""
    folder, _ = played(bench, "hidden")
    raw = np.fromfile(folder / "air.trace", np.uint8)
    read = trace.read(folder / "air.trace")
    offsets, _ = trace.native.follow(raw)
    kinds = raw[offsets + 2]
    assert (kinds == 1).sum() == (read.tx["place"] == 0).sum() < read.tx.size / 2
    assert (kinds == 2).sum() < read.rx.size
    assert (np.diff(read.tx["id"]) == 1)[read.tx["more"][:-1] > 0].all()
    lane = json.loads((folder / "lane.json").read_text())
    assert read.tx.size == sum(sum(s["counters"]["tx"].values()) for s in lane["air"]["stations"])
    assert (read.tx["kind"] == Kind.ACK).any()


@needs("film")
def test_timeline_and_film_show_aggregates(bench) -> None:  # type: ignore[no-untyped-def]
    """The parts of a PPDU fill its time; block ACKs acknowledge what came; a film has one frame for each PPDU."""
    from analysis.taps.aired import read
    from emulation.features.film import frames
    from emulation.play.view import timeline_of

    folder, _ = played(bench, "hidden")
    of = timeline_of(folder).frames
    ppdu = np.arange(of.place.size) - of.place
    assert (np.bincount(ppdu, of.part_took, ppdu.size)[of.place == 0] == of.took[of.place == 0]).all()
    assert (np.diff(of.part)[of.more[:-1] > 0] == of.part_took[:-1][of.more[:-1] > 0]).all()
    answers = np.flatnonzero(of.acked)
    came = np.bincount(ppdu, of.outcome == 0, ppdu.size)[ppdu[of.before[answers]]]
    assert answers.size and (of.acked[answers] == came).all() and (came < of.more[ppdu[of.before[answers]]] + 1).any()
    plan = shapes.read_plan(folder)
    shown = frames(read(folder / "air.pcapng.gz", plan), shapes.read_lane(folder, plan)["started_ns"])
    assert shown.mpdus.sum() == of.place.size and shown.mpdus.size == (of.place == 0).sum()
    assert shown.lost.sum() == (of.outcome != 0).sum() and ((shown.lost > 0) & (shown.lost < shown.mpdus)).any()
