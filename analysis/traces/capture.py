# SPDX-License-Identifier: BSD-3-Clause
"""Read the pcapng of `traces.pcapng` back into numpy columns, with what stations received (`traces.views`).

One pass follows the chain of blocks; then all packets are processed at once. Only our own layout is read: a packet's
radiotap is one of ours, and its first options are epb_flags and epb_packetid. Any other pcapng is refused with an error
that names the difference. Scapy and tshark read these files too, and many others; this reader is for speed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np

from analysis.traces import native, pcapng, radiotap, views
from analysis.traces.modes import LEGACY, Modes
from analysis.traces.trace import MOST_MPDUS, TX, Array, Outcome
from emulation import files
from emulation.files import compressed
from emulation.files.foreign import LONGEST_NS, Damaged

OUTCOMES = {"c": Outcome.COLLISION, "r": Outcome.OWN_TX, "n": Outcome.NOISE, "b": Outcome.BELOW_THRESHOLD,
        "u": Outcome.BELOW_THRESHOLD}  # by first letter  # fmt: skip
PART = 1 << 14  # packets written at a time
BLOCK_WORDS = 7  # of a packet, before its radiotap
SHORTEST, LONGEST = 10, 1 << 16  # bytes of a frame; of a frame with radiotap


@dataclass(frozen=True)
class Interface:
    """An interface of the file: `air`, or a station's. `ip` is empty if the file names none."""

    name: str
    address: bytes
    ip: str


@dataclass(frozen=True)
class Capture:
    """All packets of a run's files, as columns in order of time and interface.

    `time_ns` is the start of the transmission or arrival. `frame` is the offset in `data` of the 802.11 header,
    followed by `caplen` captured bytes, with FCS where `has_fcs` (the FCS on `air`, also of corrupted frames). `length`
    is the MPDU's full length with FCS; `rate` is in 100 kb/s, `freq` in MHz; `mode` is as in `traces.modes`; `dbm` is
    the signal (0 on `air`); `bad` is the bad-FCS flag. `ppdu` is equal for the MPDUs of one PPDU: the `packet_id` of
    the first. `last`: none of them follows."""

    data: Array
    interfaces: list[Interface]
    start_ns: int
    stop_ns: int
    interface: Array
    time_ns: Array
    packet_id: Array
    frame: Array
    caplen: Array
    length: Array
    rate: Array
    freq: Array
    mode: Array
    ppdu: Array
    last: Array
    dbm: Array
    short_preamble: Array
    has_fcs: Array
    bad: Array
    options: Array  # offset in `data` behind epb_packetid: the comment, or the end of options

    @property
    def has_views(self) -> bool:
        """Whether it includes what stations received."""
        return bool(self.interface.any())

    def comment(self, packet: int) -> str:
        """Return the comment of the packet in this row; empty if it has none."""
        at = int(self.options[packet])
        code, length = self.data[at : at + 4].view("<u2").tolist()
        return self.data[at + 4 : at + 4 + length].tobytes().decode() if code == pcapng.OPT_COMMENT else ""

    def remarked(self, packets: Array) -> Array:
        """Return the Outcome that the air remarks on each of these packets of `air`; OK without a remark."""
        comment = self.options[packets]
        has = self.data[comment] == pcapng.OPT_COMMENT
        first = np.where(has, self.data[np.minimum(comment + 4, self.data.size - 1)], 0)
        outcome = np.zeros(packets.size, np.int64)
        for letter, said in OUTCOMES.items():
            outcome[first == ord(letter)] = said
        return outcome

    def queued_ns(self, packets: Array) -> Array:
        """Return when the kernel handed over the frames whose first attempts are `packets` (rows), from the comment
        `queued N ms before`; -1 without that comment."""
        words = self.data.view("<u4")
        size = self.options[packets] // 4
        has = words[size] & 0xFFFF == pcapng.OPT_COMMENT
        text = self.data.tobytes() if has.sum() * 64 > self.data.size else None
        queued = np.full(packets.size, -1)
        starts, lengths = self.options[packets[has]] + 4, words[size[has]] >> 16
        found = []
        for at, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            comment = text[at : at + length] if text else self.data[at : at + length].tobytes()
            _, mark, rest = comment.partition(b"queued ")
            ms, _, ns = rest.split(b" ", 1)[0].partition(b".")
            found.append(
                int(ms + ns) if mark and ms.isdigit() and ns.isdigit() and len(ns) == 6 and len(ms) < 12 else -1
            )
        waited = np.array(found, np.int64)
        queued[has] = np.where(waited >= 0, self.time_ns[packets[has]] - waited, -1)
        return queued


COLUMNS = [f.name for f in fields(Capture) if f.name not in ("data", "interfaces", "start_ns", "stop_ns")]


def read(air: Path) -> Capture:
    """Read a run's `air.pcapng.gz`, and what the stations received, if that was recorded beside it or merged into the
    same file. Raises Damaged if malformed, OSError if unreadable."""
    shown = read_file(air)
    beside = views_of(air, shown)
    return _merge(shown, beside) if beside else shown


