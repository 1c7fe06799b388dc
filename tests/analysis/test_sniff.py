# SPDX-License-Identifier: BSD-3-Clause
"""Frames as Scapy packets: they agree with the trace, from a folder, a run going on, and an interface."""

import ast
import re
import shutil
import threading
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample import Sample
from scapy.layers.dot11 import RadioTap
from scapy.layers.inet import TCP
from test_dissect import CASES
from tiny_air import ip, ipv4, tcp

from analysis.taps import sniff
from analysis.taps.sniff import frames
from analysis.traces.trace import Kind, Outcome
from emulation.files.foreign import Damaged


@pytest.fixture(scope="module")
def air(sample: Sample) -> list[Any]:
    return list(frames(sample.folder))


def test_the_air_is_what_the_trace_has(sample: Sample, air: list[Any]) -> None:
    """Every transmission once, in order, with time and full length, and its kind."""
    tx = sample.trace.tx
    assert [round(p.time * 1e9) for p in air] == tx["start_ns"].tolist()
    assert [p.wirelen for p in air] == (tx["length"] + 28).tolist()
    assert [p.kind for p in air] == tx["kind"].tolist()
    assert {p.sniffed_on for p in air} == {"air"}


def test_packets_know_what_became_of_them(sample: Sample, air: list[Any]) -> None:
    """Outcome and culprit at the addressed receiver, attempt, queueing time, and what was given up."""
    t = sample.trace
    addressed = t.rx[t.rx["addressed"] != 0]
    known = dict(zip(addressed["id"].tolist(), addressed["outcome"].tolist(), strict=True))
    ids = t.tx["id"].tolist()
    told = {n: p.outcome for n, p in zip(ids, air, strict=True) if n in known}
    assert told == known and len(set(known.values())) == 4
    assert all(p.outcome is None for p in air if p.addr1 == "ff:ff:ff:ff:ff:ff")
    spoilt = [p for p in air if p.outcome is Outcome.OWN_TX]
    assert {p.culprit for p in spoilt} >= {"DATA", "TCP ACK"} and not any(p.culprit for p in air if p.outcome == 0)
    assert any(str(p.culprit).startswith("sta") for p in air if p.outcome is Outcome.COLLISION)
    response = (Kind.CTS, Kind.ACK)
    tried = [None if kind in response else n for kind, n in t.tx[["kind", "attempt"]].tolist()]
    assert [p.attempt for p in air] == tried
    for packet, kind, sent, queued in zip(
        air, *(t.tx[n].tolist() for n in ("kind", "start_ns", "queued_ns")), strict=True
    ):
        waited = None if kind in response else pytest.approx((sent - queued) / 1e9, abs=1e-8)
        assert packet.queued_s == waited
    given_up = Counter(p.given_up[1] for p in air if p.given_up)
    for reason, limit in ((2, "RTS"), (3, "short"), (4, "long")):
        assert given_up[f"{limit} retry limit"] == (t.end["reason"] == reason).sum() > 0


