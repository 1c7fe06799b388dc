# SPDX-License-Identifier: BSD-3-Clause
"""The pcapngs: the same bytes for the same trace, read the same way by our reader, by Scapy and by tshark."""

import gzip
import hashlib
import shutil
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sample import Sample, make_sample
from tiny_air import START, TinyAir, ip, ipv4, tcp

from analysis.taps.phy import radios
from analysis.traces import capture, pcapng, trace, views
from analysis.traces.remarks import remarks
from analysis.traces.trace import Kind, Outcome, Reason
from emulation.files.foreign import Damaged


def test_deterministic(sample: Sample, tmp_path: Path) -> None:
    """The bytes depend on the trace alone, and the hashes returned are of what is in the files."""
    again = pcapng.write(sample.trace, radios(sample.air.plan()), tmp_path)
    files = (sample.pcapng, sample.views)
    assert (
        again
        == sample.sha256
        == tuple(hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest() for file in files)
    )
    assert [(tmp_path / file.name).read_bytes() for file in files] == [file.read_bytes() for file in files]


def test_too_few_stations(sample: Sample, tmp_path: Path) -> None:
    """A plan with fewer stations than the trace is refused."""
    with pytest.raises(ValueError, match="more stations than the 3"):
        pcapng.write(sample.trace, radios(sample.air.plan())[:3], tmp_path)


def test_what_goes_in_comes_out(sample: Sample) -> None:
    """Every transmission is on `air` once, and every arrival in range on its station's interface."""
    file, t = sample.capture, sample.trace
    assert [i.name for i in file.interfaces] == ["air", "sta1", "sta2", "sta3", "sta4"]
    assert file.interfaces[2].address.hex(":") == "02:00:00:00:00:02" and file.interfaces[2].ip == "10.0.0.2"
    assert (file.start_ns, file.stop_ns) == (t.start_ns, t.stop_ns)
    air = file.interface == 0
    assert file.packet_id[air].tolist() == t.tx["id"].tolist()
    for ours, theirs in (("time_ns", "start_ns"), ("length", "length"), ("rate", "rate"), ("freq", "freq")):
        assert getattr(file, ours)[air].tolist() == t.tx[theirs].tolist()
    shown = t.rx[t.rx["outcome"] != Outcome.BELOW_THRESHOLD]
    assert 0 < shown.size < t.rx.size
    expected = Counter(zip(shown["station"] + 1, shown["id"], shown["start_ns"], shown["outcome"] != 0, strict=True))
    heard = (file.interface[~air], file.packet_id[~air], file.time_ns[~air], file.bad[~air])
    assert Counter(zip(*heard, strict=True)) == expected
    assert set(file.dbm[~air].tolist()) == {-60}
    for row in range(0, file.frame.size, 97):
        tx = int(np.searchsorted(t.tx["id"], file.packet_id[row]))
        frame = t.data[t.frame[tx] : t.frame[tx] + t.tx["caplen"][tx]].tobytes()
        at, caplen = int(file.frame[row]), int(file.caplen[row])
        fcs = zlib.crc32(frame)
        whole = len(frame) + 4 == file.length[row]
        assert file.has_fcs[row] == whole
        assert file.data[at : at + caplen].tobytes() == frame + (fcs.to_bytes(4, "little") if whole else b"")


def test_each_file_has_its_own(sample: Sample, tmp_path: Path) -> None:
    """The air once, and nothing else, is in the pcapng; what stations received is kept beside it, and another run's is
    refused."""
    assert not capture.read(Path(shutil.copy(sample.pcapng, tmp_path))).has_views
    (tmp_path / views.FILE).write_bytes(gzip.compress(gzip.decompress(sample.views.read_bytes())[: -views.BLOCK]))
    with pytest.raises(Damaged, match=r"views\.gz: cut short"):
        capture.read(tmp_path / pcapng.AIR)
    fewer = TinyAir(3, seed=3, rts=lambda length: False)
    make_sample(fewer, 1, tmp_path)
    shutil.copy(sample.views, tmp_path)
    with pytest.raises(Damaged, match="does not belong to the same run"):
        capture.read(tmp_path / pcapng.AIR)