def views_of(air: Path, shown: Capture) -> views.Views | None:
    """Read what stations received from the file beside a capture; return None if there is none, or the capture includes
    it. Raises Damaged if malformed, OSError if unreadable."""
    beside = air.with_name(views.FILE)
    if shown.interface.any() or not beside.exists():
        return None
    return views.read(beside, shown.frame.size, len(shown.interfaces) - 1)


def of_stations(air: Capture, seen: views.Views) -> Iterator[bytes | memoryview]:
    """Yield what stations received as a pcapng, in pieces, from the air's capture and the stations' receptions."""
    tx = np.zeros(air.frame.size, TX)
    tx["id"], tx["length"], tx["rate"], tx["freq"] = air.packet_id, air.length, air.rate, air.freq
    tx["mode"], tx["place"], tx["more"] = air.mode, air.packet_id - air.ppdu, ~air.last
    tx["flags"], tx["caplen"] = air.short_preamble, air.caplen - 4 * air.has_fcs
    tail = pcapng.all_statistics(len(air.interfaces), air.start_ns, air.stop_ns)
    yield air.data[: _head(air)].data
    time = air.time_ns[seen.row] + seen.delay_ns
    order = np.lexsort((seen.station, time))
    for some in np.split(order, range(PART, order.size, PART)):
        packets = np.zeros(some.size, native.PACKET)
        packets["tx"], packets["time_ns"], packets["interface"] = seen.row[some], time[some], seen.station[some] + 1
        packets["text"] = np.where(seen.bad[some], seen.text[some].astype(np.int64), -1)
        packets["waited_ns"], packets["signal_mdbm"] = -1, 1000 * seen.dbm[some].astype(np.int64)
        packets["bad"] = seen.bad[some]
        yield native.write_packets(packets, tx, air.data, air.frame, seen.texts).data
    yield tail


def _head(air: Capture) -> int:
    """Return the length of what is before the first packet: the section's head and the interfaces."""
    end = 0
    for _ in range(1 + len(air.interfaces)):
        end += int(air.data[end + 4 : end + 8].view("<u4")[0])
    return end


def _merge(air: Capture, seen: views.Views) -> Capture:
    """Merge both. The stations' frames are those of the air; their remarks are appended to the data."""
    options = [pcapng.comment(text) for text in seen.texts]
    place = air.data.size + np.cumsum([0, *map(len, options)])[:-1]
    theirs = {name: getattr(air, name)[seen.row] for name in COLUMNS}
    theirs |= {
        "interface": seen.station + 1, "time_ns": theirs["time_ns"] + seen.delay_ns, "dbm": seen.dbm, "bad": seen.bad,
        "options": place[seen.text],
    }  # fmt: skip
    both = {name: np.concatenate([getattr(air, name), theirs[name]]) for name in COLUMNS}
    order = np.lexsort((both["interface"], both["time_ns"]))
    ordered: dict[str, Any] = {name: column[order] for name, column in both.items()}
    data = np.concatenate([air.data, np.frombuffer(b"".join(options), np.uint8)])
    return replace(air, data=data, **ordered)