@pytest.mark.slow
def test_the_documentations_tap(sample: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    """Five lines are enough to count."""
    page = (Path(__file__).parents[2] / "docs/python.md").read_text()
    [tap] = [code for code in re.findall("```python\n(.*?)```", page, re.S) if "analysis.taps.sniff" in code]
    assert tap.count("\n") == 5
    exec(re.sub(r'"runs/.*?"', repr(str(sample.folder)), tap), {})
    t = sample.trace
    addressed = t.rx[(t.rx["addressed"] != 0) & (t.rx["outcome"] == Outcome.COLLISION)]
    kind = dict(zip(t.tx["id"].tolist(), t.tx["kind"].tolist(), strict=True))
    lost = [row for row in addressed[["id", "other", "other_kind"]].tolist() if kind[row[0]] == Kind.TCP_ACK]
    names = {Kind.TCP_DATA: "DATA", Kind.TCP_ACK: "TCP ACK"}
    told = Counter(
        None if other > 9 else f"sta{other + 1} {names.get(Kind(of), Kind(of).name)}" for _, other, of in lost
    )
    assert ast.literal_eval(capsys.readouterr().out)[0] == told.most_common(1)[0]


@pytest.mark.slow
def test_a_stations_view(sample: Sample) -> None:
    """What a station received, and why it was corrupted; of all stations, if none is named."""
    t = sample.trace
    mine = t.rx[(t.rx["station"] == 1) & (t.rx["outcome"] != Outcome.BELOW_THRESHOLD)]
    seen = list(frames(sample.folder, interface="sta2"))
    group = [p.addr1 == "ff:ff:ff:ff:ff:ff" for p in seen]
    assert Counter(p.outcome for p, all_ in zip(seen, group, strict=True) if not all_ or p.outcome) >= Counter(
        o for o in mine["outcome"].tolist() if o
    )
    assert sum(sniff.is_bad(p) for p in seen) == (mine["outcome"] != 0).sum() > 0
    every = sum(1 for _ in frames(sample.folder, interface="", where=lambda p: p.outcome is Outcome.COLLISION))
    assert every == (t.rx["outcome"] == Outcome.COLLISION).sum()
    assert {p.attempt for p in seen if p.kind == Kind.TCP_DATA} >= {1, 2, None}
    with pytest.raises(Damaged, match="no interface sta9: it has air, sta1"):
        next(frames(sample.folder, interface="sta9"))


@pytest.mark.slow
def test_only_what_is_asked_for(sample: Sample) -> None:
    retries = list(frames(sample.pcapng, lambda p: bool(p.FCfield.retry)))
    t = sample.trace
    assert len(retries) == np.count_nonzero(t.data[t.frame + 1] & 8) > 0


@pytest.mark.slow
@pytest.mark.parametrize("end", ["finished", "failed"])
def test_a_run_that_is_going_on(sample: Sample, air: list[Any], tmp_path: Path, end: str) -> None:
    """Data still to be written is waited for, to the end of the run, however it ends."""
    (tmp_path / "air.trace").touch()
    raw, half, seen = sample.pcapng.read_bytes(), threading.Event(), []

    def write() -> None:
        with open(tmp_path / "air.pcapng.gz", "wb", buffering=0) as file:
            file.write(raw[: len(raw) // 2])
            half.wait()
            if end == "finished":
                file.write(raw[len(raw) // 2 :])
                (tmp_path / "run.json").touch()
            else:
                (tmp_path / "air.pcapng.gz").unlink()
            (tmp_path / "air.trace").unlink()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with nullcontext() if end == "finished" else pytest.raises(Damaged, match="cut short"):
            for packet in frames(tmp_path):
                seen.append(packet.time)
                half.set()
    finally:
        half.set()
        writer.join()
    assert seen == [p.time for p in air][: len(seen)] and (len(seen) == len(air)) == (end == "finished")


@pytest.mark.slow
def test_a_monitor_knows_less(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same attributes on an interface, from the frames alone."""
    shown = list(frames(sample.folder, interface="sta2"))

    def monitored(interface: str, seconds: float | None) -> Any:
        for packet in sniff._of_run(sample.folder, "sta2"):
            packet.sniffed_on, packet.comments = interface, None
            yield packet

    monkeypatch.setattr(sniff, "_monitored", monitored)
    seen = list(frames("mon0", seconds=1))
    assert [(p.kind, p.attempt) for p in seen] == [(p.kind, p.attempt) for p in shown]
    assert {p.outcome for p in seen} == {Outcome.OK, None} and not any(p.culprit or p.queued_s for p in seen)


@pytest.mark.parametrize("addresses", [0, 1, 2])
def test_a_mesh_frame_shows_its_segment(addresses: int) -> None:
    """Behind Mesh Control, and the addresses that it may have, with the FCS and without."""
    mesh = bytes([addresses, 31, 1, 0, 0, 0]) + bytes(6 * addresses)
    inside = tcp(1, 2, 3, 4, 0x10, b"x" * 9)
    header = b"\x88\x03" + bytes(2) + b"\x02" * 18 + bytes(2) + b"\x02" * 6 + b"\0\1"  # QoS data, four addresses
    for flags, fcs in ((b"\0", b""), (b"\x10", b"1234")):
        radiotap = b"\0\0\x09\0\x02\0\0\0" + flags
        packet = sniff.uncovered(RadioTap(radiotap + header + mesh + ipv4(ip(0), ip(1), 6, inside) + fcs))
        assert sniff.kind(packet) == Kind.TCP_DATA and packet[TCP].dport == 2


INSIDE = re.compile("(TCP|ACK|SYN|ARP|ICMP|OLSR|IPv6) .*in (a )?(DSR|batman-adv)|DSR request|OGM|the first fragment")


@pytest.mark.parametrize("name", sorted(filter(INSIDE.search, CASES)))
def test_a_segment_inside_of_routing(name: str) -> None:
    """Behind the headers of DSR and batman-adv, packets have the kind that the taps find."""
    octets, kind = CASES[name]
    packet = sniff.uncovered(RadioTap(b"\0\0\x09\0\x02\0\0\0\0" + octets))
    assert sniff.kind(packet) == kind
    assert (TCP in packet and packet[TCP].dport == 2) == ("TCP" in name or "ACK" in name or "SYN" in name or kind == 3)


def test_what_is_not_there(tmp_path: Path) -> None:
    """A folder without a run, a file that is no capture."""
    with pytest.raises(FileNotFoundError):
        next(frames(tmp_path))
    (tmp_path / "air.pcapng.gz").write_text("nothing of the kind, but long enough")
    with pytest.raises(Damaged, match=r"b\.pcapng"):
        next(frames(shutil.copy(tmp_path / "air.pcapng.gz", tmp_path / "b.pcapng")))