def test_what_stations_received_as_a_file(sample: Sample, of_stations: Path) -> None:
    """It has the packets that `capture.read` has in addition to the air's, to the byte."""
    both, alone = sample.capture, capture.read(of_stations)
    theirs = np.flatnonzero(both.interface)
    assert alone.interface.min() > 0 and alone.interface.size == theirs.size
    for column in ("interface", "time_ns", "packet_id", "caplen", "length", "rate", "freq", "dbm", "bad"):
        assert getattr(alone, column).tolist() == getattr(both, column)[theirs].tolist()
    for row in range(0, theirs.size, 97):
        at, caplen = int(alone.frame[row]), int(alone.caplen[row])
        frame, fcs = alone.data[at : at + caplen].tobytes(), zlib.crc32(alone.data[at : at + caplen - 4])
        if alone.has_fcs[row]:
            assert int.from_bytes(frame[-4:], "little") == fcs ^ (0xFFFFFFFF if alone.bad[row] else 0)
        assert alone.comment(row) == both.comment(int(theirs[row]))


def test_merged_they_are_read_alike(sample: Sample, of_stations: Path, tmp_path: Path) -> None:
    """A file that somebody merged from the two says the same as both."""
    if not shutil.which("mergecap"):
        pytest.skip("mergecap is not installed")
    subprocess.run(["mergecap", "-w", tmp_path / "all", sample.pcapng, of_stations], check=True, capture_output=True)
    shown = subprocess.run(
        ["tshark", "-r", tmp_path / "all", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.packet_id"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    file = sample.capture
    names = [file.interfaces[number].name for number in file.interface.tolist()]
    assert Counter(shown) == Counter(f"{n}\t{i}" for n, i in zip(names, file.packet_id.tolist(), strict=True))


def test_comments(sample: Sample) -> None:
    """Comments name outcomes at the addressed receiver, given-up frames, attempts and queueing times."""
    file, t = sample.capture, sample.trace
    air = np.flatnonzero(file.interface == 0)
    comments = [file.comment(row) for row in air]
    lost = t.rx[(t.rx["addressed"] == 1) & (t.rx["outcome"] == Outcome.OWN_TX)]
    assert sum("receiver was sending" in c for c in comments) == lost.size > 0
    assert sum("collision with sta" in c for c in comments) > 0
    below = t.rx[(t.rx["addressed"] == 1) & (t.rx["outcome"] == Outcome.BELOW_THRESHOLD)]
    assert sum("below threshold" in c for c in comments) == below.size > 0
    limits = {Reason.RTS_LIMIT: "RTS", Reason.SHORT_LIMIT: "short", Reason.LONG_LIMIT: "long"}
    for reason, limit in limits.items():
        given_up = t.end[t.end["reason"] == reason]
        assert sum(f"{limit} retry limit" in c for c in comments) == given_up.size > 0
    data = np.isin(t.end["reason"], list(limits)) & (t.end["kind"] == Kind.TCP_DATA)
    assert sum("given up: DATA, " in c for c in comments) == data.sum() > 0
    assert sum("attempt 2" in c for c in comments) == (t.tx["attempt"] == 2).sum() > 0
    frames = ~np.isin(t.tx["kind"], (Kind.CTS, Kind.ACK))
    queued = {(s, msdu): ns for s, msdu, ns in t.tx[frames][["station", "msdu", "queued_ns"]].tolist()}
    found = file.queued_ns(air)
    assert sorted(found[found >= 0].tolist()) == sorted(queued.values())


def test_stations_say_why(sample: Sample) -> None:
    """Each corrupted frame on a station says why, and no other does."""
    file, t = sample.capture, sample.trace
    said = Counter((int(file.interface[r]) - 1, file.comment(r).split()[0]) for r in np.flatnonzero(file.bad))
    why = {Outcome.COLLISION: "collision", Outcome.OWN_TX: "receiver"}
    rx = t.rx[np.isin(t.rx["outcome"], list(why))]
    assert said == Counter((s, why[o]) for s, o in rx[["station", "outcome"]].tolist())
    assert not any(file.comment(row) for row in np.flatnonzero(~file.bad & (file.interface > 0)))


def test_a_collided_handshake_is_tcp() -> None:
    """A SYN, FIN or RST that collided with a frame, or was given up, is called that, though the counters have no kind
    for it; so is one that the receiver was sending."""
    air = TinyAir(3, seed=3, rts=lambda length: False)
    for n in range(60):
        for source, flags in ((0, 0x02), (1, 0x14), (2, 0x11)):
            to, packet = int(source != 1), ipv4(ip(source), ip(1), 6, tcp(1, 2, n, 0, flags), n)
            air.at(START + n * 30_000_000, lambda s=source, p=packet, t=to: air.enqueue(s, Kind.OTHER, t, p))
    records = trace.parse(np.frombuffer(air.run(2), np.uint8))
    texts, on_air, at_station, _ = remarks(records, ["sta1", "sta2", "sta3"])
    assert texts and not any("OTHER" in text for text in texts)
    words = " ".join(texts[n] for n in (*on_air[on_air >= 0], *at_station[at_station >= 0]))
    for text in ("receiver was sending TCP RST", "collision with sta3 TCP FIN", "collision with sta1 TCP SYN"):
        assert text in words


def test_scapy_reads_it(of_stations: Path) -> None:
    """Scapy's own reader finds the same packets."""
    from scapy.layers.dot11 import Dot11FCS, RadioTap
    from scapy.utils import RawPcapNgReader

    file = capture.read(of_stations)
    with RawPcapNgReader(str(of_stations)) as reader:
        packets = list(reader)
    assert len(packets) == file.frame.size
    for row in range(0, len(packets), 203):
        octets, meta = packets[row]
        assert (meta.tshigh << 32 | meta.tslow) == file.time_ns[row]
        packet = RadioTap(octets)
        assert packet.Rate * 10 == file.rate[row] and packet.ChannelFrequency == 2412
        assert packet.timestamp == file.time_ns[row]
        assert bool(packet.Flags.badFCS) == file.bad[row]
        if file.has_fcs[row]:
            good = packet[Dot11FCS].fcs == zlib.crc32(octets[28:-4])
            assert good != file.bad[row]


@pytest.mark.slow
def test_tshark_counts_the_same(sample: Sample, of_stations: Path) -> None:
    """Wireshark's usual filters give the trace's numbers, and nothing is malformed."""
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    t = sample.trace

    def count(what: str, *options: str, file: Path = sample.pcapng) -> int:
        command = ["tshark", "-r", str(file), *options, "-Y", what, "-T", "fields", "-e", "frame.number"]
        return len(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())

    first = t.data[t.frame + 1]
    assert count("frame") == count("frame.interface_name == air") == t.tx.size
    assert count("_ws.malformed") == 0
    assert count("wlan.fc.retry == 1") == (first & 8 != 0).sum() > 0
    for kind, subtype in ((Kind.RTS, 0x1B), (Kind.CTS, 0x1C), (Kind.ACK, 0x1D), (Kind.MANAGEMENT, 0x08)):
        assert count(f"wlan.fc.type_subtype == {subtype}") == (t.tx["kind"] == kind).sum() > 0
    bad = np.isin(t.rx["outcome"], (Outcome.COLLISION, Outcome.OWN_TX, Outcome.NOISE))
    assert count("radiotap.flags.badfcs == 1", file=of_stations) == bad.sum() > 0
    whole = t.tx["caplen"] + 4 == t.tx["length"]
    checked = count('wlan.fcs.status == "Bad"', "-o", "wlan.check_checksum:TRUE", file=of_stations)
    assert checked == (bad & whole[t.rx_tx]).sum() > 0
    assert count("tcp.len > 0") == (t.tx["kind"] == Kind.TCP_DATA).sum() > 0
    assert count("tcp.len == 0") == (t.tx["kind"] == Kind.TCP_ACK).sum() > 0
    assert count('frame.comment contains "given up"') > 0


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A file that dcflab did not write is refused with a text, not misread."""
    from scapy.layers.dot11 import Dot11, RadioTap
    from scapy.utils import PcapNgWriter

    with PcapNgWriter(str(tmp_path / "theirs")) as writer:
        writer.write(RadioTap() / Dot11())
    (tmp_path / "text").write_text("nothing of the kind, but long enough for a header")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("theirs", "text", "empty"):
        with pytest.raises(Damaged, match=name):
            capture.read(tmp_path / name)


@given(st.data())
@examples(150)
def test_no_byte_does_harm(of_stations: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever is overwritten or cut off, the answer is a capture or Damaged."""
    raw = bytearray(of_stations.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, 8000))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.pcapng"
    path.write_bytes(raw[: data.draw(st.sampled_from([len(raw), len(raw) - 4, 8000, 1001]))])
    try:
        file = capture.read(path)
        assert file.frame.size == 0 or (file.frame + file.caplen).max() <= file.data.size
    except Damaged as error:
        assert "damaged" in str(error)


@given(st.data())
@examples(150)
def test_no_byte_of_the_views_does_harm(
    sample: Sample, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """The same of what is kept of stations, packed or not."""
    shown = capture.read_file(sample.pcapng)
    raw = bytearray(sample.views.read_bytes())
    if unpacked := data.draw(st.booleans()):
        raw = bytearray(gzip.decompress(raw))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, 20) if unpacked else st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.gz"
    path.write_bytes(raw[: data.draw(st.sampled_from([len(raw), len(raw) - 1, 1000, 5]))])
    try:
        seen = views.read(path, shown.frame.size, 4)
        assert seen.row.max() < shown.frame.size and seen.station.max() < 4 and seen.text.max() < len(seen.texts)
    except Damaged as error:
        assert "damaged" in str(error)