def read_file(path: Path) -> Capture:
    """Read one of our pcapng files, compressed or not. Raises Damaged if malformed, OSError if unreadable."""
    if path.exists() and not path.is_file():
        raise Damaged(f"{path}: not a file")
    data = np.frombuffer(compressed.read(path, pcapng.BEGINS, "pcapng file"), np.uint8)
    if data.size < 28 or data.size % 4:
        raise Damaged(f"{path}: not a pcapng file, or cut short ({data.size} bytes)")
    words = data.view("<u4")
    blocks = _follow(words, path)
    kinds = words[blocks]

    def check(at: Array, good: Array, what: str) -> None:
        if not good.all():
            raise Damaged(f"{path}: at byte {4 * int(at[~good][0])}: {what}")

    check(blocks, words[blocks + words[blocks + 1] // 4 - 1] == words[blocks + 1], "a block of two different lengths")
    interfaces = [_interface(data, 4 * int(at), path) for at in blocks[kinds == pcapng.INTERFACE]]
    times = [_statistics(data, 4 * int(at)) for at in blocks[kinds == pcapng.STATISTICS]]
    if times and not 0 <= min(map(min, times)) <= max(map(max, times)) <= LONGEST_NS:
        raise Damaged(f"{path}: it began or ended at an impossible time")
    if not interfaces or len(times) != len(interfaces):
        raise Damaged(f"{path}: cut short: it has {len(interfaces)} interfaces and the statistics of {len(times)}")

    if len({station.address for station in interfaces[1:]} - {b""}) < len(interfaces) - 1:
        raise Damaged(f"{path}: two stations have the same address, or one has none")
    at = blocks[kinds == pcapng.PACKET]
    ours = "a packet that dcflab did not write"
    check(at, words[at + 1] >= 4 * (BLOCK_WORDS + pcapng.TAIL_WORDS + 2), ours)
    captured = words[at + 5].astype(np.int64)
    options = at + BLOCK_WORDS + (captured + 3) // 4
    check(at, options + pcapng.TAIL_WORDS + 2 <= at + words[at + 1] // 4, "a packet longer than its block")
    seen = radiotap.read(words, at + BLOCK_WORDS, captured)
    check(at, seen.ours, ours)
    check(at, words[options] == (pcapng.OPT_FLAGS | 4 << 16), ours)
    check(at, words[options + 2] == (pcapng.OPT_PACKETID | 8 << 16), ours)
    check(at, words[at + 2] < len(interfaces), "a packet of an unknown interface")
    time = _wide(words[at + 3], words[at + 4])
    check(at, (time >= 0) & (time <= LONGEST_NS), "an impossible time")
    check(at, np.diff(time, prepend=0) >= 0, "a packet from before the one before it")
    check(at, captured >= seen.length + SHORTEST, "a packet without an 802.11 header")
    check(at, (words[at + 6] >= captured) & (words[at + 6] <= LONGEST), "a frame shorter than what is there of it")
    packet_id = _wide(words[options + 4], words[options + 3])
    place = packet_id - seen.reference & 0xFFFF_FFFF
    check(at, place * seen.several < MOST_MPDUS, "an MPDU whose PPDU has more than there can be")
    return Capture(
        data=data,
        interfaces=interfaces,
        start_ns=min(start for start, _ in times),
        stop_ns=max(stop for _, stop in times),
        interface=words[at + 2].astype(np.int64),
        time_ns=time,
        packet_id=packet_id,
        frame=4 * (at + BLOCK_WORDS) + seen.length,
        caplen=captured - seen.length,
        length=words[at + 6].astype(np.int64) - seen.length,
        rate=np.where(seen.mode != LEGACY, Modes.of(seen.mode).rate, seen.rate * 5),
        freq=seen.freq,
        mode=seen.mode,
        ppdu=packet_id - place * seen.several,
        last=seen.last,
        dbm=seen.dbm,
        short_preamble=seen.flags & radiotap.SHORT_PREAMBLE != 0,
        has_fcs=seen.flags & radiotap.FCS != 0,
        bad=seen.flags & radiotap.BAD_FCS != 0,
        options=4 * (options + pcapng.TAIL_WORDS),
    )


def span_ns(path: Path) -> tuple[int, int]:
    """Return when a run began and ended, from the last block of its file. Raises Damaged if malformed, OSError if
    unreadable."""
    last = b""
    with files.opened(path) as file:
        for piece in compressed.pieces(file, path):
            last = (last + piece)[-256:]
    tail = np.frombuffer(last, np.uint8)
    at = tail.size - int(tail[-4:].view("<u4")[0]) if tail.size % 4 == 0 and tail.size > 28 else -1
    if at < 0 or tail[at : at + 4].view("<u4")[0] != pcapng.STATISTICS:
        raise Damaged(f"{path}: cut short: it does not say when it ended")
    return _statistics(tail, at)


def _wide(high: Array, low: Array) -> Array:
    return high.astype(np.int64) << 32 | low.astype(np.int64)


def _follow(words: Array, path: Path) -> Array:
    """Return the offsets of all blocks, in words: each block's length leads to the next."""
    steps = (words >> 2).data
    offsets: list[int] = []
    add, at, end = offsets.append, 0, len(steps)
    while at < end - 2:
        step = steps[at + 1]
        if step < 3:
            raise Damaged(f"{path}: at byte {4 * at}: a block of {4 * step} bytes")
        add(at)
        at += step
    if at != end:
        raise Damaged(f"{path}: cut short: at byte {4 * offsets[-1]}: the last block is not whole")
    return np.array(offsets, np.int64)


def _options(data: Array, at: int, end: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= end:
        code, length = data[at : at + 4].view("<u2").tolist()
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length].tobytes()
        at += 4 + (length + 3) // 4 * 4


def _interface(data: Array, at: int, path: Path) -> Interface:
    end = at + int(data[at + 4 : at + 8].view("<u4")[0]) - 4
    options = dict(_options(data, at + 16, end))
    if options.get(9) != b"\x09":
        raise Damaged(f"{path}: at byte {at}: an interface whose times are not in ns")
    ip = options[4][:4] if 4 in options else options[5][:16] if 5 in options else b""
    try:
        if len(address := options.get(6, b"")) not in (0, 6):
            raise ValueError(address)
        return Interface(options.get(2, b"").decode(), address, str(ip_address(ip)) if ip else "")
    except ValueError:
        raise Damaged(f"{path}: at byte {at}: an interface with an invalid name or address") from None


def _statistics(data: Array, at: int) -> tuple[int, int]:
    end = at + int(data[at + 4 : at + 8].view("<u4")[0]) - 4
    options = dict(_options(data, at + 20, end))

    def time(value: bytes) -> int:
        return int.from_bytes(value[:4], "little") << 32 | int.from_bytes(value[4:8], "little")

    return time(options.get(2, bytes(8))), time(options.get(3, bytes(8)))
